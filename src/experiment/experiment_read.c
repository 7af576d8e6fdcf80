/* SPDX-License-Identifier: MIT
 *
 * An experiment file: keys to a struct, and failures with line and key. */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "experiment/config.h"
#include "experiment/experiment.h"
#include "experiment/nodes.h"

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
    X(THREADS, "threads")                                                                                    \
    X(DTYPE, "dtype")                                                                                        \
    X(VERSION, "version")                                                                                    \
    X(CONTENT, "content")

#define KEY_ENUM(id, word) KEY_##id,
#define KEY_WORD(id, word) word,
enum key { EXPERIMENT_KEYS(KEY_ENUM) KEY_COUNT };
static const char *const keys[KEY_COUNT] = {EXPERIMENT_KEYS(KEY_WORD)};

int experiment_unknown_key(const char *path, const yaml_node_t *node)
{
    const char *key = node_text(node), *nearest = text_nearest(key, keys, KEY_COUNT);
    static const char *const sections[] = {"data", "net", "train"};
    for (size_t i = 0; i < 3; i++)
        if (config_key(key, sections[i]) >= 0)
            return sph_fail(SPH_EFORMAT, "%s:%zu: key '%s' belongs in section '%s:'", path, node_line(node),
                            key, sections[i]);
    if (nearest)
        return sph_fail(SPH_EFORMAT, "%s:%zu: unknown key '%s', did you mean '%s'?", path, node_line(node),
                        key, nearest);
    return sph_fail(SPH_EFORMAT, "%s:%zu: unknown key '%s'", path, node_line(node), key);
}

/* Text of a key that is not an option. */
static int read_text(char **out, const char *path, const yaml_node_t *node, const char *what,
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

static int read_word(const char *path, const yaml_node_t *node, const char *what, const char *const *words,
                     size_t count, const char *choices)
{
    int err = node_check_text(path, node, what, choices);
    if (err < 0)
        return err;
    int found = text_find(node_text(node), words, count);
    if (found >= 0)
        return found;
    const char *nearest = text_nearest(node_text(node), words, count);
    return sph_fail(SPH_EFORMAT, "%s:%zu: %s: unknown word '%s'%s%s%s (%s)", path, node_line(node), what,
                    node_text(node), nearest ? ", did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "", choices);
}

/* Where each option of a mapping stands, for what is found out later. */
static void note_lines(size_t lines[OPTION_COUNT], yaml_document_t *document, const yaml_node_t *mapping,
                       const char *section, int from_file)
{
    const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start, *end = mapping->data.mapping.pairs.top;
    for (; pair < end; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        int id = config_key(node_text(key), section);
        if (id >= 0)
            lines[id] = from_file ? node_line(key) : 0;
    }
}

/* ---------------------------------------------------------------- methods */

static void free_methods(struct experiment_method *methods, size_t count)
{
    for (size_t i = 0; methods && i < count; i++) {
        mem_free(methods[i].name);
        mem_free(methods[i].folder);
        sph_job_free(methods[i].job);
    }
    mem_free(methods);
}

/* A name that every file system takes: what is not a letter, digit or one of + - . _ becomes _. */
static char *folder_name(const char *name, size_t number)
{
    char *folder = number ? mem_format("%s-%zu", name, number) : mem_text(name);
    for (char *c = folder; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("+-._", *c))
            *c = '_';
    if (folder && *folder == '.')
        *folder = '_';
    return folder;
}

static int folder_is_taken(const struct experiment_method *methods, size_t count, const char *folder)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(methods[i].folder, folder))
            return 1;
    return 0;
}

static int choose_folder(struct experiment_method *methods, size_t at)
{
    for (size_t number = 0;; number += number ? 1 : 2) {
        mem_free(methods[at].folder);
        methods[at].folder = folder_name(methods[at].name, number);
        if (!methods[at].folder)
            return SPH_EMEMORY;
        if (!folder_is_taken(methods, at, methods[at].folder))
            return 0;
    }
}

