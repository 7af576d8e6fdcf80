/* SPDX-License-Identifier: MIT
 *
 * The lists of an experiment file: methods, seeds, the grid. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/config.h"
#include "compare/experiment.h"

/* ---------------------------------------------------------------- methods */

void experiment_named_free(struct experiment_named *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) {
        mem_free(list[i].name);
        mem_free(list[i].folder);
        options_delete(list[i].asked);
    }
    mem_free(list);
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

/* The number behind the stem and a dash, as folder_name writes it; 0: the stem alone; count: something else. */
static size_t folder_number(const char *folder, const char *stem, size_t count)
{
    size_t length = strlen(stem), number;
    if (strncasecmp(folder, stem, length) != 0)
        return count;
    if (!folder[length])
        return 0;
    return folder[length] == '-' && folder[length + 1] != '0' && text_to_size(folder + length + 1, &number) &&
                   number < count
               ? number
               : count;
}

/* The first number that is not taken: 0, 2, 3, ... */
int experiment_choose_folder(struct experiment_named *list, size_t at)
{
    char taken[EXPERIMENT_MOST_LISTED + 2] = {0}, *stem = folder_name(list[at].name, 0);
    size_t number = 0, count = at + 2;
    if (!stem)
        return SPH_EMEMORY;
    for (size_t i = 0; i < at; i++) {
        size_t used = folder_number(list[i].folder, stem, count);
        if (used < count)
            taken[used] = 1;
    }
    while (taken[number])
        number += number ? 1 : 2;
    mem_free(list[at].folder);
    list[at].folder = folder_name(list[at].name, number);
    mem_free(stem);
    return list[at].folder ? 0 : SPH_EMEMORY;
}

int experiment_check_listed(struct node list, const char *key)
{
    return node_count(list) <= EXPERIMENT_MOST_LISTED
               ? 0
               : node_fail(list, key, "found a list of %zu, expected at most %d", node_count(list),
                           EXPERIMENT_MOST_LISTED);
}

static int read_method_name(struct experiment_named *method, struct node node)
{
    for (size_t i = 0; i < node_count(node); i++) {
        struct node key = node_key(node, i), value = node_value(node, i);
        int err = node_check_key(key);
        if (err < 0)
            return err;
        if (strcmp(node_text(key), "name"))
            continue;
        if (method->name)
            return node_fail(key, NULL, "key 'name' is given twice in one method");
        if ((err = node_read_text(&method->name, value, "name", "the name of a method")) < 0)
            return err;
        if (!*method->name || strlen(method->name) > 100)
            return node_fail(value, "name", "found %zu characters, expected 1 to 100", strlen(method->name));
        if (text_has_control(method->name))
            return node_fail(value, "name", "found a control character, expected none");
    }
    return method->name ? 0
                        : node_fail(node, "methods", "a method without a name, expected {name: ..., ...}");
}

static int read_method(struct experiment_named *methods, size_t at, struct node node)
{
    struct experiment_named *method = &methods[at];
    int err = node_check_map(node, "methods", "{name: ..., param: ..., ...}");
    if (err < 0 || (err = read_method_name(method, node)) < 0)
        return err;
    method->line = node_line(node);
    for (size_t i = 0; i < at; i++)
        if (!strcmp(methods[i].name, method->name))
            return node_fail(node, "name", "two methods are named '%s'; the first is in line %zu",
                             method->name, methods[i].line);
    if ((err = experiment_choose_folder(methods, at)) < 0 || (err = options_new(&method->asked)) < 0)
        return err;
    return config_apply(method->asked, node, NULL, "name", method->lines);
}

int experiment_read_methods(struct sph_experiment *e, struct node list)
{
    size_t count = node_count(list);
    int err = node_check_list(list, "methods", "a list of methods");
    if (err < 0)
        return err;
    if (!count)
        return node_fail(list, "methods", "found an empty list, expected at least one method");
    if ((err = experiment_check_listed(list, "methods")) < 0)
        return err;
    struct experiment_named *methods = mem_get(count, sizeof *methods);
    if (!methods)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = read_method(methods, i, node_item(list, i));
    if (err < 0) {
        experiment_named_free(methods, count);
        return err;
    }
    experiment_named_free(e->methods, e->method_count);
    e->methods = methods;
    e->method_count = count;
    return 0;
}

/* ---------------------------------------------------------------- seeds */

static int read_seed(uint64_t *out, struct node node)
{
    static const char what[] = "a number of seeds, or a list such as [0, 1, 5]";
    int err = node_check_text(node, "seeds", what);
    if (!err && !text_to_u64(node_text(node), out))
        err = node_fail(node, "seeds", "found '%s', expected %s", node_text(node), what);
    return err;
}

int placed_seed_compare(const void *a, const void *b)
{
    const struct placed_seed *x = a, *y = b;
    return (x->seed > y->seed) - (x->seed < y->seed);
}

