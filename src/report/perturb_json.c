/* SPDX-License-Identifier: MIT
 *
 * A perturbed unit for programs: of an experiment, and of `spherelu perturb` with its checks. */
#include "report/perturb_json.h"

#include "base/error.h"

/* The object, or NULL where it could not be filled. */
static json_t *whole(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *plane_to_json(const sph_perturb_plane *plane, size_t n)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "eps", json_number(plane->eps));
    bad |= json_object_set_new(object, "w", json_numbers(plane->w, n));
    bad |= json_object_set_new(object, "b", json_number(plane->b));
    bad |= json_object_set_new(object, "phi", json_numbers(plane->phi, n));
    bad |= json_object_set_new(object, "turn", json_number(plane->turn));
    bad |= json_object_set_new(object, "shift", json_number(plane->shift));
    return whole(object, bad);
}

static json_t *method_to_json(const sph_perturb_result *result, const sph_perturb_method *method)
{
    json_t *object = json_object(), *base = json_object(), *perturbed = json_array(), *after = json_array();
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
    bad |= json_object_set_new(object, "name", json_string(method->name));
    bad |= json_object_set_new(object, "unit", json_string(method->unit));
    bad |= json_object_set_new(object, "base", base);
    bad |= json_object_set_new(object, "perturbed", perturbed);
    bad |= json_object_set_new(object, "boundary", plane_to_json(&method->base, result->inputs));
    bad |= json_object_set_new(object, "after", after);
    return whole(object, bad);
}

static json_t *methods_to_json(const sph_perturb_result *result)
{
    json_t *methods = json_array();
    int bad = 0;
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        bad |= json_array_append_new(methods, method_to_json(result, &result->method[m]));
    return whole(methods, bad);
}

json_t *perturb_to_json(const char *name, const sph_perturb_result *result, uint64_t seed)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "name", json_words(name));
    bad |= json_object_set_new(object, "version", json_string(sph_version()));
    bad |= json_object_set_new(object, "inputs", json_integer((json_int_t)result->inputs));
    bad |= json_object_set_new(object, "seed", json_integer((json_int_t)seed));
    bad |= json_object_set_new(object, "methods", methods_to_json(result));
    return whole(object, bad);
}

static json_t *check_to_json(const sph_theory_row *row)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "check", json_string(row->check));
    bad |= json_object_set_new(object, "inputs",
                               row->inputs ? json_integer((json_int_t)row->inputs) : json_null());
    bad |= json_object_set_new(object, "cases", json_integer((json_int_t)row->tries));
    bad |= json_object_set_new(object, "measured", json_string(row->measured));
    bad |= json_object_set_new(object, "expected", json_string(row->expected));
    bad |= json_object_set_new(object, "value", json_number(row->value));
    bad |= json_object_set_new(object, "least", json_number(row->least));
    bad |= json_object_set_new(object, "most", json_number(row->most));
    bad |= json_object_set_new(object, "passed", json_boolean(row->passed));
    return whole(object, bad);
}

static json_t *checks_to_json(const sph_theory_result *theory)
{
    json_t *checks = json_array();
    int bad = 0;
    for (size_t i = 0; i < theory->count; i++)
        bad |= json_array_append_new(checks, check_to_json(&theory->row[i]));
    return whole(checks, bad);
}

int sph_perturb_json(const sph_perturb_result *result, const sph_perturb_opts *opts,
                     const sph_theory_result *theory, const sph_sink *sink)
{
    struct text out = {0};
    json_t *object = json_object();
    int bad = json_object_set_new(object, "inputs", json_integer((json_int_t)result->inputs));
    bad |= json_object_set_new(object, "distance", json_number(opts->distance));
    bad |= json_object_set_new(object, "rows", json_integer((json_int_t)opts->rows));
    bad |= json_object_set_new(object, "units", json_integer((json_int_t)opts->units));
    bad |= json_object_set_new(object, "seed", json_integer((json_int_t)opts->seed));
    bad |= json_object_set_new(object, "eps", json_numbers(opts->eps, opts->count));
    bad |= json_object_set_new(object, "methods", methods_to_json(result));
    bad |= json_object_set_new(object, "checks", checks_to_json(theory));
    bad |= json_object_set_new(object, "failed", json_integer((json_int_t)theory->failed));
    bad |= json_object_set_new(object, "version", json_string(sph_version()));
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory: the perturbed unit") : 0;
    if (!err && !(err = json_print(&out, object, JSON_LINE)))
        err = sink->write(sink->self, out.chars, out.length);
    json_decref(object);
    text_free(&out);
    return err;
}