static int read_method_name(struct experiment_method *method, const char *path, yaml_document_t *document,
                            const yaml_node_t *node)
{
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    for (; pair < end; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(document, pair->value);
        int err = node_check_key(path, key);
        if (err < 0)
            return err;
        if (strcmp(node_text(key), "name"))
            continue;
        if (method->name)
            return sph_fail(SPH_EFORMAT, "%s:%zu: key 'name' stands twice in one method", path,
                            node_line(key));
        if ((err = read_text(&method->name, path, value, "name", "the name of a method")) < 0)
            return err;
        if (!*method->name || strlen(method->name) > 100)
            return sph_fail(SPH_EFORMAT, "%s:%zu: name: found %zu characters, expected 1 to 100", path,
                            node_line(value), strlen(method->name));
        for (const char *c = method->name; *c; c++)
            if (iscntrl((unsigned char)*c))
                return sph_fail(SPH_EFORMAT, "%s:%zu: name: found a control character, expected none", path,
                                node_line(value));
    }
    if (!method->name)
        return sph_fail(SPH_EFORMAT, "%s:%zu: methods: a method without a name, expected {name: ..., ...}",
                        path, node_line(node));
    return 0;
}

static int read_method(struct experiment_method *methods, size_t at, const char *path, int from_file,
                       yaml_document_t *document, yaml_node_t *node)
{
    struct experiment_method *method = &methods[at];
    int err;
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: methods: found %s, expected {name: ..., param: ..., ...}", path,
                        node_line(node), node->type == YAML_SCALAR_NODE ? "one value" : "a list");
    method->line = from_file ? node_line(node) : 0;
    if ((err = read_method_name(method, path, document, node)) < 0)
        return err;
    for (size_t i = 0; i < at; i++)
        if (!strcmp(methods[i].name, method->name))
            return sph_fail(SPH_EFORMAT, "%s:%zu: name: a second method '%s'; the first is in line %zu", path,
                            node_line(node), method->name, methods[i].line);
    if ((err = choose_folder(methods, at)) < 0 || (err = sph_job_new(&method->job)) < 0 ||
        (err = config_apply(method->job, path, document, node, NULL, "name")) < 0)
        return err;
    note_lines(method->lines, document, node, NULL, from_file);
    return 0;
}

static int read_methods(struct sph_experiment *e, const char *path, yaml_document_t *document,
                        const yaml_node_t *node)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: methods: found %s, expected a list of methods", path,
                        node_line(node), node->type == YAML_MAPPING_NODE ? "a mapping" : "one value");
    const yaml_node_item_t *first = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    size_t count = (size_t)(end - first);
    if (!count)
        return sph_fail(SPH_EFORMAT, "%s:%zu: methods: found an empty list, expected at least one method",
                        path, node_line(node));
    struct experiment_method *methods = mem_get(count, sizeof *methods);
    if (!methods)
        return SPH_EMEMORY;
    int err = 0;
    for (size_t i = 0; i < count && !err; i++)
        err = read_method(methods, i, path, path == e->path, document,
                          yaml_document_get_node(document, first[i]));
    if (err < 0) {
        free_methods(methods, count);
        return err;
    }
    free_methods(e->methods, e->method_count);
    e->methods = methods;
    e->method_count = count;
    return 0;
}

/* ---------------------------------------------------------------- seeds */

static int read_seed(uint64_t *out, const char *path, const yaml_node_t *node)
{
    static const char what[] = "a number of seeds, or a list of them such as [0, 1, 5]";
    int err = node_check_text(path, node, "seeds", what);
    if (err < 0)
        return err;
    if (!text_to_u64(node_text(node), out))
        return sph_fail(SPH_EFORMAT, "%s:%zu: seeds: found '%s', expected %s", path, node_line(node),
                        node_text(node), what);
    return 0;
}

static int take_seeds(struct sph_experiment *e, uint64_t *seeds, size_t count)
{
    mem_free(e->seeds);
    e->seeds = seeds;
    e->seed_count = count;
    return 0;
}

