/* SPDX-License-Identifier: MIT */
#include "job/nodes.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

size_t node_line(const yaml_node_t *node)
{
    return node->start_mark.line + 1;
}

const char *node_text(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

int node_is_text(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE && strlen(node_text(node)) == node->data.scalar.length;
}

const char *node_kind(const yaml_node_t *node)
{
    switch (node->type) {
    case YAML_MAPPING_NODE:
        return "a mapping";
    case YAML_SEQUENCE_NODE:
        return "a list";
    default:
        return node->data.scalar.length ? "text with a NUL in it" : "nothing";
    }
}

int node_is_null(const yaml_node_t *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && text_find(node_text(node), words, 5) >= 0;
}

int node_check_key(const char *path, const yaml_node_t *key)
{
    if (node_is_text(key))
        return 0;
    return sph_fail_line(SPH_EFORMAT, path, node_line(key), "found %s as a key, expected a name",
                         node_kind(key));
}

int node_check_text(const char *path, const yaml_node_t *node, const char *what, const char *expected)
{
    if (node_is_text(node) && !node_is_null(node))
        return 0;
    return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), what, "found %s, expected %s",
                             node_is_text(node) ? "nothing" : node_kind(node), expected);
}

int node_read_text(char **out, const char *path, const yaml_node_t *node, const char *what,
                   const char *expected)
{
    int err = node_check_text(path, node, what, expected);
    if (err < 0)
        return err;
    char *text = mem_text(node_text(node));
    if (!text)
        return SPH_EMEMORY;
    mem_free(*out);
    *out = text;
    return 0;
}

int node_read_word(const char *path, const yaml_node_t *node, const char *what, const char *const *words,
                   size_t count, const char *choices)
{
    int err = node_check_text(path, node, what, choices);
    if (err < 0)
        return err;
    int found = text_find(node_text(node), words, count);
    if (found >= 0)
        return found;
    const char *nearest = text_nearest(node_text(node), words, count);
    return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), what, "unknown word '%s'%s%s%s (%s)",
                             node_text(node), nearest ? ", did you mean '" : "", nearest ? nearest : "",
                             nearest ? "'?" : "", choices);
}

/* ---------------------------------------------------------------- parsing */

static int parser_failed(const yaml_parser_t *parser, const char *path)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return sph_fail(SPH_EMEMORY, "out of memory reading %s", path);
    if (parser->error == YAML_READER_ERROR)
        return sph_fail_at(SPH_EFORMAT, path, "not YAML: %s at byte %zu", parser->problem,
                           parser->problem_offset);
    return sph_fail_line(SPH_EFORMAT, path, parser->problem_mark.line + 1, "not YAML: %s",
                         parser->problem ? parser->problem : "cannot be read");
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
        const yaml_node_t *root = yaml_document_get_root_node(&second);
        if (root)
            err = sph_fail_line(SPH_EFORMAT, path, node_line(root), "found a second document, expected one");
        yaml_document_delete(&second);
    }
    if (err)
        yaml_document_delete(out);
out:
    yaml_parser_delete(&parser);
    return err;
}
