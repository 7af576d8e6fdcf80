/* SPDX-License-Identifier: MIT
 *
 * The lists of an experiment file: methods, seeds, the grid. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/config.h"
#include "compare/experiment.h"
#include "job/nodes.h"

void experiment_note_lines(size_t lines[OPTION_COUNT], yaml_document_t *document, const yaml_node_t *mapping,
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
            return sph_fail_line(SPH_EFORMAT, path, node_line(key), "key 'name' stands twice in one method");
        if ((err = node_read_text(&method->name, path, value, "name", "the name of a method")) < 0)
            return err;
        if (!*method->name || strlen(method->name) > 100)
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(value), "name",
                                     "found %zu characters, expected 1 to 100", strlen(method->name));
        if (text_has_control(method->name))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(value), "name",
                                     "found a control character, expected none");
    }
    if (!method->name)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "methods",
                                 "a method without a name, expected {name: ..., ...}");
    return 0;
}

static int read_method(struct experiment_method *methods, size_t at, const char *path, int from_file,
                       yaml_document_t *document, yaml_node_t *node)
{
    struct experiment_method *method = &methods[at];
    int err;
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "methods",
                                 "found %s, expected {name: ..., param: ..., ...}",
                                 node->type == YAML_SCALAR_NODE ? "one value" : "a list");
    method->line = from_file ? node_line(node) : 0;
    if ((err = read_method_name(method, path, document, node)) < 0)
        return err;
    for (size_t i = 0; i < at; i++)
        if (!strcmp(methods[i].name, method->name))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "name",
                                     "a second method '%s'; the first is in line %zu", method->name,
                                     methods[i].line);
    if ((err = choose_folder(methods, at)) < 0 || (err = sph_job_new(&method->job)) < 0 ||
        (err = config_apply(method->job, path, document, node, NULL, "name")) < 0)
        return err;
    experiment_note_lines(method->lines, document, node, NULL, from_file);
    return 0;
}

int experiment_read_methods(struct sph_experiment *e, const char *path, yaml_document_t *document,
                            const yaml_node_t *node)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "methods",
                                 "found %s, expected a list of methods",
                                 node->type == YAML_MAPPING_NODE ? "a mapping" : "one value");
    const yaml_node_item_t *first = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    size_t count = (size_t)(end - first);
    if (!count)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "methods",
                                 "found an empty list, expected at least one method");
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
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "seeds", "found '%s', expected %s",
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

int experiment_read_seeds(struct sph_experiment *e, const char *path, yaml_document_t *document,
                          const yaml_node_t *node)
{
    uint64_t *seeds, number;
    size_t count;
    int err;
    if (node->type != YAML_SEQUENCE_NODE) {
        if ((err = read_seed(&number, path, node)) < 0)
            return err;
        if (!number || number > EXPERIMENT_MOST_JOBS)
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "seeds",
                                     "found %llu, expected 1 to %d", (unsigned long long)number,
                                     EXPERIMENT_MOST_JOBS);
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
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "seeds",
                                 "found a list of %zu, expected at least one", count);
    if (!(seeds = mem_get(count, sizeof *seeds)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *item = yaml_document_get_node(document, first[i]);
        err = read_seed(&seeds[i], path, item);
        for (size_t j = 0; j < i && !err; j++)
            if (seeds[j] == seeds[i])
                err = sph_fail_line_key(SPH_EFORMAT, path, node_line(item), "seeds",
                                        "%llu stands twice in the list", (unsigned long long)seeds[i]);
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
        sph_job_free(axis->values[i]);
    mem_free(axis->values);
    *axis = (struct experiment_axis){0};
}

/* One value, checked as the option checks it. */
static int read_axis_value(struct experiment_axis *axis, const char *path, yaml_document_t *document,
                           const yaml_node_t *node)
{
    struct sph_job **value = &axis->values[axis->count];
    int err = sph_job_new(value);
    if (err < 0)
        return err;
    axis->count++;
    if ((err = config_value(*value, path, document, node, axis->id)) < 0)
        return err;
    if (!(*value)->set[axis->id])
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), option_key(axis->id),
                                 "'%s' leaves the choice open, expected a value", node_text(node));
    const char *text = experiment_value_text(axis, axis->count - 1);
    if (!text)
        return SPH_EMEMORY;
    for (size_t i = 0; i + 1 < axis->count; i++)
        if (!strcmp(experiment_value_text(axis, i), text))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "grid",
                                     "%s %s stands twice in the list", option_key(axis->id), text);
    return 0;
}

int experiment_read_axis(struct sph_experiment *e, const char *path, yaml_document_t *document,
                         const yaml_node_t *key, const yaml_node_t *value)
{
    int err = node_check_key(path, key), id;
    if (err < 0)
        return err;
    if ((id = config_key(node_text(key), NULL)) < 0) {
        return config_known_key(node_text(key))
                   ? sph_fail_line_key(SPH_EFORMAT, path, node_line(key), "grid",
                                       "'%s' is no key of a method, expected one of net or train",
                                       node_text(key))
                   : config_unknown_key(path, key, NULL);
    }
    if (value->type != YAML_SEQUENCE_NODE ||
        value->data.sequence.items.start == value->data.sequence.items.top)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(value), "grid",
                                 "%s: found %s, expected a list of values", node_text(key),
                                 value->type == YAML_SEQUENCE_NODE  ? "an empty list"
                                 : value->type == YAML_MAPPING_NODE ? "a mapping"
                                                                    : "one value");
    const yaml_node_item_t *item = value->data.sequence.items.start, *end = value->data.sequence.items.top;
    struct experiment_axis axis = {.id = (enum option_id)id, .line = path == e->path ? node_line(key) : 0};
    axis.values = mem_get((size_t)(end - item), sizeof *axis.values);
    err = axis.values ? 0 : SPH_EMEMORY;
    for (; item < end && !err; item++)
        err = read_axis_value(&axis, path, document, yaml_document_get_node(document, *item));
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

int experiment_read_grid(struct sph_experiment *e, const char *path, yaml_document_t *document,
                         const yaml_node_t *node)
{
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "grid",
                                 "found %s, expected {key: [values], ...}",
                                 node->type == YAML_SEQUENCE_NODE ? "a list" : "one value");
    const yaml_node_pair_t *first = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    if (first == end)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "grid",
                                 "found an empty mapping, expected {key: [values], ...}");
    for (size_t i = 0; i < e->axis_count; i++)
        free_axis(&e->axes[i]);
    e->axis_count = 0;
    int err = 0;
    for (const yaml_node_pair_t *pair = first; pair < end && !err; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        size_t before = e->axis_count;
        err = experiment_read_axis(e, path, document, key, yaml_document_get_node(document, pair->value));
        if (!err && e->axis_count == before)
            err = sph_fail_line_key(SPH_EFORMAT, path, node_line(key), "grid", "key '%s' stands twice",
                                    node_text(key));
    }
    return err;
}
