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
#include "compare/perturbed_unit.h"
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
    X(BASELINE, "baseline_method")                                                                           \
    X(METRIC, "metric")                                                                                      \
    X(TABLE, "table")                                                                                        \
    X(RECORD, "record")                                                                                      \
    X(FIGURES, "figures")                                                                                    \
    X(LETTERS, "letters")                                                                                    \
    X(PAPERS, "papers")                                                                                      \
    X(PERTURB, "perturb")                                                                                    \
    X(SEED_SPLIT, "seed_split")                                                                              \
    X(SEED_INIT, "seed_init")                                                                                \
    X(THREADS, "threads")                                                                                    \
    X(DTYPE, "dtype")                                                                                        \
    X(VERSION, "version")                                                                                    \
    X(CONTENT, "content")                                                                                    \
    X(DIRECTORY, "directory")

#define KEY_ENUM(id, word) KEY_##id,
#define KEY_WORD(id, word) word,
enum key { EXPERIMENT_KEYS(KEY_ENUM) KEY_COUNT };
static const char *const keys[KEY_COUNT] = {EXPERIMENT_KEYS(KEY_WORD)};

static int unknown_key(struct node key)
{
    static const char *const sections[] = {"data", "net", "train"};
    for (size_t i = 0; i < 3; i++)
        if (config_key(node_text(key), sections[i]) >= 0)
            return node_fail(key, NULL, "key '%s' belongs in section '%s:'", node_text(key), sections[i]);
    return node_unknown_key(key, keys, KEY_COUNT);
}

/* ---------------------------------------------------------------- what is recorded */

static int read_steps(struct moments *out, struct node list, const char *key)
{
    size_t count = node_count(list);
    if (!count)
        return node_fail(list, key, "found an empty list, expected every|epoch|[steps]");
    if (!(out->steps = mem_get(count, sizeof *out->steps)))
        return SPH_EMEMORY;
    for (; out->count < count; out->count++) {
        struct node step = node_item(list, out->count);
        int err = node_check_text(step, key, "a step");
        if (err < 0)
            return err;
        if (!text_to_u64(node_text(step), &out->steps[out->count]))
            return node_fail(step, key, "found '%s', expected a step", node_text(step));
    }
    moments_sort(out);
    return 0;
}

static int read_moments(struct moments *out, struct node node, const char *key)
{
    out->wanted = 1;
    out->when = MOMENTS_AT_STEPS;
    if (node_is_list(node))
        return read_steps(out, node, key);
    int found = node_read_word(node, key, moments_whens, MOMENTS_AT_STEPS, "every|epoch|[steps]");
    out->when = found;
    return found < 0 ? found : 0;
}

/* A mapping of things to moments. */
static int read_things(struct moments_list *out, struct node node)
{
    int err = node_check_map(node, "record", "{boundaries: every|epoch|[steps]}");
    for (size_t i = 0; !err && i < node_count(node); i++) {
        struct node key = node_key(node, i);
        if ((err = node_check_key(key)) < 0)
            return err;
        int found = node_read_word(key, "record", moments_things, MOMENTS_THING_COUNT,
                                   "boundaries|patterns|gradients");
        if (found < 0)
            return found;
        if (out->of[found].wanted)
            return node_fail(key, "record", "%s is given twice", moments_things[found]);
        char where[40];
        snprintf(where, sizeof where, "record: %s", moments_things[found]);
        err = read_moments(&out->of[found], node_value(node, i), where);
    }
    return err;
}

/* What the option `record` of every job is. */
static int read_record(struct sph_experiment *e, struct node key, struct node node)
{
    struct moments_list list = {0};
    int err = read_things(&list, node);
    if (err < 0) {
        moments_free(&list);
        return err;
    }
    options_unset(e->base, OPTION_RECORD);
    if (moments_want(&list, NULL)) {
        options_set_record(e->base, &list);
    }
    e->lines[OPTION_RECORD] = node_line(key);
    return 0;
}

/* ---------------------------------------------------------------- the whole */

static int read_name(struct sph_experiment *e, struct node node)
{
    int err = node_read_text(&e->name, node, "name", "the name of the experiment");
    if (err < 0)
        return err;
    if (!*e->name || strlen(e->name) > 100 || strchr(e->name, '/') || !strcmp(e->name, ".") ||
        !strcmp(e->name, ".."))
        return node_fail(node, "name",
                         "found '%s', expected 1 to 100 characters without a slash, and not . or ..",
                         e->name);
    return text_has_control(e->name) ? node_fail(node, "name", "found a control character, expected none")
                                     : 0;
}

static int read_option(struct sph_experiment *e, struct node key, struct node value)
{
    int id = config_key(node_text(key), ""), err = config_value(e->base, value, (enum option_id)id);
    if (!err)
        e->lines[id] = node_line(key);
    return err;
}

#define METRIC_WORD(id, word, help) word,

