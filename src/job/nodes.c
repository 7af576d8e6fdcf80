/* SPDX-License-Identifier: MIT */
#include "job/nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "base/levels.h"
#include "base/memory.h"
#include "base/text.h"

struct node node_numbered(const char *path, const struct node_tree *tree, size_t number)
{
    return (struct node){path, tree, &tree->nodes[number], 0};
}

struct node node_root(const char *path, const struct node_tree *tree)
{
    return node_numbered(path, tree, 0);
}

/* ---------------------------------------------------------------- parts */

static struct node part(struct node node, size_t i)
{
    node.at = &node.tree->nodes[node.tree->parts[node.at->start + i]];
    return node;
}

size_t node_count(struct node node)
{
    return node.at->kind == TREE_TEXT ? 0 : node.at->count;
}

struct node node_key(struct node mapping, size_t i)
{
    return part(mapping, 2 * i);
}

struct node node_value(struct node mapping, size_t i)
{
    return part(mapping, 2 * i + 1);
}

struct node node_item(struct node list, size_t i)
{
    return part(list, i);
}

size_t node_line(struct node node)
{
    return node.alone ? 0 : node.at->line;
}

const char *node_text(struct node node)
{
    return node.tree->chars + node.at->start;
}

int node_is_map(struct node node)
{
    return node.at->kind == TREE_MAP;
}

int node_is_list(struct node node)
{
    return node.at->kind == TREE_LIST;
}

int node_is_text(struct node node)
{
    return node.at->kind == TREE_TEXT && strlen(node_text(node)) == node.at->count;
}

int node_is_plain(struct node node)
{
    return node.at->kind == TREE_TEXT && node.at->plain;
}

int node_is_null(struct node node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return node_is_plain(node) && text_find(node_text(node), words, 5) >= 0;
}

const char *node_shape(struct node node)
{
    return node_is_map(node) ? "a mapping" : node_is_list(node) ? "a list" : "one value";
}

