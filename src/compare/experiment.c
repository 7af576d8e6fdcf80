/* SPDX-License-Identifier: MIT
 *
 * The handle of an experiment: opened from a file, changed by --set, written resolved. */
#include "compare/experiment.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/config.h"
#include "job/defaults.h"
#include "compare/perturbed_unit.h"
#include "net/zoo.h"

int experiment_open(sph_experiment **out, const char *path, const struct figure_list *figures)
{
    struct node_tree document;
    sph_experiment *e = mem_get(1, sizeof *e);
    *out = NULL;
    if (!e)
        return SPH_EMEMORY;
    e->drawn.known = figures;
    int err = SPH_EMEMORY;
    if (!(e->path = mem_text(path)) || !(e->seeds = mem_get(1, sizeof *e->seeds)))
        goto out;
    e->seed_count = 1;
    if ((err = options_new(&e->base)) < 0 || (err = defaults_fixed(e->base)) < 0 ||
        (err = config_load(&document, e->path)) < 0)
        goto out;
    err = experiment_read(e, &document);
    node_tree_free(&document);
    if (!err)
        err = experiment_complete(e);
out:
    if (err < 0) {
        sph_experiment_free(e);
        return err;
    }
    *out = e;
    return 0;
}

void sph_experiment_free(sph_experiment *e)
{
    if (!e)
        return;
    experiment_named_free(e->methods, e->method_count);
    experiment_named_free(e->sets, e->set_count);
    mem_free(e->data);
    experiment_axes_free(e);
    experiment_list_free(e->plan.jobs, e->plan.count);
    mem_free(e->plan.cost);
    mem_free(e->grid.axes);
    mem_free(e->seeds);
    mem_free(e->table.metric);
    mem_free(e->table.baseline);
    mem_free(e->content);
    experiment_figures_free(e);
    experiment_papers_free(e);
    experiment_perturb_free(e->perturb);
    mem_free(e->name);
    mem_free(e->path);
    options_delete(e->base);
    data_cache_free(&e->cache);
    mem_free(e);
}

const char *sph_experiment_name(const sph_experiment *e)
{
    return e ? e->name : "";
}

/* ---------------------------------------------------------------- --set */

int experiment_find_method(const struct sph_experiment *e, const char *name, size_t length)
{
    for (size_t i = 0; i < e->method_count; i++)
        if (strlen(e->methods[i].name) == length && !memcmp(e->methods[i].name, name, length))
            return (int)i;
    return -1;
}

static int unknown_method(const struct sph_experiment *e, struct node key, const char *name, size_t length)
{
    struct text names = {0};
    for (size_t i = 0; i < e->method_count; i++)
        text_add(&names, "%s%s", i ? ", " : "", e->methods[i].name);
    int err = names.failed ? SPH_EMEMORY
                           : node_fail(key, NULL, "unknown method '%.*s'; the methods are %s", (int)length,
                                       name, names.chars);
    text_free(&names);
    return err;
}

