/* SPDX-License-Identifier: MIT
 *
 * The handle of an experiment: opened from a file, changed by --set, written resolved. */
#include "compare/experiment.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/config.h"
#include "compare/perturb.h"
#include "job/moments.h"
#include "job/nodes.h"

int experiment_open(sph_experiment **out, const char *path, const struct figure_kinds *kinds)
{
    yaml_document_t document;
    sph_experiment *e = mem_get(1, sizeof *e);
    *out = NULL;
    if (!e)
        return SPH_EMEMORY;
    e->kinds = kinds;
    int err = SPH_EMEMORY;
    if (!(e->path = mem_text(path)) || !(e->seeds = mem_get(1, sizeof *e->seeds)))
        goto out;
    e->seed_count = 1;
    if ((err = sph_job_new(&e->base)) < 0 || (err = config_load(&document, e->path)) < 0)
        goto out;
    err = experiment_read(e, &document);
    yaml_document_delete(&document);
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
    for (size_t i = 0; i < e->method_count; i++) {
        mem_free(e->methods[i].name);
        mem_free(e->methods[i].folder);
        sph_job_free(e->methods[i].job);
    }
    for (size_t i = 0; i < e->axis_count; i++) {
        for (size_t j = 0; j < e->axes[i].count; j++)
            mem_free(e->axes[i].values[j]);
        mem_free(e->axes[i].values);
    }
    experiment_list_free(e->listed, e->listed_count);
    mem_free(e->listed_seconds);
    mem_free(e->methods);
    mem_free(e->axes);
    mem_free(e->seeds);
    mem_free(e->metric);
    mem_free(e->content);
    mem_free(e->figures);
    experiment_papers_free(e);
    experiment_perturb_free(e->perturb);
    mem_free(e->name);
    mem_free(e->path);
    sph_job_free(e->base);
    mem_free(e);
}

const char *sph_experiment_name(const sph_experiment *e)
{
    return e->name;
}

/* ---------------------------------------------------------------- --set */

static struct experiment_method *find_method(struct sph_experiment *e, const char *name, size_t length)
{
    for (size_t i = 0; i < e->method_count; i++)
        if (strlen(e->methods[i].name) == length && !memcmp(e->methods[i].name, name, length))
            return &e->methods[i];
    return NULL;
}

static int unknown_method(const struct sph_experiment *e, const char *path, const char *name, size_t length)
{
    struct text names = {0};
    for (size_t i = 0; i < e->method_count; i++)
        text_add(&names, "%s%s", i ? ", " : "", e->methods[i].name);
    int err = names.failed ? SPH_EMEMORY
                           : sph_fail_line(SPH_EFORMAT, path, 1, "no method '%.*s'; there are %s",
                                           (int)length, name, names.chars);
    text_free(&names);
    return err;
}

