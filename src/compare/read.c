/* SPDX-License-Identifier: MIT
 *
 * An experiment file: keys to a struct, and failures with line and key. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/config.h"
#include "compare/experiment.h"
#include "compare/perturb.h"
#include "job/nodes.h"

/* ---------------------------------------------------------------- the keys of the top level */

#define EXPERIMENT_KEYS(X)                                                                                   \
    X(NAME, "name")                                                                                          \
    X(DATA, "data")                                                                                          \
    X(NET, "net")                                                                                            \
    X(TRAIN, "train")                                                                                        \
    X(METHODS, "methods")                                                                                    \
    X(PROTOCOL, "protocol")                                                                                  \
    X(FOLDS, "folds")                                                                                        \
    X(SEEDS, "seeds")                                                                                        \
    X(GRID, "grid")                                                                                          \
    X(METRIC, "metric")                                                                                      \
    X(TABLE, "table")                                                                                        \
    X(RECORD, "record")                                                                                      \
    X(FIGURES, "figures")                                                                                    \
    X(PAPERS, "papers")                                                                                      \
    X(PERTURB, "perturb")                                                                                    \
    X(THREADS, "threads")                                                                                    \
    X(DTYPE, "dtype")                                                                                        \
    X(VERSION, "version")                                                                                    \
    X(CONTENT, "content")

#define KEY_ENUM(id, word) KEY_##id,
#define KEY_WORD(id, word) word,
enum key { EXPERIMENT_KEYS(KEY_ENUM) KEY_COUNT };
static const char *const keys[KEY_COUNT] = {EXPERIMENT_KEYS(KEY_WORD)};

static int unknown_key(const char *path, const yaml_node_t *node)
{
    const char *key = node_text(node), *nearest = text_nearest(key, keys, KEY_COUNT);
    static const char *const sections[] = {"data", "net", "train"};
    for (size_t i = 0; i < 3; i++)
        if (config_key(key, sections[i]) >= 0)
            return sph_fail_line(SPH_EFORMAT, path, node_line(node), "key '%s' belongs in section '%s:'", key,
                                 sections[i]);
    if (nearest)
        return sph_fail_line(SPH_EFORMAT, path, node_line(node), "unknown key '%s', did you mean '%s'?", key,
                             nearest);
    return sph_fail_line(SPH_EFORMAT, path, node_line(node), "unknown key '%s'", key);
}

/* ---------------------------------------------------------------- what is recorded */

static int read_steps(struct moments *out, const char *path, yaml_document_t *document,
                      const yaml_node_t *node, const char *key)
{
    const yaml_node_item_t *items = node->data.sequence.items.start;
    size_t count = (size_t)(node->data.sequence.items.top - items);
    if (!count)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), key,
                                 "found an empty list, expected every|epoch|[steps]");
    if (!(out->steps = mem_get(count, sizeof *out->steps)))
        return SPH_EMEMORY;
    for (; out->count < count; out->count++) {
        const yaml_node_t *step = yaml_document_get_node(document, items[out->count]);
        int err = node_check_text(path, step, key, "a step");
        if (err < 0)
            return err;
        if (!text_to_u64(node_text(step), &out->steps[out->count]))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(step), key, "found '%s', expected a step",
                                     node_text(step));
    }
    moments_sort(out);
    return 0;
}

static int read_moments(struct moments *out, const char *path, yaml_document_t *document,
                        const yaml_node_t *node, const char *key)
{
    out->wanted = 1;
    out->when = MOMENTS_AT_STEPS;
    if (node->type == YAML_SEQUENCE_NODE)
        return read_steps(out, path, document, node, key);
    int found = node_read_word(path, node, key, moments_whens, MOMENTS_AT_STEPS, "every|epoch|[steps]");
    out->when = found;
    return found < 0 ? found : 0;
}

/* A mapping of things to moments. */
static int read_things(struct moments_list *out, const char *path, yaml_document_t *document,
                       const yaml_node_t *node)
{
    int err = 0;
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "record",
                                 "found %s, expected {boundaries: every|epoch|[steps]}",
                                 node->type == YAML_SEQUENCE_NODE ? "a list" : "one value");
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    for (; pair < end && !err; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if ((err = node_check_key(path, key)) < 0)
            return err;
        int found =
            node_read_word(path, key, "record", moments_things, MOMENTS_THING_COUNT, "boundaries|patterns");
        if (found < 0)
            return found;
        if (out->of[found].wanted)
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(key), "record", "%s stands twice",
                                     moments_things[found]);
        char where[40];
        snprintf(where, sizeof where, "record: %s", moments_things[found]);
        err = read_moments(&out->of[found], path, document, yaml_document_get_node(document, pair->value),
                           where);
    }
    return err;
}

/* What the option `record` of every job is. */
static int read_record(struct sph_experiment *e, const char *path, yaml_document_t *document,
                       const yaml_node_t *key, const yaml_node_t *node)
{
    struct moments_list list = {0};
    int err = read_things(&list, path, document, node);
    if (err < 0) {
        moments_free(&list);
        return err;
    }
    options_unset(e->base, OPTION_RECORD);
    if (moments_want(&list, NULL)) {
        options_set_record(e->base, &list);
        e->base->given[OPTION_RECORD] = 1;
    }
    e->lines[OPTION_RECORD] = path == e->path ? node_line(key) : 0;
    return 0;
}

/* ---------------------------------------------------------------- the whole */