static int read_seeds(struct sph_experiment *e, const char *path, yaml_document_t *document,
                      const yaml_node_t *node)
{
    uint64_t *seeds, number;
    size_t count;
    int err;
    if (node->type != YAML_SEQUENCE_NODE) {
        if ((err = read_seed(&number, path, node)) < 0)
            return err;
        if (!number || number > EXPERIMENT_MOST_JOBS)
            return sph_fail(SPH_EFORMAT, "%s:%zu: seeds: found %llu, expected 1 to %d", path, node_line(node),
                            (unsigned long long)number, EXPERIMENT_MOST_JOBS);
        count = (size_t)number;
        if (!(seeds = mem_get(count, sizeof *seeds)))
            return SPH_EMEMORY;
        for (size_t i = 0; i < count; i++)
            seeds[i] = i;
        return take_seeds(e, seeds, count);
    }
    const yaml_node_item_t *first = node->data.sequence.items.start;
    count = (size_t)(node->data.sequence.items.top - first);
    if (!count || count > EXPERIMENT_MOST_JOBS)
        return sph_fail(SPH_EFORMAT, "%s:%zu: seeds: found a list of %zu, expected at least one", path,
                        node_line(node), count);
    if (!(seeds = mem_get(count, sizeof *seeds)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *item = yaml_document_get_node(document, first[i]);
        err = read_seed(&seeds[i], path, item);
        for (size_t j = 0; j < i && !err; j++)
            if (seeds[j] == seeds[i])
                err = sph_fail(SPH_EFORMAT, "%s:%zu: seeds: %llu stands twice in the list", path,
                               node_line(item), (unsigned long long)seeds[i]);
        if (err < 0) {
            mem_free(seeds);
            return err;
        }
    }
    return take_seeds(e, seeds, count);
}

/* ---------------------------------------------------------------- grid */

static void free_axis(struct experiment_axis *axis)
{
    for (size_t i = 0; axis->values && i < axis->count; i++)
        mem_free(axis->values[i]);
    mem_free(axis->values);
    *axis = (struct experiment_axis){0};
}

/* The canonical text of one value, checked as the option checks it. */
static int read_axis_value(struct experiment_axis *axis, const char *path, yaml_document_t *document,
                           const yaml_node_t *node, struct sph_job *scratch)
{
    int err = config_value(scratch, path, document, node, axis->id);
    if (err < 0)
        return err;
    const char *text = scratch->text[axis->id];
    if (!text)
        return sph_fail(SPH_EFORMAT, "%s:%zu: %s: '%s' leaves the choice open, expected a value", path,
                        node_line(node), option_key(axis->id), node_text(node));
    for (size_t i = 0; i < axis->count; i++)
        if (!strcmp(axis->values[i], text))
            return sph_fail(SPH_EFORMAT, "%s:%zu: grid: %s %s stands twice in the list", path,
                            node_line(node), option_key(axis->id), text);
    if (!(axis->values[axis->count] = mem_text(text)))
        return SPH_EMEMORY;
    axis->count++;
    return 0;
}

int experiment_read_axis(struct sph_experiment *e, const char *path, yaml_document_t *document,
                         const yaml_node_t *key, const yaml_node_t *value)
{
    int err = node_check_key(path, key), id;
    if (err < 0)
        return err;
    if ((id = config_key(node_text(key), NULL)) < 0) {
        err = config_unknown_key(path, key, NULL);
        return strstr(sph_error(), "belongs")
                   ? sph_fail(err, "%s:%zu: grid: '%s' is no key of a method, expected one of net or train",
                              path, node_line(key), node_text(key))
                   : err;
    }
    if (value->type != YAML_SEQUENCE_NODE ||
        value->data.sequence.items.start == value->data.sequence.items.top)
        return sph_fail(SPH_EFORMAT, "%s:%zu: grid: %s: found %s, expected a list of values", path,
                        node_line(value), node_text(key),
                        value->type == YAML_SEQUENCE_NODE  ? "an empty list"
                        : value->type == YAML_MAPPING_NODE ? "a mapping"
                                                           : "one value");
    const yaml_node_item_t *item = value->data.sequence.items.start, *end = value->data.sequence.items.top;
    struct experiment_axis axis = {.id = (enum option_id)id, .line = path == e->path ? node_line(key) : 0};
    struct sph_job *scratch = NULL;
    axis.values = mem_get((size_t)(end - item), sizeof *axis.values);
    err = axis.values ? sph_job_new(&scratch) : SPH_EMEMORY;
    for (; item < end && !err; item++)
        err = read_axis_value(&axis, path, document, yaml_document_get_node(document, *item), scratch);
    sph_job_free(scratch);
    if (err < 0) {
        free_axis(&axis);
        return err;
    }
    for (size_t i = 0; i < e->axis_count; i++)
        if (e->axes[i].id == axis.id) {
            free_axis(&e->axes[i]);
            e->axes[i] = axis;
            return 0;
        }
    struct experiment_axis *axes = mem_resize(e->axes, e->axis_count, e->axis_count + 1, sizeof *axes);
    if (!axes) {
        free_axis(&axis);
        return SPH_EMEMORY;
    }
    e->axes = axes;
    e->axes[e->axis_count++] = axis;
    return 0;
}

static int read_grid(struct sph_experiment *e, const char *path, yaml_document_t *document,
                     const yaml_node_t *node)
{
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: grid: found %s, expected {key: [values], ...}", path,
                        node_line(node), node->type == YAML_SEQUENCE_NODE ? "a list" : "one value");
    const yaml_node_pair_t *first = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    if (first == end)
        return sph_fail(SPH_EFORMAT, "%s:%zu: grid: found an empty mapping, expected {key: [values], ...}",
                        path, node_line(node));
    for (size_t i = 0; i < e->axis_count; i++)
        free_axis(&e->axes[i]);
    e->axis_count = 0;
    int err = 0;
    for (const yaml_node_pair_t *pair = first; pair < end && !err; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        size_t before = e->axis_count;
        err = experiment_read_axis(e, path, document, key, yaml_document_get_node(document, pair->value));
        if (!err && e->axis_count == before)
            err = sph_fail(SPH_EFORMAT, "%s:%zu: grid: key '%s' stands twice", path, node_line(key),
                           node_text(key));
    }
    return err;
}

