/* SPDX-License-Identifier: MIT */
#include "compare/perturbed_unit.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "param/param.h"

/* ---------------------------------------------------------------- the key */

#define PERTURB_KEYS(X)                                                                                      \
    X(EPS, "eps")                                                                                            \
    X(DIM, "dim")                                                                                            \
    X(LENGTH, "length")                                                                                      \
    X(DISTANCE, "distance")                                                                                  \
    X(WEIGHT, "weight")
#define PERTURB_KEY_ENUM(id, word) PERTURB_KEY_##id,
#define PERTURB_KEY_WORD(id, word) word,
enum { PERTURB_KEYS(PERTURB_KEY_ENUM) PERTURB_KEY_COUNT };
static const char *const perturb_keys[PERTURB_KEY_COUNT] = {PERTURB_KEYS(PERTURB_KEY_WORD)};

enum { MOST_EPS = 64, MOST_WEIGHTS = 1024, MOST_INPUTS = 1000000 };

static int read_real(struct node node, const char *what, const char *expected, double *out)
{
    int err = node_check_text(node, what, expected);
    if (!err && (!text_to_double(node_text(node), out) || !isfinite(*out)))
        err = node_fail(node, what, "found '%s', expected %s", node_text(node), expected);
    return err;
}

static int read_list(struct node list, const char *key, size_t least, size_t most, double **out,
                     size_t *out_count)
{
    size_t count = node_count(list);
    if (!node_is_list(list))
        return node_fail(list, key, "found %s, expected a list of numbers", node_shape(list));
    if (count < least || count > most)
        return node_fail(list, key, "found %zu numbers, expected %zu to %zu", count, least, most);
    mem_free(*out);
    *out_count = count;
    if (!(*out = mem_get(count, sizeof **out)))
        return SPH_EMEMORY;
    int err = 0;
    for (size_t i = 0; i < count && !err; i++)
        err = read_real(node_item(list, i), key, "a number", &(*out)[i]);
    return err;
}

static int read_value(struct experiment_perturb *perturb, int key, struct node value)
{
    int err;
    switch (key) {
    case PERTURB_KEY_EPS:
        return read_list(value, "eps", 1, MOST_EPS, &perturb->eps, &perturb->count);
    case PERTURB_KEY_WEIGHT:
        err = read_list(value, "weight", 2, MOST_WEIGHTS, &perturb->weight, &perturb->inputs);
        if (!err && !(param_length(perturb->inputs, perturb->weight) > 0))
            err = node_fail(value, "weight",
                            "the weight is 0, so the unit has no boundary; use at least one other value");
        return err;
    case PERTURB_KEY_DIM:
        err = node_check_text(value, "dim", "the number of inputs");
        if (!err && (!text_to_size(node_text(value), &perturb->inputs) || perturb->inputs < 2 ||
                     perturb->inputs > MOST_INPUTS))
            err =
                node_fail(value, "dim", "found '%s', expected 2 to %d inputs", node_text(value), MOST_INPUTS);
        return err;
    case PERTURB_KEY_LENGTH:
        err = read_real(value, "length", "the length of the weight, above 0", &perturb->length);
        if (!err && perturb->length <= 0)
            err = node_fail(value, "length", "found '%s', expected a number above 0", node_text(value));
        return err;
    default:
        return read_real(value, "distance", "the boundary's distance from the origin", &perturb->distance);
    }
}

int experiment_read_perturb(struct sph_experiment *e, struct node node)
{
    size_t seen[PERTURB_KEY_COUNT] = {0};
    sph_perturb_opts defaults;
    sph_perturb_defaults(&defaults);
    int err = node_check_map(node, "perturb", "{eps: [...], dim: 2, ...}");
    if (err < 0)
        return err;
    struct experiment_perturb *perturb = mem_get(1, sizeof *perturb);
    if (!perturb)
        return SPH_EMEMORY;
    *perturb = (struct experiment_perturb){
        .inputs = defaults.inputs, .length = defaults.length, .distance = defaults.distance};
    for (size_t i = 0; !err && i < node_count(node); i++) {
        struct node key = node_key(node, i);
        if ((err = node_check_key(key)) < 0)
            break;
        int found =
            node_read_word(key, "perturb", perturb_keys, PERTURB_KEY_COUNT, "eps|dim|length|distance|weight");
        if (found < 0)
            err = found;
        else if (seen[found]++)
            err = node_fail(key, "perturb", "%s is given twice", node_text(key));
        else
            err = read_value(perturb, found, node_value(node, i));
    }
    if (!err && seen[PERTURB_KEY_WEIGHT] && (seen[PERTURB_KEY_DIM] || seen[PERTURB_KEY_LENGTH]))
        err = node_fail(node, "weight", "cannot be combined with dim or length; remove %s",
                        seen[PERTURB_KEY_DIM] ? "dim" : "length");
    if (err < 0) {
        experiment_perturb_free(perturb);
        return err;
    }
    experiment_perturb_free(e->perturb);
    e->perturb = perturb;
    return 0;
}

static void write_list(struct yaml_out *out, const char *key, const double *values, size_t count)
{
    yaml_key(out, key);
    yaml_list(out);
    for (size_t i = 0; i < count; i++)
        yaml_real(out, values[i]);
    yaml_list_end(out);
}

void experiment_yaml_perturb(const struct sph_experiment *e, struct yaml_out *out)
{
    const struct experiment_perturb *perturb = e->perturb;
    if (!perturb)
        return;
    yaml_key(out, "perturb");
    yaml_map(out);
    if (perturb->count)
        write_list(out, "eps", perturb->eps, perturb->count);
    if (perturb->weight) {
        write_list(out, "weight", perturb->weight, perturb->inputs);
    } else {
        yaml_key(out, "dim");
        yaml_number(out, perturb->inputs);
        yaml_key(out, "length");
        yaml_real(out, perturb->length);
    }
    yaml_key(out, "distance");
    yaml_real(out, perturb->distance);
    yaml_map_end(out);
}

void experiment_perturb_free(struct experiment_perturb *perturb)
{
    if (perturb) {
        mem_free(perturb->eps);
        mem_free(perturb->weight);
    }
    mem_free(perturb);
}

int experiment_without_jobs(const struct sph_experiment *e)
{
    return e->perturb && !options_has(e->base, OPTION_DATA) && !e->set_count && !e->method_count;
}

/* ---------------------------------------------------------------- the numbers */

int experiment_perturb(const struct sph_experiment *e, sph_perturb_result *out)
{
    sph_perturb_opts opts;
    sph_perturb_defaults(&opts);
    const struct experiment_perturb *perturb = e ? e->perturb : NULL;
    opts.seed = e ? e->seeds[0] : 0;
    if (perturb) {
        opts.inputs = perturb->inputs;
        opts.w = perturb->weight;
        opts.length = perturb->length;
        opts.distance = perturb->distance;
    }
    if (perturb && perturb->eps) {
        opts.eps = perturb->eps;
        opts.count = perturb->count;
    }
    return sph_perturb(out, &opts);
}
