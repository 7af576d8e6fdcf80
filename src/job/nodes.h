/* SPDX-License-Identifier: MIT
 *
 * Small questions about the nodes of a YAML document, and failures that name a line. */
#ifndef SPH_JOB_NODES_H
#define SPH_JOB_NODES_H

#include <stddef.h>
#include <yaml.h>

size_t node_line(const yaml_node_t *node);      /* from 1 */
const char *node_text(const yaml_node_t *node); /* of a scalar */
int node_is_text(const yaml_node_t *node);      /* a scalar whose bytes are one C text */
int node_is_null(const yaml_node_t *node);      /* a scalar that says nothing: empty, ~ or null */
const char *node_kind(const yaml_node_t *node); /* "a mapping", "a list", ..., for what is not text */

/* 0, or "path:line: found a list as a key, expected a name". */
int node_check_key(const char *path, const yaml_node_t *key);

/* 0, or "path:line: what: found ..., expected ...". expected says what; it is checked for text here alone. */
int node_check_text(const char *path, const yaml_node_t *node, const char *what, const char *expected);

/* A copy of the text in place of *out, which is freed; or that failure. */
int node_read_text(char **out, const char *path, const yaml_node_t *node, const char *what,
                   const char *expected);

/* The number of the word, or a failure with the nearest one. */
int node_read_word(const char *path, const yaml_node_t *node, const char *what, const char *const *words,
                   size_t count, const char *choices);

/* Parses the one document of length bytes; path is for messages. Caller frees with yaml_document_delete. The
 * root is never NULL. */
int node_parse(yaml_document_t *out, const char *path, const char *bytes, size_t length);

#endif
