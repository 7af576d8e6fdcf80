/* SPDX-License-Identifier: MIT
 *
 * The key `data` of an experiment file: one set, or a list of them.
 *
 *     data: {name: boston, test: 0.2}                                one; `file` does as well as `name`
 *     data: {name: [boston, wine], test: 0.2}                        several, all else is shared
 *     data: [{name: boston, permute: 113}, wine, {file: my.csv}]     several, each with keys of its own
 *
 * What every set says alike is said by the experiment, so that all three forms come to the same. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/experiment.h"
#include "job/config.h"

enum { NAME_MOST = 100 };

size_t experiment_sets(const struct sph_experiment *e)
{
    return e->set_count ? e->set_count : 1;
}

/* What a source is called: the name of a set, or of a file without folders and ending. Caller frees. */
static char *name_of(const char *source)
{
    size_t length = strlen(source);
    while (length > 1 && source[length - 1] == '/')
        length--;
    size_t from = length;
    while (from && source[from - 1] != '/')
        from--;
    char *name = mem_text_of(source + from, length - from), *dot;
    if (name && (dot = strrchr(name, '.')) && dot > name && !strcmp(dot, ".gz"))
        *dot = '\0';
    if (name && (dot = strrchr(name, '.')) && dot > name)
        *dot = '\0';
    return name;
}

const char *experiment_set_name(const struct sph_experiment *e, size_t set)
{
    const char *one = e->base->options.data;
    return e->set_count ? e->sets[set].name : one ? one : "";
}

/* ---------------------------------------------------------------- one item of a list */

/* The value of a key of a mapping. */
static int find_key(struct node mapping, const char *key, struct node *value)
{
    for (size_t i = 0; i < node_count(mapping); i++)
        if (node_is_text(node_key(mapping, i)) && !strcmp(node_text(node_key(mapping, i)), key)) {
            *value = node_value(mapping, i);
            return 1;
        }
    return 0;
}

static int copy_options(struct job_spec **out, const struct job_spec *from)
{
    int err = options_new(out);
    return err ? err : options_copy(*out, from);
}

static int copy_set(struct experiment_named *out, const struct experiment_named *from)
{
    int err = copy_options(&out->asked, from->asked);
    if (err < 0)
        return err;
    out->name = mem_text(from->name);
    memcpy(out->lines, from->lines, sizeof out->lines);
    return out->name ? 0 : SPH_EMEMORY;
}

/* {name: boston, ...}, {file: my.csv, ...}, or both: then the name is what the file is called. */
static int read_mapping(struct experiment_named *set, struct node item)
{
    struct node name, file;
    int named = find_key(item, "name", &name), placed = find_key(item, "file", &file);
    if (!named && !placed)
        return node_fail(item, "data",
                         "a dataset without a name, expected {name: ..., ...} or {file: ..., ...}");
    int err = options_new(&set->asked);
    if (!err)
        err = config_apply(set->asked, item, "data", named && placed ? "name" : NULL, set->lines);
    if (err < 0 || !named || !placed)
        return err;
    return node_read_text(&set->name, name, "name", "the name of the dataset");
}

static int read_item(const struct sph_experiment *e, struct experiment_named *sets, size_t at,
                     struct node item)
{
    struct experiment_named *set = &sets[at];
    int err = 0;
    if (node_is_map(item)) {
        err = read_mapping(set, item);
    } else if (!(err = node_check_text(item, "data", "the name of a dataset, or {name: ..., ...}"))) {
        for (size_t i = 0; i < e->set_count && !set->asked && !err; i++)
            if (!strcmp(e->sets[i].name, node_text(item))) /* --set picks some of those there are */
                err = copy_set(set, &e->sets[i]);
        if (!err && !set->asked && !(err = options_new(&set->asked))) {
            set->lines[OPTION_DATA] = node_line(item);
            err = config_value(set->asked, item, OPTION_DATA);
        }
    }
    if (err < 0)
        return err;
    set->line = node_line(item);
    const char *source = set->asked->options.data;
    if (!source || !*source)
        return node_fail(item, "data", "a dataset without a name, expected a built-in dataset or a file");
    if (!set->name && !(set->name = name_of(source)))
        return SPH_EMEMORY;
    if (!*set->name || strlen(set->name) > NAME_MOST)
        return node_fail(item, "data", "the name of a dataset has %zu characters, expected 1 to %d",
                         strlen(set->name), NAME_MOST);
    if (text_has_control(set->name))
        return node_fail(item, "data", "found a control character in the name of a dataset, expected none");
    for (size_t i = 0; i < at; i++)
        if (!strcmp(sets[i].name, set->name))
            return node_fail(
                item, "data",
                "two datasets have the name '%s'%s; give one of them another name: {name: ..., file: %s}",
                set->name, set->line == sets[i].line ? "" : ", see the one above", source);
    return experiment_choose_folder(sets, at);
}

/* ---------------------------------------------------------------- the whole list */

