/* SPDX-License-Identifier: MIT */
#include "experiment/experiment_perturb.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "experiment/nodes.h"
#include "experiment/table_parts.h"
#include "figure/sheet.h"

/* ---------------------------------------------------------------- the key */

#define PERTURB_KEYS(X)                                                                                      \
    X(EPS, "eps")                                                                                            \
    X(DIM, "dim")                                                                                            \
    X(LENGTH, "length")                                                                                      \
    X(DISTANCE, "distance")
#define PERTURB_KEY_ENUM(id, word) PERTURB_KEY_##id,
#define PERTURB_KEY_WORD(id, word) word,
enum { PERTURB_KEYS(PERTURB_KEY_ENUM) PERTURB_KEY_COUNT };
static const char *const perturb_keys[PERTURB_KEY_COUNT] = {PERTURB_KEYS(PERTURB_KEY_WORD)};

enum { MOST_EPS = 64, MOST_INPUTS = 1000000 };

static int read_real(const char *path, const yaml_node_t *node, const char *what, const char *expected,
                     double *out)
{
    int err = node_check_text(path, node, what, expected);
    if (err < 0)
        return err;
    if (!text_to_double(node_text(node), out) || !isfinite(*out))
        return sph_fail(SPH_EFORMAT, "%s:%zu: %s: found '%s', expected %s", path, node_line(node), what,
                        node_text(node), expected);
    return 0;
}

static int read_eps(struct experiment_perturb *perturb, const char *path, yaml_document_t *document,
                    const yaml_node_t *node)
{
    static const char expected[] = "a list of numbers";
    if (node->type != YAML_SEQUENCE_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: perturb: eps: found %s, expected %s", path, node_line(node),
                        node->type == YAML_MAPPING_NODE ? "a mapping" : "one value", expected);
    const yaml_node_item_t *items = node->data.sequence.items.start;
    size_t count = (size_t)(node->data.sequence.items.top - items);
    if (!count || count > MOST_EPS)
        return sph_fail(SPH_EFORMAT, "%s:%zu: perturb: eps: found %zu numbers, expected 1 to %d", path,
                        node_line(node), count, MOST_EPS);
    mem_free(perturb->eps);
    perturb->count = count;
    if (!(perturb->eps = mem_get(count, sizeof *perturb->eps)))
        return SPH_EMEMORY;
    int err = 0;
    for (size_t i = 0; i < count && !err; i++)
        err = read_real(path, yaml_document_get_node(document, items[i]), "perturb: eps", "a number",
                        &perturb->eps[i]);
    return err;
}

static int read_pair(struct experiment_perturb *perturb, const char *path, yaml_document_t *document, int key,
                     const yaml_node_t *value)
{
    double real;
    int err;
    switch (key) {
    case PERTURB_KEY_EPS:
        return read_eps(perturb, path, document, value);
    case PERTURB_KEY_DIM:
        err = node_check_text(path, value, "perturb: dim", "the number of inputs");
        if (!err && (!text_to_size(node_text(value), &perturb->inputs) || perturb->inputs < 2 ||
                     perturb->inputs > MOST_INPUTS))
            err = sph_fail(SPH_EFORMAT, "%s:%zu: perturb: dim: found '%s', expected 2 to %d inputs", path,
                           node_line(value), node_text(value), MOST_INPUTS);
        return err;
    case PERTURB_KEY_LENGTH:
        err = read_real(path, value, "perturb: length", "the length of the weight, above 0", &real);
        if (!err && real <= 0)
            err = sph_fail(SPH_EFORMAT, "%s:%zu: perturb: length: found '%s', expected a number above 0",
                           path, node_line(value), node_text(value));
        perturb->length = real;
        return err;
    default:
        return read_real(path, value, "perturb: distance", "the boundary's distance from the origin",
                         &perturb->distance);
    }
}