const char *node_kind(struct node node)
{
    if (node.at->kind != TREE_TEXT)
        return node_shape(node);
    return node.at->count ? "text that contains a NUL character" : "nothing";
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
    return node_fail(node, key, "unknown value '%s'%s%s%s (%s)", node_text(node),
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

/* A tree in the making. */
struct parse {
    struct node_tree *tree;
    const char *path;
    size_t open[NODES_DEEPEST], first[NODES_DEEPEST],
        depth; /* lists and mappings at work, and where their parts begin */
    size_t *waiting, waiting_count, waiting_room; /* parts of these */
    struct levels anchors;
    size_t *anchored, anchor_room; /* (anchors.count) */
    size_t repeated;
    int documents;
};

static int add_text(struct node_tree *tree, const char *text, size_t length, size_t *start)
{
    if (!mem_reserve((void **)&tree->chars, &tree->char_room, tree->length + length + 1, 1))
        return SPH_EMEMORY;
    *start = tree->length;
    memcpy(tree->chars + tree->length, text, length);
    tree->chars[tree->length + length] = '\0';
    tree->length += length + 1;
    return 0;
}

static int add_node(struct node_tree *tree, struct tree_node node, size_t *number)
{
    if (!mem_reserve((void **)&tree->nodes, &tree->node_room, tree->count + 1, sizeof *tree->nodes))
        return SPH_EMEMORY;
    *number = tree->count;
    tree->nodes[tree->count++] = node;
    return 0;
}

int node_add_text(struct node_tree *tree, const char *text, size_t *number)
{
    struct tree_node node = {.count = strlen(text), .whole = 1, .kind = TREE_TEXT, .plain = 1};
    int err = add_text(tree, text, node.count, &node.start);
    return err ? err : add_node(tree, node, number);
}

/* The node becomes a part of the list or mapping at work. */
static int add_part(struct parse *parse, size_t number)
{
    if (!parse->depth)
        return 0;
    if (!mem_reserve((void **)&parse->waiting, &parse->waiting_room, parse->waiting_count + 1,
                     sizeof *parse->waiting))
        return SPH_EMEMORY;
    parse->waiting[parse->waiting_count++] = number;
    return 0;
}

static int set_anchor(struct parse *parse, const yaml_event_t *event, const yaml_char_t *anchor,
                      size_t number)
{
    size_t before = parse->anchors.count, index;
    if (!anchor)
        return 0;
    if (levels_place(&parse->anchors, (const char *)anchor, &index) < 0 ||
        !mem_reserve((void **)&parse->anchored, &parse->anchor_room, parse->anchors.count,
                     sizeof *parse->anchored))
        return SPH_EMEMORY;
    if (index < before)
        return sph_fail_line(SPH_EFORMAT, parse->path, event->start_mark.line + 1,
                             "not YAML: a second anchor &%.80s", (const char *)anchor);
    parse->anchored[index] = number;
    return 0;
}

static int add_alias(struct parse *parse, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    size_t index = levels_seen(&parse->anchors, name), line = event->start_mark.line + 1;
    if (index == SIZE_MAX)
        return sph_fail_line(SPH_EFORMAT, parse->path, line,
                             "not YAML: no anchor &%.80s before the alias *%.80s", name, name);
    size_t number = parse->anchored[index], whole = parse->tree->nodes[number].whole;
    if (!whole)
        return sph_fail_line(SPH_EFORMAT, parse->path, line,
                             "the alias *%.80s is part of the value that it refers to", name);
    if (whole > NODES_MOST_REPEATED - parse->repeated)
        return sph_fail_line(SPH_EFORMAT, parse->path, line, "aliases repeat more than %d values",
                             NODES_MOST_REPEATED);
    parse->repeated += whole;
    return add_part(parse, number);
}

static int begin_list(struct parse *parse, const yaml_event_t *event, int kind, const yaml_char_t *anchor)
{
    size_t number, line = event->start_mark.line + 1;
    if (parse->depth == NODES_DEEPEST)
        return sph_fail_line(SPH_EFORMAT, parse->path, line,
                             "lists or mappings more than %d deep in one another", NODES_DEEPEST);
    int err = add_node(parse->tree, (struct tree_node){.line = (uint32_t)line, .kind = (unsigned char)kind},
                       &number);
    if (err || (err = add_part(parse, number)) < 0 || (err = set_anchor(parse, event, anchor, number)) < 0)
        return err;
    parse->open[parse->depth] = number;
    parse->first[parse->depth++] = parse->waiting_count;
    return 0;
}

static int end_list(struct parse *parse)
{
    struct node_tree *tree = parse->tree;
    size_t first = parse->first[--parse->depth], count = parse->waiting_count - first;
    struct tree_node *node = &tree->nodes[parse->open[parse->depth]];
    if (!mem_reserve((void **)&tree->parts, &tree->part_room, tree->part_count + count, sizeof *tree->parts))
        return SPH_EMEMORY;
    node->start = tree->part_count;
    node->count = node->kind == TREE_MAP ? count / 2 : count;
    node->whole = 1;
    for (size_t i = 0; i < count; i++) {
        size_t number = parse->waiting[first + i];
        tree->parts[tree->part_count++] = number;
        node->whole += tree->nodes[number].whole;
    }
    parse->waiting_count = first;
    return 0;
}

static int add_scalar(struct parse *parse, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    struct tree_node node = {.count = event->data.scalar.length,
                             .whole = 1,
                             .line = (uint32_t)event->start_mark.line + 1,
                             .kind = TREE_TEXT,
                             .plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE};
    size_t number;
    int err = add_text(parse->tree, text, node.count, &node.start);
    if (err || (err = add_node(parse->tree, node, &number)) < 0 || (err = add_part(parse, number)) < 0)
        return err;
    return set_anchor(parse, event, event->data.scalar.anchor, number);
}

static int take_event(struct parse *parse, const yaml_event_t *event)
{
    if (parse->documents == 2 && event->type != YAML_DOCUMENT_START_EVENT)
        return sph_fail_line(SPH_EFORMAT, parse->path, event->start_mark.line + 1,
                             "found a second document, expected one");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        parse->documents++;
        return 0;
    case YAML_SCALAR_EVENT:
        return add_scalar(parse, event);
    case YAML_ALIAS_EVENT:
        return add_alias(parse, event);
    case YAML_SEQUENCE_START_EVENT:
        return begin_list(parse, event, TREE_LIST, event->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return begin_list(parse, event, TREE_MAP, event->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end_list(parse);
    default:
        return 0;
    }
}

static int take_events(struct parse *parse, yaml_parser_t *parser)
{
    for (int err = 0, done = 0; !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return parser_failed(parser, parse->path);
        err = take_event(parse, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (err)
            return err;
    }
    return parse->tree->count ? 0 : sph_fail_at(SPH_EFORMAT, parse->path, "found nothing, expected options");
}

enum {
    DIRECTIVES_MOST = 100, /* libyaml compares each with all before it                      */
    LIBYAML_GROWTH = 4     /* what libyaml holds of one value, at most, for each byte of it */
};

static int check_directives(const char *path, const char *bytes, size_t length)
{
    static const char word[] = "%TAG";
    size_t count = 0;
    for (const char *end = bytes + length; (bytes = memmem(bytes, (size_t)(end - bytes), word, strlen(word)));
         bytes++)
        if (++count > DIRECTIVES_MOST)
            return sph_fail_at(SPH_EFORMAT, path, "more than %d %s directives", DIRECTIVES_MOST, word);
    return 0;
}

int node_parse(struct node_tree *out, const char *path, const char *bytes, size_t length)
{
    yaml_parser_t parser;
    struct parse parse = {.tree = out, .path = path};
    *out = (struct node_tree){0};
    int err = check_directives(path, bytes, length);
    if (err < 0)
        return err;
    if (!mem_allows(length > SIZE_MAX / LIBYAML_GROWTH ? SIZE_MAX : length * LIBYAML_GROWTH))
        return sph_fail_move(SPH_EMEMORY, path, 0, 0);
    if (!yaml_parser_initialize(&parser))
        return sph_fail(SPH_EMEMORY, "out of memory reading %s", path);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    if ((err = take_events(&parse, &parser)) < 0)
        node_tree_free(out);
    yaml_parser_delete(&parser);
    levels_free(&parse.anchors);
    mem_free(parse.anchored);
    mem_free(parse.waiting);
    return err;
}

void node_tree_free(struct node_tree *tree)
{
    mem_free(tree->nodes);
    mem_free(tree->chars);
    mem_free(tree->parts);
    *tree = (struct node_tree){0};
}