/* ---------------------------------------------------------------- what is drawn */

static const char *const figure_words[] = {"trajectories", "turns", "decision"};

static int read_figures(struct sph_experiment *e, const char *path, yaml_document_t *document,
                        const yaml_node_t *node)
{
    struct text list = {0};
    if (node->type != YAML_SEQUENCE_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: figures: found %s, expected a list of figures", path,
                        node_line(node), node->type == YAML_MAPPING_NODE ? "a mapping" : "one value");
    const yaml_node_item_t *item = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    int err = 0;
    text_add(&list, "[");
    for (int first = 1; item < end && !err; item++, first = 0) {
        const yaml_node_t *figure = yaml_document_get_node(document, *item);
        int found = read_word(path, figure, "figures", figure_words, 3, "trajectories|turns|decision");
        if (found < 0)
            err = found;
        else
            text_add(&list, "%s%s", first ? "" : ", ", figure_words[found]);
    }
    text_add(&list, "]");
    if (!err && list.failed)
        err = SPH_EMEMORY;
    if (err < 0) {
        text_free(&list);
        return err;
    }
    mem_free(e->figures);
    e->figures = list.chars;
    return 0;
}

static int read_moments(struct text *out, const char *path, yaml_document_t *document,
                        const yaml_node_t *node)
{
    static const char *const words[] = {"every", "epoch"};
    if (node->type != YAML_SEQUENCE_NODE) {
        int found = read_word(path, node, "record: boundaries", words, 2, "every|epoch|[steps]");
        if (found >= 0)
            text_add(out, "%s", words[found]);
        return found < 0 ? found : 0;
    }
    const yaml_node_item_t *item = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    text_add(out, "[");
    for (int first = 1; item < end; item++, first = 0) {
        const yaml_node_t *step = yaml_document_get_node(document, *item);
        uint64_t number;
        int err = node_check_text(path, step, "record: boundaries", "a step");
        if (err < 0)
            return err;
        if (!text_to_u64(node_text(step), &number))
            return sph_fail(SPH_EFORMAT, "%s:%zu: record: boundaries: found '%s', expected a step", path,
                            node_line(step), node_text(step));
        text_add(out, "%s%llu", first ? "" : ", ", (unsigned long long)number);
    }
    text_add(out, "]");
    return 0;
}

static int read_record(struct sph_experiment *e, const char *path, yaml_document_t *document,
                       const yaml_node_t *node)
{
    static const char *const words[] = {"boundaries"};
    struct text record = {0};
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: record: found %s, expected {boundaries: every|epoch|[steps]}",
                        path, node_line(node), node->type == YAML_SEQUENCE_NODE ? "a list" : "one value");
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    int err = 0;
    for (; pair < end && !err; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if ((err = node_check_key(path, key)) < 0 ||
            (err = read_word(path, key, "record", words, 1, "boundaries")) < 0)
            break;
        if (record.length) {
            err = sph_fail(SPH_EFORMAT, "%s:%zu: record: boundaries stands twice", path, node_line(key));
            break;
        }
        text_add(&record, "{boundaries: ");
        err = read_moments(&record, path, document, yaml_document_get_node(document, pair->value));
    }
    text_add(&record, record.length ? "}" : "{}");
    if (!err && record.failed)
        err = SPH_EMEMORY;
    if (err < 0) {
        text_free(&record);
        return err;
    }
    mem_free(e->record);
    e->record = record.chars;
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
        note_lines(e->lines, document, value, section, path == e->path);
    return err;
}

