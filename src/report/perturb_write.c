/* SPDX-License-Identifier: MIT
 *
 * An experiment that trains nothing, for readers: perturb.txt, perturb.json, a section of the page. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/json.h"
#include "report/perturb_write.h"
#include "report/page_table.h"

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
    struct page_table table;
    int err = page_table_new(&table, result->count, 1 + SPH_PERTURB_METHODS);
    if (err < 0)
        return err;
    page_table_column(&table, 0, "ε", 1);
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        page_table_column(&table, m + 1, result->method[m].name, 1);
    for (size_t i = 0; i < result->count; i++) {
        text_add(page_table_at(&table, i, 0), "%g", result->method[0].after[i].eps);
        for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
            const sph_perturb_plane *plane = &result->method[m].after[i];
            text_add(page_table_at(&table, i, m + 1), "%.3g", shift ? plane->shift : fabs(plane->turn));
        }
    }
    err = report_page_table(report, &table,
                            shift ? "How far φ moves" : "How far the boundary turns, in degrees");
    page_table_free(&table);
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