static int read_option(struct sph_experiment *e, const char *path, yaml_document_t *document,
                       const yaml_node_t *key, const yaml_node_t *value, enum option_id id)
{
    int err = config_value(e->base, path, document, value, id);
    if (!err)
        e->lines[id] = path == e->path ? node_line(key) : 0;
    return err;
}

static int read_section(struct sph_experiment *e, const char *path, yaml_document_t *document,
                        yaml_node_t *value, const char *section)
{
    int err = config_apply(e->base, path, document, value, section, NULL);
    if (!err)
        experiment_note_lines(e->lines, document, value, section, path == e->path);
    return err;
}

#define METRIC_WORD(id, word, help) word,

int experiment_read_entry(struct sph_experiment *e, const char *path, yaml_document_t *document,
                          yaml_node_t *key, yaml_node_t *value)
{
    static const char *const metrics[] = {SPH_METRICS(METRIC_WORD)};
    static const char *const tables[] = {"best", "all"};
    char *version = NULL;
    int err = node_check_key(path, key), found;
    if (err < 0)
        return err;
    switch ((enum key)text_find(node_text(key), keys, KEY_COUNT)) {
    case KEY_NAME:
        err = node_read_text(&e->name, path, value, "name", "the name of the experiment");
        if (!err && (!*e->name || strlen(e->name) > 100 || strchr(e->name, '/') || !strcmp(e->name, ".") ||
                     !strcmp(e->name, "..")))
            err = sph_fail_line_key(
                SPH_EFORMAT, path, node_line(value), "name",
                "found '%s', expected 1 to 100 characters without a slash, and not . or ..", e->name);
        if (!err && text_has_control(e->name))
            err = sph_fail_line_key(SPH_EFORMAT, path, node_line(value), "name",
                                    "found a control character, expected none");
        return err;
    case KEY_DATA:
        return read_section(e, path, document, value, "data");
    case KEY_NET:
        return read_section(e, path, document, value, "net");
    case KEY_TRAIN:
        return read_section(e, path, document, value, "train");
    case KEY_METHODS:
        return experiment_read_methods(e, path, document, value);
    case KEY_PROTOCOL:
        return read_option(e, path, document, key, value, OPTION_PROTOCOL);
    case KEY_FOLDS:
        return read_option(e, path, document, key, value, OPTION_FOLDS);
    case KEY_THREADS:
        return read_option(e, path, document, key, value, OPTION_THREADS);
    case KEY_DTYPE:
        return read_option(e, path, document, key, value, OPTION_DTYPE);
    case KEY_SEEDS:
        return experiment_read_seeds(e, path, document, value);
    case KEY_GRID:
        e->grid_line = path == e->path ? node_line(key) : 0;
        return experiment_read_grid(e, path, document, value);
    case KEY_METRIC:
        e->metric_line = path == e->path ? node_line(key) : 0;
        found = node_read_word(path, value, "metric", metrics, SPH_METRIC_COUNT, OPTION_WORDS(SPH_METRICS));
        return found < 0 ? found : node_read_text(&e->metric, path, value, "metric", "");
    case KEY_TABLE:
        found = node_read_word(path, value, "table", tables, 2, "best|all");
        e->all_points = found == 1;
        return found < 0 ? found : 0;
    case KEY_RECORD:
        return read_record(e, path, document, key, value);
    case KEY_FIGURES:
        return experiment_read_figures(e, path, document, value);
    case KEY_PAPERS:
        return experiment_read_papers(e, path, document, value);
    case KEY_PERTURB:
        return experiment_read_perturb(e, path, document, value);
    case KEY_VERSION:
        err = node_read_text(&version, path, value, "version", "the version that wrote the file");
        mem_free(version);
        return err;
    case KEY_CONTENT:
        return node_read_text(&e->content, path, value, "content", "what an experiment.yaml has there");
    default:
        return unknown_key(path, key);
    }
}

int experiment_read(struct sph_experiment *e, yaml_document_t *document)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (root->type != YAML_MAPPING_NODE)
        return sph_fail_line(SPH_EFORMAT, e->path, node_line(root),
                             "found %s, expected name, data, methods, ...",
                             root->type == YAML_SCALAR_NODE ? "one value" : "a list");
    const yaml_node_pair_t *first = root->data.mapping.pairs.start, *end = root->data.mapping.pairs.top;
    size_t seen[KEY_COUNT] = {0};
    for (const yaml_node_pair_t *pair = first; pair < end; pair++) {
        yaml_node_t *key = yaml_document_get_node(document, pair->key);
        int err =
            experiment_read_entry(e, e->path, document, key, yaml_document_get_node(document, pair->value));
        if (err < 0)
            return err;
        size_t *line = &seen[text_find(node_text(key), keys, KEY_COUNT)];
        if (*line)
            return sph_fail_line(SPH_EFORMAT, e->path, node_line(key), "key '%s' is already in line %zu",
                                 node_text(key), *line);
        *line = node_line(key);
    }
    return 0;
}

int experiment_complete(const struct sph_experiment *e)
{
    if (!e->name)
        return sph_fail_at(SPH_EFORMAT, e->path, "key 'name' is missing");
    if (experiment_without_jobs(e))
        return 0;
    if (!e->base->set[OPTION_DATA])
        return sph_fail_at(SPH_EFORMAT, e->path,
                           "key 'name' of section 'data:' is missing, expected a file or a set");
    if (!e->method_count)
        return sph_fail_at(SPH_EFORMAT, e->path, "key 'methods' is missing, expected a list of methods");
    size_t count;
    int err = experiment_check_papers(e);
    return err ? err : experiment_count(e, &count);
}