int experiment_read_entry(struct sph_experiment *e, struct node key, struct node value)
{
    static const char *const metrics[] = {SPH_METRICS(METRIC_WORD)};
    static const char *const tables[] = {"best", "all"};
    int err = node_check_key(key), found;
    if (err < 0)
        return err;
    switch ((enum key)text_find(node_text(key), keys, KEY_COUNT)) {
    case KEY_NAME:
        return read_name(e, value);
    case KEY_DATA:
        return experiment_read_data_key(e, key, value);
    case KEY_NET:
    case KEY_TRAIN:
        return config_apply(e->base, value, node_text(key), NULL, e->lines);
    case KEY_METHODS:
        return experiment_read_methods(e, value);
    case KEY_PROTOCOL:
    case KEY_FOLDS:
    case KEY_SEED_SPLIT:
    case KEY_SEED_INIT:
    case KEY_THREADS:
    case KEY_DTYPE:
        return read_option(e, key, value);
    case KEY_SEEDS:
        return experiment_read_seeds(e, value);
    case KEY_GRID:
        return experiment_read_grid(e, value);
    case KEY_METRIC:
        e->table.metric_line = node_line(key);
        found = node_read_word(value, "metric", metrics, SPH_METRIC_COUNT, OPTION_WORDS(SPH_METRICS));
        return found < 0 ? found : node_read_text(&e->table.metric, value, "metric", "");
    case KEY_BASELINE:
        e->table.baseline_line = node_line(key);
        return node_read_text(&e->table.baseline, value, "baseline_method", "the name of a method, or all");
    case KEY_TABLE:
        found = node_read_word(value, "table", tables, 2, "best|all");
        e->table.all_points = found == 1;
        return found < 0 ? found : 0;
    case KEY_RECORD:
        return read_record(e, key, value);
    case KEY_FIGURES:
        return experiment_read_figures(e, value);
    case KEY_LETTERS:
        return experiment_read_letters(e, value);
    case KEY_PAPERS:
        return experiment_read_papers(e, value);
    case KEY_PERTURB:
        return experiment_read_perturb(e, value);
    case KEY_VERSION:
        return node_check_text(value, "version", "the version that wrote the file");
    case KEY_DIRECTORY: /* applied when all paths are known */
        return node_check_text(value, "directory", "a folder, relative to the folder of this file");
    case KEY_CONTENT:
        return node_read_text(&e->content, value, "content", "the contents of experiment.yaml");
    default:
        return unknown_key(key);
    }
}

int experiment_read(struct sph_experiment *e, struct node_tree *document)
{
    struct node root = node_root(e->path, document);
    size_t seen[KEY_COUNT] = {0}, directory = 0;
    int err = node_check_map(root, "", "name, data, methods, ...");
    for (size_t i = 0; !err && i < node_count(root); i++) {
        struct node key = node_key(root, i);
        if ((err = experiment_read_entry(e, key, node_value(root, i))) < 0)
            return err;
        size_t *line = &seen[text_find(node_text(key), keys, KEY_COUNT)];
        if (*line)
            return node_fail(key, NULL, "key '%s' is already in line %zu", node_text(key), *line);
        *line = node_line(key);
        if (line == &seen[KEY_DIRECTORY])
            directory = i;
    }
    return err || !seen[KEY_DIRECTORY] ? err : experiment_apply_directory(e, node_value(root, directory));
}

static int has_rates(const struct sph_experiment *e)
{
    for (size_t a = 0; a < e->grid.count; a++)
        if (e->grid.axes[a].id == OPTION_LR && e->grid.axes[a].count > 1)
            return 1;
    return 0;
}

int experiment_check_baseline(const struct sph_experiment *e)
{
    const char **names = e->table.baseline ? mem_get(e->method_count, sizeof *names) : NULL;
    int err = 0;
    if (!e->table.baseline)
        return 0;
    if (!names)
        return SPH_EMEMORY;
    for (size_t m = 0; m < e->method_count; m++)
        names[m] = e->methods[m].name;
    if (e->table.all_points && e->grid.count && !has_rates(e))
        err = sph_fail_line_key(SPH_EFORMAT, e->path, e->table.baseline_line, "baseline_method",
                                "'%s' cannot be combined with table: all, which only compares tolerances of "
                                "a grid over lr; remove it",
                                e->table.baseline);
    else if (strcmp(e->table.baseline, "all") != 0 &&
             text_find(e->table.baseline, names, e->method_count) < 0) {
        const char *nearest = text_nearest(e->table.baseline, names, e->method_count);
        err =
            sph_fail_line_key(SPH_EFORMAT, e->path, e->table.baseline_line, "baseline_method",
                              "no method '%s'%s%s%s (expected the name of one, or all)", e->table.baseline,
                              nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    mem_free(names);
    return err;
}

int experiment_complete(const struct sph_experiment *e)
{
    if (!e->name)
        return sph_fail_of(SPH_EFORMAT, e->path, 0, "name", "key 'name' is missing");
    if (experiment_without_jobs(e))
        return 0;
    if (!options_has(e->base, OPTION_DATA) && !e->set_count)
        return sph_fail_of(SPH_EFORMAT, e->path, 0, "name",
                           "key 'name' of section 'data:' is missing, expected a file or a built-in dataset");
    if (!e->method_count)
        return sph_fail_of(SPH_EFORMAT, e->path, 0, "methods",
                           "key 'methods' is missing, expected a list of methods");
    size_t count;
    int err = experiment_check_papers(e);
    if (!err)
        err = experiment_check_baseline(e);
    return err ? err : experiment_count(e, &count);
}