/* What all sets say alike is the experiment's. */
static int share(struct sph_experiment *e)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        const char *first = options_text(e->sets[0].asked, id);
        size_t alike = 0;
        if (!first)
            return SPH_EMEMORY;
        for (; alike < e->set_count && options_given(e->sets[alike].asked, id) && id != OPTION_DATA;
             alike++) {
            const char *own = options_text(e->sets[alike].asked, id);
            if (!own)
                return SPH_EMEMORY;
            if (strcmp(own, first) != 0)
                break;
        }
        if (alike < e->set_count)
            continue;
        int err = options_take(e->base, e->sets[0].asked, id);
        if (err < 0)
            return err;
        e->lines[i] = e->sets[0].lines[i];
        for (size_t k = 0; k < e->set_count; k++)
            options_unset(e->sets[k].asked, id);
    }
    return 0;
}

static void forget_sets(struct sph_experiment *e)
{
    experiment_named_free(e->sets, e->set_count);
    e->sets = NULL;
    e->set_count = 0;
}

static int read_list(struct sph_experiment *e, struct node list)
{
    size_t count = node_count(list);
    if (!count)
        return node_fail(list, "data", "found an empty list, expected at least one dataset");
    int err = experiment_check_listed(list, "data");
    if (err < 0)
        return err;
    struct experiment_named *sets = mem_get(count, sizeof *sets);
    err = sets ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = read_item(e, sets, i, node_item(list, i));
    if (err < 0) {
        experiment_named_free(sets, count);
        return err;
    }
    forget_sets(e);
    options_unset(e->base, OPTION_DATA);
    e->sets = sets;
    e->set_count = count;
    return share(e);
}

int experiment_read_data_key(struct sph_experiment *e, struct node key, struct node value)
{
    struct node names, other;
    if (node_is_list(value))
        return read_list(e, value);
    int file = find_key(value, "file", &names);
    if ((!file && !find_key(value, "name", &names)) || !node_is_list(names)) {
        if (file || find_key(value, "name", &names))
            forget_sets(e);
        return config_apply(e->base, value, node_text(key), NULL, e->lines);
    }
    if (file && find_key(value, "name", &other))
        return node_fail(other, "data", "found both name and file, expected one list of datasets");
    int err = config_apply(e->base, value, node_text(key), file ? "file" : "name", e->lines);
    return err ? err : read_list(e, names);
}

/* ---------------------------------------------------------------- --set */

/* One set: of those there are with its keys, or another. */
static int set_one(struct sph_experiment *e, struct node value)
{
    int err = node_check_text(value, "name", "the name of a dataset, or a list of names");
    for (size_t i = 0; i < e->set_count && !err; i++)
        if (!strcmp(e->sets[i].name, node_text(value))) {
            err = options_override(e->base, e->sets[i].asked, ORIGIN_FILE);
            e->base->origin[OPTION_DATA] = ORIGIN_COMMAND;
            e->lines[OPTION_DATA] = e->sets[i].lines[OPTION_DATA];
            forget_sets(e);
            return err;
        }
    if (!err)
        err = config_value(e->base, value, OPTION_DATA);
    if (!err)
        forget_sets(e);
    e->lines[OPTION_DATA] = 0;
    return err;
}

int experiment_set_data_option(struct sph_experiment *e, enum option_id id, struct node value)
{
    e->call.picked |= id == OPTION_DATA;
    if (id == OPTION_DATA)
        return node_is_list(value) ? read_list(e, value) : set_one(e, value);
    int err = config_value(e->base, value, id);
    e->lines[id] = 0;
    for (size_t i = 0; i < e->set_count && !err; i++)
        options_unset(e->sets[i].asked, id);
    return err;
}

/* ---------------------------------------------------------------- the resolved file */

static int write_set(const struct experiment_named *set, const struct job_spec *base, struct yaml_out *out)
{
    struct job_spec *spec = NULL;
    const char *source = set->asked->options.data;
    char *name = name_of(source);
    int err = name ? copy_options(&spec, base) : SPH_EMEMORY;
    if (!err && !(err = options_override(spec, set->asked, ORIGIN_FILE))) {
        options_unset(spec, OPTION_DATA);
        yaml_map_block(out);
        if (strcmp(name, set->name) != 0)
            yaml_pair(out, "name", set->name);
        yaml_pair(out, strcmp(set->name, source) != 0 ? "file" : "name", source);
        config_write_options(out, spec, "data");
        yaml_map_end(out);
    }
    options_delete(spec);
    mem_free(name);
    return err;
}

int experiment_yaml_data(const struct sph_experiment *e, const struct job_spec *base, struct yaml_out *out)
{
    int err = 0;
    if (!e->set_count) {
        config_write_section(out, base, "data");
        return 0;
    }
    yaml_key(out, "data");
    yaml_list_block(out);
    for (size_t i = 0; i < e->set_count && !err; i++)
        err = write_set(&e->sets[i], base, out);
    yaml_list_end(out);
    return err;
}