int experiment_read_perturb(struct sph_experiment *e, const char *path, yaml_document_t *document,
                            const yaml_node_t *node)
{
    size_t seen[PERTURB_KEY_COUNT] = {0};
    sph_perturb_opts defaults = sph_perturb_defaults();
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail(SPH_EFORMAT, "%s:%zu: perturb: found %s, expected {eps: [...], dim: 2, ...}", path,
                        node_line(node), node->type == YAML_SEQUENCE_NODE ? "a list" : "one value");
    struct experiment_perturb *perturb = mem_get(1, sizeof *perturb);
    if (!perturb)
        return SPH_EMEMORY;
    *perturb = (struct experiment_perturb){
        .inputs = defaults.inputs, .length = defaults.length, .distance = defaults.distance};
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    int err = 0;
    for (; pair < end && !err; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if ((err = node_check_key(path, key)) < 0)
            break;
        int found =
            node_read_word(path, key, "perturb", perturb_keys, PERTURB_KEY_COUNT, "eps|dim|length|distance");
        if (found < 0)
            err = found;
        else if (seen[found]++)
            err = sph_fail(SPH_EFORMAT, "%s:%zu: perturb: %s stands twice", path, node_line(key),
                           node_text(key));
        else
            err = read_pair(perturb, path, document, found, yaml_document_get_node(document, pair->value));
    }
    if (err < 0) {
        experiment_perturb_free(perturb);
        return err;
    }
    experiment_perturb_free(e->perturb);
    e->perturb = perturb;
    return 0;
}

void experiment_add_perturb(const struct sph_experiment *e, struct text *out)
{
    const struct experiment_perturb *perturb = e->perturb;
    if (!perturb)
        return;
    text_add(out, "perturb: {");
    for (size_t i = 0; i < perturb->count; i++) {
        text_add(out, i ? ", " : "eps: [");
        table_add_exact(out, perturb->eps[i]);
    }
    text_add(out, "%sdim: %zu, length: ", perturb->count ? "], " : "", perturb->inputs);
    table_add_exact(out, perturb->length);
    text_add(out, ", distance: ");
    table_add_exact(out, perturb->distance);
    text_add(out, "}\n");
}

void experiment_perturb_free(struct experiment_perturb *perturb)
{
    if (perturb)
        mem_free(perturb->eps);
    mem_free(perturb);
}

int experiment_without_jobs(const struct sph_experiment *e)
{
    return e->perturb && !e->base->text[OPTION_DATA] && !e->method_count;
}

/* ---------------------------------------------------------------- the numbers */

int experiment_perturb(const struct sph_experiment *e, sph_perturb_result *out)
{
    sph_perturb_opts opts = sph_perturb_defaults();
    const struct experiment_perturb *perturb = e ? e->perturb : NULL;
    opts.seed = e ? e->seeds[0] : 0;
    if (perturb) {
        opts.inputs = perturb->inputs;
        opts.length = perturb->length;
        opts.distance = perturb->distance;
    }
    if (perturb && perturb->eps) {
        opts.eps = perturb->eps;
        opts.count = perturb->count;
    }
    return sph_perturb(out, &opts);
}

static void add_table(struct text *out, const struct sph_experiment *e, const sph_perturb_result *result)
{
    text_add(out,
             "%s: one unit with %zu inputs, eps added to each of its learned numbers\n\n"
             "turn of its boundary in degrees\n%-10s",
             e->name, result->inputs, "eps");
    for (int shift = 0; shift < 2; shift++) {
        if (shift)
            text_add(out, "\nshift of phi\n%-10s", "eps");
        for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
            text_add(out, " %10s", result->method[m].name);
        text_add(out, "\n");
        for (size_t i = 0; i < result->count; i++) {
            text_add(out, "%-10.4g", result->method[0].after[i].eps);
            for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
                const sph_perturb_plane *plane = &result->method[m].after[i];
                text_add(out, " %10.4g", shift ? plane->shift : fabs(plane->turn));
            }
            text_add(out, "\n");
        }
    }
}

