/* SPDX-License-Identifier: MIT
 *
 * YAML read with libyaml: a node of a document with the file that contains it, so that errors name path,
 * line and key. Nodes are small and passed by value.
 *
 * libyaml provides events, and this module builds the tree: libyaml's composer searches all anchors for
 * each alias and allocates beyond --max-memory. */
#ifndef SPH_JOB_NODES_H
#define SPH_JOB_NODES_H

#include <stddef.h>
#include <stdint.h>

enum {
    NODES_DEEPEST = 32,          /* lists and mappings in one another                   */
    NODES_MOST_REPEATED = 100000 /* values that aliases stand for, over all of them      */
};

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree_node {
    size_t start; /* text: in chars; list: in parts; mapping: in parts, keys and values in turn */
    size_t count; /* bytes of the text, without its NUL; items; entries                          */
    size_t whole; /* nodes in it and itself, those that aliases repeat included; 0: not at its end yet */
    uint32_t line;
    unsigned char kind, plain; /* plain: a text without quotes */
};

/* A document. Empty: {0}. */
struct node_tree {
    struct tree_node *nodes; /* (count) the first is the root */
    size_t count, node_room;
    char *chars; /* all texts, each with a NUL */
    size_t length, char_room;
    size_t *parts; /* numbers of nodes */
    size_t part_count, part_room;
};

struct node {
    const char *path; /* for messages, borrowed */
    const struct node_tree *tree;
    const struct tree_node *at;
    int alone; /* it is no part of a file, and lines mean nothing */
};

/* Parses the one document of length bytes of UTF-8. Caller frees with node_tree_free, also after a failure. */
int node_parse(struct node_tree *out, const char *path, const char *bytes, size_t length);
void node_tree_free(struct node_tree *tree); /* of zeroes is fine */
struct node node_root(const char *path, const struct node_tree *tree);

/* A text of its own beside the document; *number is its number. Nodes that were looked up before may have moved. */
int node_add_text(struct node_tree *tree, const char *text, size_t *number);
struct node node_numbered(const char *path, const struct node_tree *tree, size_t number);

/* The parts of a mapping or a list; of one value there are none. */
size_t node_count(struct node node);
struct node node_key(struct node mapping, size_t i);
struct node node_value(struct node mapping, size_t i);
struct node node_item(struct node list, size_t i);

size_t node_line(struct node node);      /* from 1; 0: none */
const char *node_text(struct node node); /* of one value */
int node_is_map(struct node node);
int node_is_list(struct node node);
int node_is_text(struct node node);      /* a value whose bytes are one C text               */
int node_is_plain(struct node node);     /* a value without quotes                           */
int node_is_null(struct node node);      /* a value that says nothing: empty, ~ or null      */
const char *node_kind(struct node node); /* "a mapping", "a list", ..., for what is not text */

/* SPH_EFORMAT: "path:line: key: what"; key "": none; NULL: the node is the key, and what names it. */
int node_fail(struct node node, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* 0, or "path:line: key: found ..., expected ...". A key has to be a name. */
int node_check_key(struct node node);
int node_check_map(struct node node, const char *key, const char *expected);
int node_check_list(struct node node, const char *key, const char *expected);
int node_check_text(struct node node, const char *key, const char *expected);

/* The failure for a key that is none of those known. */
int node_unknown_key(struct node key, const char *const *known, size_t count);

/* "a mapping", "a list", "one value". */
const char *node_shape(struct node node);

/* A copy of the text in place of *out, which is freed; or that failure. */
int node_read_text(char **out, struct node node, const char *key, const char *expected);

/* The number of the word, or a failure with the nearest one. */
int node_read_word(struct node node, const char *key, const char *const *words, size_t count,
                   const char *choices);

#endif