int experiment_read_entry(struct sph_experiment *e, const char *path, yaml_document_t *document,
                          yaml_node_t *key, yaml_node_t *value)
{
    static const char *const metrics[] = {"loss", "rmse", "mae", "accuracy", "top5"};
    static const char *const tables[] = {"best", "all"};
    char *version = NULL;
    int err = node_check_key(path, key), found;
    if (err < 0)
        return err;
    switch ((enum key)text_find(node_text(key), keys, KEY_COUNT)) {
    case KEY_NAME:
        err = read_text(&e->name, path, value, "name", "the name of the experiment");
        if (!err && (!*e->name || strlen(e->name) > 100 || strpbrk(e->name, "\n\r\t/")))
            err = sph_fail(SPH_EFORMAT,
                           "%s:%zu: name: found '%s', expected 1 to 100 characters without a slash", path,
                           node_line(value), e->name);
        return err;
    case KEY_DATA:
        return read_section(e, path, document, value, "data");
    case KEY_NET:
        return read_section(e, path, document, value, "net");
    case KEY_TRAIN:
        return read_section(e, path, document, value, "train");
    case KEY_METHODS:
        return read_methods(e, path, document, value);
    case KEY_PROTOCOL:
        return read_option(e, path, document, key, value, OPTION_PROTOCOL);
    case KEY_FOLDS:
        return read_option(e, path, document, key, value, OPTION_FOLDS);
    case KEY_THREADS:
        return read_option(e, path, document, key, value, OPTION_THREADS);
    case KEY_DTYPE:
        return read_option(e, path, document, key, value, OPTION_DTYPE);
    case KEY_SEEDS:
        return read_seeds(e, path, document, value);
    case KEY_GRID:
        e->grid_line = path == e->path ? node_line(key) : 0;
        return read_grid(e, path, document, value);
    case KEY_METRIC:
        e->metric_line = path == e->path ? node_line(key) : 0;
        found = read_word(path, value, "metric", metrics, 5, "loss|rmse|mae|accuracy|top5");
        return found < 0 ? found : read_text(&e->metric, path, value, "metric", "");
    case KEY_TABLE:
        found = read_word(path, value, "table", tables, 2, "best|all");
        e->all_points = found == 1;
        return found < 0 ? found : 0;
    case KEY_RECORD:
        return read_record(e, path, document, value);
    case KEY_FIGURES:
        return read_figures(e, path, document, value);
    case KEY_VERSION:
        err = read_text(&version, path, value, "version", "the version that wrote the file");
        mem_free(version);
        return err;
    case KEY_CONTENT:
        return read_text(&e->content, path, value, "content", "what an experiment.yaml has there");
    default:
        return experiment_unknown_key(path, key);
    }
}

int experiment_read(struct sph_experiment *e, yaml_document_t *document)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (root->type != YAML_MAPPING_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: found %s, expected name, data, methods, ...", e->path,
                        node_line(root), root->type == YAML_SCALAR_NODE ? "one value" : "a list");
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
            return sph_fail(SPH_EFORMAT, "%s:%zu: key '%s' is already in line %zu", e->path, node_line(key),
                            node_text(key), *line);
        *line = node_line(key);
    }
    return 0;
}

int experiment_complete(const struct sph_experiment *e)
{
    if (!e->name)
        return sph_fail(SPH_EFORMAT, "%s: key 'name' is missing", e->path);
    if (!e->base->text[OPTION_DATA])
        return sph_fail(SPH_EFORMAT, "%s: key 'name' of section 'data:' is missing, expected a file or a set",
                        e->path);
    if (!e->method_count)
        return sph_fail(SPH_EFORMAT, "%s: key 'methods' is missing, expected a list of methods", e->path);
    return 0;
}