static json_t *plane_to_json(const sph_perturb_plane *plane, size_t n)
{
    json_t *object = json_object();
    int failed = json_object_set_new(object, "eps", json_number(plane->eps));
    failed |= json_object_set_new(object, "w", json_numbers(plane->w, n));
    failed |= json_object_set_new(object, "b", json_number(plane->b));
    failed |= json_object_set_new(object, "phi", json_numbers(plane->phi, n));
    failed |= json_object_set_new(object, "turn", json_number(plane->turn));
    failed |= json_object_set_new(object, "shift", json_number(plane->shift));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *method_to_json(const sph_perturb_method *method, size_t n, size_t count)
{
    json_t *object = json_object(), *after = json_array(), *tensors = json_object();
    int failed = json_object_set_new(object, "name", json_string(method->name));
    failed |= json_object_set_new(object, "unit", json_string(method->unit));
    for (size_t i = 0; i < method->tensors; i++)
        failed |= json_object_set_new(tensors, method->tensor[i].name,
                                      json_numbers(method->tensor[i].value, method->tensor[i].count));
    for (size_t i = 0; i < count; i++)
        failed |= json_array_append_new(after, plane_to_json(&method->after[i], n));
    failed |= json_object_set_new(object, "parameters", tensors);
    failed |= json_object_set_new(object, "base", plane_to_json(&method->base, n));
    failed |= json_object_set_new(object, "after", after);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static int write_json(const struct sph_experiment *e, const char *path, const sph_perturb_result *result)
{
    json_t *object = json_object(), *methods = json_array();
    int failed = json_object_set_new(object, "name", json_string(e->name));
    failed |= json_object_set_new(object, "version", json_string(sph_version()));
    failed |= json_object_set_new(object, "inputs", json_integer((json_int_t)result->inputs));
    failed |= json_object_set_new(object, "seed", json_integer((json_int_t)e->seeds[0]));
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        failed |=
            json_array_append_new(methods, method_to_json(&result->method[m], result->inputs, result->count));
    failed |= json_object_set_new(object, "methods", methods);
    int err = failed ? sph_fail(SPH_EMEMORY, EXPERIMENT_PERTURB_JSON ": out of memory")
                     : json_write(path, object, 2);
    json_decref(object);
    return err;
}

int experiment_write_perturb(const struct sph_experiment *e, const char *dir)
{
    sph_perturb_result result;
    struct text table = {0};
    int err = experiment_perturb(e, &result);
    if (err < 0)
        return err;
    char *text = file_join(dir, EXPERIMENT_PERTURB_TEXT), *json = file_join(dir, EXPERIMENT_PERTURB_JSON);
    add_table(&table, e, &result);
    if (!text || !json || table.failed)
        err = SPH_EMEMORY;
    if (!err)
        err = write_json(e, json, &result);
    if (!err)
        err = file_replace_with(text, table.chars, table.length);
    mem_free(json);
    mem_free(text);
    text_free(&table);
    sph_perturb_free(&result);
    return err;
}

/* ---------------------------------------------------------------- in the report */

static int add_sheet(struct report *report, const sph_perturb_result *result, int shift)
{
    struct sheet sheet;
    int err = sheet_new(&sheet, result->count, 1 + SPH_PERTURB_METHODS);
    if (err < 0)
        return err;
    sheet_column(&sheet, 0, "ε", 1);
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        sheet_column(&sheet, m + 1, result->method[m].name, 1);
    for (size_t i = 0; i < result->count; i++) {
        text_add(sheet_at(&sheet, i, 0), "%g", result->method[0].after[i].eps);
        for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
            const sph_perturb_plane *plane = &result->method[m].after[i];
            text_add(sheet_at(&sheet, i, m + 1), "%.3g", shift ? plane->shift : fabs(plane->turn));
        }
    }
    err = report_sheet(report, &sheet, shift ? "How far φ moves" : "How far the boundary turns, in degrees");
    sheet_free(&sheet);
    return err;
}

int experiment_report_perturb(const struct sph_experiment *e, struct report *report)
{
    sph_perturb_result result;
    int err = experiment_perturb(e, &result);
    if (err < 0)
        return err;
    char *words = mem_format(
        "One unit with %zu inputs under five parameterizations, all with the same boundary at first; "
        "then ε is added to each of its learned numbers.",
        result.inputs);
    report_section(report, "Under a perturbation");
    if (words)
        report_paragraph(report, words);
    else
        err = SPH_EMEMORY;
    for (int shift = 0; shift < 2 && !err; shift++)
        err = add_sheet(report, &result, shift);
    mem_free(words);
    sph_perturb_free(&result);
    return err;
}