/* What follows the section, or the method, in a key of --set. */
static const char *tail_of(const char *key)
{
    const char *dot = strncmp(key, "methods.", 8) ? strchr(key, '.') : strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* The nodes of one --set. */
struct change {
    const char *path;
    yaml_document_t *document;
    yaml_node_t *key, *tail, *value;
};

/* methods.NAME.KEY: names may have dots in them, keys have none. */
static int set_in_method(struct sph_experiment *e, const struct change *c)
{
    const char *name = node_text(c->key) + strlen("methods."), *dot = strrchr(name, '.');
    if (!dot)
        return sph_fail_line(SPH_EFORMAT, c->path, 1, "expected methods.NAME.KEY");
    struct experiment_method *method = find_method(e, name, (size_t)(dot - name));
    if (!method)
        return unknown_method(e, c->path, name, (size_t)(dot - name));
    int id = config_key(dot + 1, NULL);
    if (id < 0)
        return config_unknown_key(c->path, c->tail, NULL);
    method->lines[id] = 0;
    return config_value(method->job, c->path, c->document, c->value, (enum option_id)id);
}

static int set_in_section(struct sph_experiment *e, const struct change *c, const char *section)
{
    int id = config_key(node_text(c->tail), section);
    if (id < 0)
        return config_unknown_key(c->path, c->tail, section);
    e->lines[id] = 0;
    return config_value(e->base, c->path, c->document, c->value, (enum option_id)id);
}

/* The key is one of: SECTION.KEY, methods.NAME.KEY, grid.KEY, a key of the top level, or an option's own
 * name. */
static int set_value(struct sph_experiment *e, const struct change *c)
{
    static const char *const sections[] = {"data.", "net.", "train."};
    static const char *const names[] = {"data", "net", "train"};
    const char *key = node_text(c->key);
    if (!strncmp(key, "methods.", 8))
        return set_in_method(e, c);
    if (!strncmp(key, "grid.", 5))
        return experiment_read_axis(e, c->path, c->document, c->tail, c->value);
    for (size_t i = 0; i < 3; i++)
        if (!strncmp(key, sections[i], strlen(sections[i])))
            return set_in_section(e, c, names[i]);
    int id = option_find(key), plain = c->value->type == YAML_SCALAR_NODE;
    if (id < 0 || config_key(key, "") == id || id == OPTION_OUT ||
        (!plain &&
         (id == OPTION_DATA || id == OPTION_NET || id == OPTION_RECORD))) /* data={...} is the section */
        return experiment_read_entry(e, c->path, c->document, c->key, c->value);
    e->lines[id] = 0;
    return config_value(e->base, c->path, c->document, c->value, (enum option_id)id);
}

/* "--set key=value:1: what is wrong" without the line of a file that is none. */
static int without_line(int err, const char *path)
{
    return err == SPH_EFORMAT && !strcmp(sph_failure()->path, path) ? sph_fail_move(SPH_EARG, path, 0, 0)
                                                                    : err;
}

/* Nodes move when one is added: they are looked up when all are there. */
static int set_parsed(struct sph_experiment *e, const char *path, yaml_document_t *document, const char *key)
{
    const char *tail = tail_of(key);
    int whole = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)key, (int)strlen(key),
                                         YAML_PLAIN_SCALAR_STYLE);
    int last = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)tail, (int)strlen(tail),
                                        YAML_PLAIN_SCALAR_STYLE);
    if (!whole || !last)
        return sph_fail(SPH_EMEMORY, "out of memory");
    return set_value(e, &(struct change){path, document, yaml_document_get_node(document, whole),
                                         yaml_document_get_node(document, last),
                                         yaml_document_get_root_node(document)});
}

