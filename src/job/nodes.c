/* SPDX-License-Identifier: MIT */
#include "job/nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

struct node node_root(const char *path, yaml_document_t *document)
{
    return (struct node){path, document, yaml_document_get_root_node(document), 0};
}

/* ---------------------------------------------------------------- parts */

static struct node part(struct node node, int number)
{
    node.at = yaml_document_get_node(node.document, number);
    return node;
}

size_t node_count(struct node node)
{
    if (node_is_map(node))
        return (size_t)(node.at->data.mapping.pairs.top - node.at->data.mapping.pairs.start);
    return node_is_list(node)
               ? (size_t)(node.at->data.sequence.items.top - node.at->data.sequence.items.start)
               : 0;
}

struct node node_key(struct node mapping, size_t i)
{
    return part(mapping, mapping.at->data.mapping.pairs.start[i].key);
}

struct node node_value(struct node mapping, size_t i)
{
    return part(mapping, mapping.at->data.mapping.pairs.start[i].value);
}

struct node node_item(struct node list, size_t i)
{
    return part(list, list.at->data.sequence.items.start[i]);
}

size_t node_line(struct node node)
{
    return node.alone ? 0 : node.at->start_mark.line + 1;
}

const char *node_text(struct node node)
{
    return (const char *)node.at->data.scalar.value;
}

int node_is_map(struct node node)
{
    return node.at->type == YAML_MAPPING_NODE;
}

int node_is_list(struct node node)
{
    return node.at->type == YAML_SEQUENCE_NODE;
}

int node_is_text(struct node node)
{
    return node.at->type == YAML_SCALAR_NODE && strlen(node_text(node)) == node.at->data.scalar.length;
}

int node_is_null(struct node node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return node.at->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && text_find(node_text(node), words, 5) >= 0;
}

const char *node_shape(struct node node)
{
    return node_is_map(node) ? "a mapping" : node_is_list(node) ? "a list" : "one value";
}

const char *node_kind(struct node node)
{
    if (node.at->type != YAML_SCALAR_NODE)
        return node_shape(node);
    return node.at->data.scalar.length ? "text with a NUL in it" : "nothing";
}

/* ---------------------------------------------------------------- failures */

int node_fail(struct node node, const char *key, const char *format, ...)
{
    char what[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (key)
        return sph_fail_line_key(SPH_EFORMAT, node.path, node_line(node), key, "%s", what);
    return sph_fail_of(SPH_EFORMAT, node.path, node_line(node), node_is_text(node) ? node_text(node) : "",
                       "%s", what);
}

int node_check_key(struct node node)
{
    return node_is_text(node) ? 0
                              : node_fail(node, NULL, "found %s as a key, expected a name", node_kind(node));
}

int node_check_map(struct node node, const char *key, const char *expected)
{
    return node_is_map(node) ? 0 : node_fail(node, key, "found %s, expected %s", node_shape(node), expected);
}

int node_check_list(struct node node, const char *key, const char *expected)
{
    return node_is_list(node) ? 0 : node_fail(node, key, "found %s, expected %s", node_shape(node), expected);
}

int node_check_text(struct node node, const char *key, const char *expected)
{
    if (node_is_text(node) && !node_is_null(node))
        return 0;
    return node_fail(node, key, "found %s, expected %s", node_is_text(node) ? "nothing" : node_kind(node),
                     expected);
}

int node_unknown_key(struct node key, const char *const *known, size_t count)
{
    const char *nearest = text_nearest(node_text(key), known, count);
    if (nearest)
        return node_fail(key, NULL, "unknown key '%s', did you mean '%s'?", node_text(key), nearest);
    return node_fail(key, NULL, "unknown key '%s'", node_text(key));
}

int node_read_text(char **out, struct node node, const char *key, const char *expected)
{
    int err = node_check_text(node, key, expected);
    if (err < 0)
        return err;
    char *text = mem_text(node_text(node));
    if (!text)
        return SPH_EMEMORY;
    mem_free(*out);
    *out = text;
    return 0;
}

int node_read_word(struct node node, const char *key, const char *const *words, size_t count,
                   const char *choices)
{
    int err = node_check_text(node, key, choices);
    if (err < 0)
        return err;
    int found = text_find(node_text(node), words, count);
    if (found >= 0)
        return found;
    const char *nearest = text_nearest(node_text(node), words, count);
    return node_fail(node, key, "unknown word '%s'%s%s%s (%s)", node_text(node),
                     nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "", choices);
}

/* ---------------------------------------------------------------- parsing */

static int parser_failed(const yaml_parser_t *parser, const char *path)
{
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem) /* libyaml does not always name memory */
        return sph_fail(SPH_EMEMORY, "out of memory reading %s", path);
    if (parser->error == YAML_READER_ERROR)
        return sph_fail_at(SPH_EFORMAT, path, "not YAML: %s at byte %zu", parser->problem,
                           parser->problem_offset);
    return sph_fail_line(SPH_EFORMAT, path, parser->problem_mark.line + 1, "not YAML: %s", parser->problem);
}

enum { DEPTH_MOST = 32 }; /* of lists and mappings in one another */

/* libyaml has no limit, and its time grows with the square of the depth. */
static int check_depth(const char *path, const char *bytes, size_t length)
{
    yaml_parser_t parser;
    int err = 0, depth = 0, done = 0;
    if (!yaml_parser_initialize(&parser))
        return sph_fail(SPH_EMEMORY, "out of memory reading %s", path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    while (!done && !err) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            err = parser_failed(&parser, path);
            break;
        }
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        done = event.type == YAML_STREAM_END_EVENT;
        if (depth > DEPTH_MOST)
            err = sph_fail_line(SPH_EFORMAT, path, event.start_mark.line + 1,
                                "lists or mappings more than %d deep in one another", DEPTH_MOST);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return err;
}

int node_parse(yaml_document_t *out, const char *path, const char *bytes, size_t length)
{
    yaml_parser_t parser;
    yaml_document_t second;
    int err = check_depth(path, bytes, length);

    if (err < 0)
        return err;
    if (!yaml_parser_initialize(&parser))
        return sph_fail(SPH_EMEMORY, "out of memory reading %s", path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    if (!yaml_parser_load(&parser, out)) {
        err = parser_failed(&parser, path);
        goto out;
    }
    if (!yaml_document_get_root_node(out)) {
        err = sph_fail_at(SPH_EFORMAT, path, "found nothing, expected options");
    } else if (!yaml_parser_load(&parser, &second)) {
        err = parser_failed(&parser, path);
    } else {
        if (yaml_document_get_root_node(&second))
            err = node_fail(node_root(path, &second), "", "found a second document, expected one");
        yaml_document_delete(&second);
    }
    if (err)
        yaml_document_delete(out);
out:
    yaml_parser_delete(&parser);
    return err;
}
