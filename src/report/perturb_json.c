/* SPDX-License-Identifier: MIT
 *
 * A perturbed unit as JSON: for an experiment, and for `spherelu perturb` with its checks. */
#include "base/error.h"
#include "boundary/tool.h"
#include "report/show.h"
#include "report/tables.h"
#include "report/tool.h"

static json_t *plane_to_json(const sph_perturb_plane *plane, size_t n)
{
    return JSON_OF({"eps", json_number(plane->eps)}, {"w", json_numbers(plane->w, n)},
                   {"b", json_number(plane->b)}, {"phi", json_numbers(plane->phi, n)},
                   {"turn", json_number(plane->turn)}, {"shift", json_number(plane->shift)});
}

static json_t *method_to_json(const sph_perturb_result *result, const sph_perturb_method *method)
{
    json_t *base = json_object(), *perturbed = json_array(), *after = json_array();
    int bad = 0;
    for (size_t t = 0; t < method->tensors; t++) {
        const sph_perturb_tensor *tensor = &method->tensor[t];
        bad |= json_object_set_new(base, tensor->name,
                                   tensor->count == 1 ? json_number(*tensor->value)
                                                      : json_numbers(tensor->value, tensor->count));
        if (tensor->perturbed)
            bad |= json_array_append_new(perturbed, json_string(tensor->name));
    }
    for (size_t i = 0; i < result->count; i++)
        bad |= json_array_append_new(after, plane_to_json(&method->after[i], result->inputs));
    return json_whole(JSON_OF({"name", json_string(method->name)}, {"unit", json_string(method->unit)},
                              {"base", base}, {"perturbed", perturbed},
                              {"boundary", plane_to_json(&method->base, result->inputs)}, {"after", after}),
                      bad);
}

static json_t *methods_to_json(const sph_perturb_result *result)
{
    json_t *methods = json_array();
    int bad = 0;
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        bad |= json_array_append_new(methods, method_to_json(result, &result->method[m]));
    return json_whole(methods, bad);
}

json_t *perturb_to_json(const char *name, const sph_perturb_result *result, uint64_t seed)
{
    return JSON_OF({"name", json_words(name)}, {"version", json_string(sph_version())},
                   {"inputs", json_count(result->inputs)}, {"seed", json_count(seed)},
                   {"methods", methods_to_json(result)});
}

static json_t *check_to_json(const sph_theory_row *row)
{
    return JSON_OF({"check", json_string(row->check)},
                   {"inputs", row->inputs ? json_count(row->inputs) : json_null()},
                   {"cases", json_count(row->tries)}, {"measured", json_string(row->measured)},
                   {"expected", json_string(row->expected)}, {"value", json_number(row->value)},
                   {"least", json_number(row->least)}, {"most", json_number(row->most)},
                   {"passed", json_boolean(row->passed)});
}

static json_t *checks_to_json(const sph_theory_result *theory)
{
    json_t *checks = json_array();
    int bad = 0;
    for (size_t i = 0; i < theory->count; i++)
        bad |= json_array_append_new(checks, check_to_json(&theory->row[i]));
    return json_whole(checks, bad);
}

int sph_perturb_json(const sph_perturb_result *result, const sph_perturb_opts *opts,
                     const sph_theory_result *theory, const sph_sink *sink)
{
    return show_json(JSON_OF({"inputs", json_count(result->inputs)},
                             {"distance", json_number(opts->distance)}, {"rows", json_count(opts->rows)},
                             {"units", json_count(opts->units)}, {"seed", json_count(opts->seed)},
                             {"eps", json_numbers(opts->eps, opts->count)},
                             {"methods", methods_to_json(result)}, {"checks", checks_to_json(theory)},
                             {"failed", json_count(theory->failed)}, {"version", json_string(sph_version())}),
                     sink);
}