/* What follows the section, or the method, in a key of --set. */
static const char *tail_of(const char *key)
{
    const char *dot = strncmp(key, "methods.", 8) ? strchr(key, '.') : strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* methods.NAME.KEY: names may have dots in them, keys have none. */
static int set_in_method(struct sph_experiment *e, struct node key, struct node tail, struct node value)
{
    const char *name = node_text(key) + strlen("methods."), *dot = strrchr(name, '.');
    if (!dot)
        return node_fail(key, NULL, "expected methods.NAME.KEY");
    int found = experiment_find_method(e, name, (size_t)(dot - name));
    if (found < 0)
        return unknown_method(e, key, name, (size_t)(dot - name));
    struct experiment_named *method = &e->methods[found];
    int id = config_key(dot + 1, NULL);
    if (id < 0)
        return config_unknown_key(tail, NULL);
    method->lines[id] = 0;
    return config_value(method->asked, value, (enum option_id)id);
}

/* The key is one of: SECTION.KEY, methods.NAME.KEY, grid.KEY, a key of the top level, or an option's own
 * name. */
static int set_value(struct sph_experiment *e, struct node key, struct node tail, struct node value)
{
    static const char *const sections[] = {"data", "net", "train"};
    const char *text = node_text(key);
    if (!strncmp(text, "methods.", 8))
        return set_in_method(e, key, tail, value);
    e->call.picked |= !strncmp(text, "grid", 4);
    if (!strncmp(text, "grid.", 5))
        return experiment_read_axis(e, tail, value);
    for (size_t i = 0; i < 3; i++)
        if (!strncmp(text, sections[i], strlen(sections[i])) && text[strlen(sections[i])] == '.') {
            int id = config_key(node_text(tail), sections[i]);
            return id < 0 ? config_unknown_key(tail, sections[i])
                          : experiment_set_data_option(e, (enum option_id)id, value);
        }
    int id = option_find(text), section = id == OPTION_DATA || id == OPTION_NET || id == OPTION_RECORD;
    if (id < 0 || config_key(text, "") == id || id == OPTION_OUT ||
        (section && value.at->kind != TREE_TEXT)) /* data={...} is the section */
        return experiment_read_entry(e, key, value);
    return experiment_set_data_option(e, (enum option_id)id, value);
}

/* Nodes move when one is added: they are looked up when all are there. */
static int set_parsed(struct sph_experiment *e, const char *path, struct node_tree *document, const char *key)
{
    const char *texts[] = {key, tail_of(key)};
    struct node nodes[2], value;
    size_t added[2];
    for (int i = 0; i < 2; i++)
        if (node_add_text(document, texts[i], &added[i]) < 0)
            return SPH_EMEMORY;
    value = node_root(path, document);
    value.alone = 1;
    for (int i = 0; i < 2; i++) {
        nodes[i] = value;
        nodes[i].at = node_numbered(path, document, added[i]).at;
    }
    return set_value(e, nodes[0], nodes[1], value);
}

int sph_experiment_set(sph_experiment *experiment, const char *key, const char *value)
{
    NEED(experiment, key, value);
    struct node_tree document;
    char *path = mem_format("--set %s=%s", key, value);
    if (!path)
        return SPH_EMEMORY;
    int err = *value ? node_parse(&document, path, value, strlen(value))
                     : sph_fail_at(SPH_EFORMAT, path, "found nothing, expected a value");
    if (!err) {
        err = set_parsed(experiment, path, &document, key);
        node_tree_free(&document);
    }
    if (err == SPH_EFORMAT && !strcmp(sph_failure()->path, path)) /* what is not YAML has a line */
        err = sph_fail_move(SPH_EARG, path, 0, 0);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- the resolved file */

static int sets(const struct sph_experiment *e, enum option_id id)
{
    for (size_t i = 0; i < e->method_count; i++)
        if (options_given(e->methods[i].asked, id))
            return 1;
    for (size_t i = 0; i < e->grid.count; i++)
        if (e->grid.axes[i].id == id)
            return 1;
    return 0;
}

/* Options in force for all methods, as far as they are known before the data are. */
static int base_in_force(const struct sph_experiment *e, struct job_spec *out)
{
    static const enum option_id not_here[] = {OPTION_PROTOCOL, OPTION_FOLDS, OPTION_FOLD,
                                              OPTION_SEED,     OPTION_OUT,   OPTION_RECORD};
    int err = options_copy(out, e->base);
    if (err < 0)
        return err;
    for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
        options_unset(out, not_here[i]);
    /* reference gives each method constants of its own where the file says nothing: it goes on saying nothing */
    for (enum option_id id = 0; id < OPTION_COUNT && e->base->options.protocol == PROTOCOL_REFERENCE; id++)
        if (!options_given(e->base, id))
            options_unset(out, id);
    if (e->base->options.protocol != PROTOCOL_HOLDOUT && !options_given(e->base, OPTION_VAL))
        options_set_real(out, OPTION_VAL, 0, ORIGIN_DEFAULT);
    int image_net = net_kind((sph_net_kind)e->base->options.net)->make || sets(e, OPTION_NET);
    if (!options_given(e->base, OPTION_WIDTH))
        options_unset(out, OPTION_WIDTH);
    if (image_net && !options_given(e->base, OPTION_HIDDEN))
        options_unset(out, OPTION_HIDDEN);
    return 0;
}

static void write_methods(const struct sph_experiment *e, struct yaml_out *out)
{
    yaml_key(out, "methods");
    yaml_list_block(out);
    for (size_t i = 0; i < e->method_count; i++) {
        const struct experiment_named *method = &e->methods[i];
        yaml_map_block(out);
        yaml_pair(out, "name", method->name);
        for (int id = 0; id < OPTION_COUNT; id++) {
            if (!options_given(method->asked, (enum option_id)id))
                continue;
            yaml_key(out, option_key((enum option_id)id));
            config_write_value(out, method->asked, (enum option_id)id);
        }
        yaml_map_end(out);
    }
    yaml_list_end(out);
}

static void write_seeds(const struct sph_experiment *e, size_t count, struct yaml_out *out)
{
    yaml_key(out, "seeds");
    yaml_list(out);
    for (size_t i = 0; i < count; i++)
        yaml_number(out, e->seeds[i]);
    yaml_list_end(out);
}

static void write_grid(const struct sph_experiment *e, struct yaml_out *out)
{
    if (!e->grid.count)
        return;
    yaml_key(out, "grid");
    yaml_map_block(out);
    for (size_t i = 0; i < e->grid.count; i++) {
        const struct experiment_axis *axis = &e->grid.axes[i];
        yaml_key(out, option_key(axis->id));
        yaml_list(out);
        for (size_t j = 0; j < axis->count; j++)
            config_write_value(out, axis->values[j], axis->id);
        yaml_list_end(out);
    }
    yaml_map_end(out);
}

static int write_trained(const struct sph_experiment *e, const struct job_spec *base, struct yaml_out *out)
{
    if (e->content) {
        yaml_key(out, "content");
        yaml_quoted(out, e->content);
    }
    config_write_section(out, base, "");
    int err = experiment_yaml_data(e, base, out);
    config_write_section(out, base, "net");
    config_write_section(out, base, "train");
    write_methods(e, out);
    yaml_pair(out, "protocol", options_word(e->base, OPTION_PROTOCOL));
    if (experiment_folds(e)) {
        yaml_key(out, "folds");
        yaml_number(out, experiment_folds(e));
    }
    write_seeds(e, e->seed_count, out);
    write_grid(e, out);
    if (e->table.metric)
        yaml_pair(out, "metric", e->table.metric);
    if (e->table.baseline)
        yaml_pair(out, "baseline_method", e->table.baseline);
    yaml_pair(out, "table", e->table.all_points ? "all" : "best");
    if (options_has(e->base, OPTION_RECORD)) {
        yaml_key(out, "record");
        moments_write(out, &e->base->options.record);
    }
    experiment_yaml_figures(e, out);
    experiment_yaml_papers(e, out);
    experiment_yaml_perturb(e, out);
    return err;
}

int experiment_write(const struct sph_experiment *e, const char *dir, char **whole)
{
    struct text text = {0};
    struct yaml_out out;
    struct job_spec base;
    int err = base_in_force(e, &base);
    if (err < 0)
        return err;
    text_add(&text, "# everything needed to repeat this experiment\n");
    yaml_begin(&out, &text);
    yaml_pair(&out, "version", sph_version());
    yaml_pair(&out, "name", e->name);
    if (!experiment_without_jobs(e)) {
        err = write_trained(e, &base, &out);
    } else {
        experiment_yaml_perturb(e, &out);
        write_seeds(e, 1, &out);
        experiment_yaml_figures(e, &out);
    }
    options_free(&base);
    if (!err && dir)
        err = experiment_yaml_directory(e, dir, &out);
    int ended = config_end(&out, &text, whole);
    if (err < 0 && !ended) {
        mem_free(*whole);
        *whole = NULL;
    }
    return err ? err : ended;
}