static int by_seed_and_place(const void *a, const void *b)
{
    const struct placed_seed *x = a, *y = b;
    int order = placed_seed_compare(a, b);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

struct placed_seed *experiment_sort_seeds(const uint64_t *seeds, size_t count)
{
    struct placed_seed *sorted = mem_get(count, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = (struct placed_seed){seeds[i], i};
    if (sorted)
        qsort(sorted, count, sizeof *sorted, by_seed_and_place);
    return sorted;
}

static int check_distinct(const uint64_t *seeds, size_t count, struct node list)
{
    struct placed_seed *sorted = experiment_sort_seeds(seeds, count);
    size_t again = count;
    if (!sorted)
        return SPH_EMEMORY;
    for (size_t i = 1; i < count; i++)
        if (sorted[i].seed == sorted[i - 1].seed && sorted[i].place < again)
            again = sorted[i].place;
    mem_free(sorted);
    return again == count ? 0
                          : node_fail(node_item(list, again), "seeds", "%llu is given twice in the list",
                                      (unsigned long long)seeds[again]);
}

/* A list of them, or how many. */
static int fill_seeds(uint64_t **out, size_t *count, struct node node)
{
    uint64_t number = node_count(node), *seeds;
    int err = node_is_list(node) ? 0 : read_seed(&number, node);
    if (err < 0)
        return err;
    if (!number || number > EXPERIMENT_MOST_JOBS)
        return node_is_list(node)
                   ? node_fail(node, "seeds", "found a list of %zu, expected at least one", node_count(node))
                   : node_fail(node, "seeds", "found %llu, expected 1 to %d", (unsigned long long)number,
                               EXPERIMENT_MOST_JOBS);
    *count = (size_t)number;
    if (!(*out = seeds = mem_get(*count, sizeof *seeds)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < *count && !err; i++) {
        seeds[i] = i;
        if (node_is_list(node))
            err = read_seed(&seeds[i], node_item(node, i));
    }
    return err || !node_is_list(node) ? err : check_distinct(seeds, *count, node);
}

int experiment_read_seeds(struct sph_experiment *e, struct node node)
{
    uint64_t *seeds = NULL;
    size_t count = 0;
    int err = fill_seeds(&seeds, &count, node);
    if (err < 0) {
        mem_free(seeds);
        return err;
    }
    mem_free(e->seeds);
    e->seeds = seeds;
    e->seed_count = count;
    return 0;
}

/* ---------------------------------------------------------------- grid */

static void free_axis(struct experiment_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        options_delete(axis->values[i]);
    mem_free(axis->values);
    *axis = (struct experiment_axis){0};
}

void experiment_axes_free(struct sph_experiment *e)
{
    for (size_t i = 0; i < e->grid.count; i++)
        free_axis(&e->grid.axes[i]);
    e->grid.count = 0;
}

/* One value, checked as the option checks it. */
static int read_axis_value(struct experiment_axis *axis, struct node node)
{
    struct job_spec **value = &axis->values[axis->count];
    int err = options_new(value);
    if (err < 0)
        return err;
    axis->count++;
    if ((err = config_value(*value, node, axis->id)) < 0)
        return err;
    if (!options_has(*value, axis->id))
        return node_fail(node, option_key(axis->id), "'%s' is not a definite value; give a value",
                         node_text(node));
    const char *text = experiment_value_text(axis, axis->count - 1);
    if (!text)
        return SPH_EMEMORY;
    for (size_t i = 0; i + 1 < axis->count; i++)
        if (!strcmp(experiment_value_text(axis, i), text))
            return node_fail(node, "grid", "%s %s is given twice in the list", option_key(axis->id), text);
    return 0;
}

int experiment_read_axis(struct sph_experiment *e, struct node key, struct node list)
{
    size_t count = node_count(list), at = 0;
    int err = node_check_key(key), id;
    if (err < 0)
        return err;
    if ((id = config_key(node_text(key), NULL)) < 0)
        return config_known_key(node_text(key))
                   ? node_fail(key, "grid", "'%s' is not a key of a method, expected a key of net or train",
                               node_text(key))
                   : config_unknown_key(key, NULL);
    if (!node_is_list(list) || !count)
        return node_fail(list, "grid", "%s: found %s, expected a list of values", node_text(key),
                         node_is_list(list) ? "an empty list" : node_shape(list));
    if ((err = experiment_check_listed(list, "grid")) < 0)
        return err;
    struct experiment_axis axis = {.id = (enum option_id)id, .line = node_line(key)};
    axis.values = mem_get(count, sizeof *axis.values);
    err = axis.values ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = read_axis_value(&axis, node_item(list, i));
    while (at < e->grid.count && e->grid.axes[at].id != axis.id)
        at++;
    if (!err && !mem_reserve((void **)&e->grid.axes, &e->grid.capacity, at + 1, sizeof *e->grid.axes))
        err = SPH_EMEMORY;
    if (err < 0) {
        free_axis(&axis);
        return err;
    }
    if (at == e->grid.count)
        e->grid.count++;
    else
        free_axis(&e->grid.axes[at]);
    e->grid.axes[at] = axis;
    return 0;
}

int experiment_read_grid(struct sph_experiment *e, struct node node)
{
    int err = node_check_map(node, "grid", "{key: [values], ...}");
    if (!err && !node_count(node))
        err = node_fail(node, "grid", "found an empty mapping, expected {key: [values], ...}");
    if (err < 0)
        return err;
    experiment_axes_free(e);
    for (size_t i = 0; !err && i < node_count(node); i++) {
        size_t before = e->grid.count;
        err = experiment_read_axis(e, node_key(node, i), node_value(node, i));
        if (!err && e->grid.count == before)
            err =
                node_fail(node_key(node, i), "grid", "key '%s' is given twice", node_text(node_key(node, i)));
    }
    return err;
}