int sph_experiment_set(sph_experiment *e, const char *key, const char *value)
{
    yaml_document_t document;
    char *path = mem_format("--set %s=%s", key, value);
    if (!path)
        return SPH_EMEMORY;
    int err = *value ? node_parse(&document, path, value, strlen(value))
                     : sph_fail_line(SPH_EFORMAT, path, 1, "found nothing, expected a value");
    if (!err) {
        err = set_parsed(e, path, &document, key);
        yaml_document_delete(&document);
    }
    err = without_line(err, path);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- the resolved file */

static int sets(const struct sph_experiment *e, enum option_id id)
{
    for (size_t i = 0; i < e->method_count; i++)
        if (e->methods[i].job->given[id])
            return 1;
    for (size_t i = 0; i < e->axis_count; i++)
        if (e->axes[i].id == id)
            return 1;
    return 0;
}

/* Options in force for all methods, as far as they are known before the data are. */
static int resolved_base(const struct sph_experiment *e, struct sph_job **out)
{
    static const enum option_id not_here[] = {OPTION_PROTOCOL, OPTION_FOLDS, OPTION_FOLD,
                                              OPTION_SEED,     OPTION_OUT,   OPTION_RECORD};
    struct sph_job *job;
    int err = sph_job_new(&job);
    if (err < 0)
        return err;
    err = options_adopt(job, e->base);
    for (size_t i = 0; i < sizeof not_here / sizeof *not_here && !err; i++)
        err = options_put(job, not_here[i], NULL);
    if (!err && e->base->options.protocol != PROTOCOL_HOLDOUT && !e->base->given[OPTION_VAL])
        err = options_put(job, OPTION_VAL, "0");
    int image_net = job->options.net != NET_MLP || sets(e, OPTION_NET);
    if (!err && !e->base->given[OPTION_WIDTH])
        err = options_put(job, OPTION_WIDTH, NULL);
    if (!err && image_net && !e->base->given[OPTION_HIDDEN])
        err = options_put(job, OPTION_HIDDEN, NULL);
    if (err < 0) {
        sph_job_free(job);
        return err;
    }
    *out = job;
    return 0;
}

static void add_methods(const struct sph_experiment *e, struct text *out)
{
    text_add(out, "methods:\n");
    for (size_t i = 0; i < e->method_count; i++) {
        const struct experiment_method *method = &e->methods[i];
        text_add(out, "  - name: ");
        config_add_text(out, method->name);
        text_add(out, "\n");
        for (int id = 0; id < OPTION_COUNT; id++) {
            if (!method->job->given[id])
                continue;
            text_add(out, "    %s: ", option_key((enum option_id)id));
            config_add_value(out, method->job, (enum option_id)id);
            text_add(out, "\n");
        }
    }
}

static int add_grid(const struct sph_experiment *e, struct text *out)
{
    struct sph_job *scratch = NULL;
    int err = e->axis_count ? sph_job_new(&scratch) : 0;
    if (e->axis_count)
        text_add(out, "grid:\n");
    for (size_t i = 0; i < e->axis_count && !err; i++) {
        const struct experiment_axis *axis = &e->axes[i];
        text_add(out, "  %s: [", option_key(axis->id));
        for (size_t j = 0; j < axis->count && !err; j++) {
            if ((err = options_put(scratch, axis->id, axis->values[j])) < 0)
                break;
            text_add(out, j ? ", " : "");
            config_add_value(out, scratch, axis->id);
        }
        text_add(out, "]\n");
    }
    sph_job_free(scratch);
    return err;
}

static int add_record(const struct sph_job *base, struct text *out)
{
    struct moments_list moments;
    if (!base->options.record)
        return 0;
    int err = moments_read(&moments, base->options.record);
    if (err < 0)
        return err;
    text_add(out, "record: ");
    moments_add_yaml(out, &moments);
    text_add(out, "\n");
    moments_free(&moments);
    return 0;
}

static int write_without_jobs(const struct sph_experiment *e, char **text)
{
    struct text out = {0};
    text_add(&out, "# everything needed to repeat this experiment\nversion: ");
    config_add_text(&out, sph_version());
    text_add(&out, "\nname: ");
    config_add_text(&out, e->name);
    text_add(&out, "\n");
    experiment_add_perturb(e, &out);
    text_add(&out, "seeds: [%llu]\n", (unsigned long long)e->seeds[0]);
    if (e->figures)
        text_add(&out, "figures: %s\n", e->figures);
    if (out.failed) {
        text_free(&out);
        return SPH_EMEMORY;
    }
    *text = out.chars;
    return 0;
}

int experiment_write(const struct sph_experiment *e, char **text)
{
    if (experiment_without_jobs(e))
        return write_without_jobs(e, text);
    struct text out = {0};
    struct sph_job *base = NULL;
    const struct sph_job *given = e->base;
    int err = resolved_base(e, &base);
    if (err < 0)
        return err;
    text_add(&out, "# everything needed to repeat this experiment\nversion: ");
    config_add_text(&out, sph_version());
    text_add(&out, "\nname: ");
    config_add_text(&out, e->name);
    text_add(&out, "\n");
    if (e->content)
        text_add(&out, "content: \"%s\"\n", e->content);
    config_add_section(&out, base, "");
    config_add_section(&out, base, "data");
    config_add_section(&out, base, "net");
    config_add_section(&out, base, "train");
    add_methods(e, &out);
    text_add(&out, "protocol: %s\n", given->text[OPTION_PROTOCOL]);
    if (experiment_folds(e))
        text_add(&out, "folds: %zu\n", experiment_folds(e));
    text_add(&out, "seeds: [");
    for (size_t i = 0; i < e->seed_count; i++)
        text_add(&out, "%s%llu", i ? ", " : "", (unsigned long long)e->seeds[i]);
    text_add(&out, "]\n");
    err = add_grid(e, &out);
    if (e->metric)
        text_add(&out, "metric: %s\n", e->metric);
    text_add(&out, "table: %s\n", e->all_points ? "all" : "best");
    if (!err)
        err = add_record(given, &out);
    if (e->figures)
        text_add(&out, "figures: %s\n", e->figures);
    experiment_add_papers(e, &out);
    experiment_add_perturb(e, &out);
    sph_job_free(base);
    if (!err && out.failed)
        err = SPH_EMEMORY;
    if (err < 0) {
        text_free(&out);
        return err;
    }
    *text = out.chars;
    return 0;
}
