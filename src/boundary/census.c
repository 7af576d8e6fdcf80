/* SPDX-License-Identifier: MIT */
#include "boundary/census.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "boundary/watch.h"

/* A layer asked about, and the copies beside it. */
struct site {
    size_t layer;
    int probe; /* node of the copy without activation; its z decides what is active       */
    int ruler; /* per sample: node that puts out w x + b, which z is not; -1: z less its break is */
    struct hyperplanes ruled; /* per sample: what the ruler measures */
    double *break_at;         /* (m) where the activation breaks first; NULL: at 0 */
    struct census_layer *count;
};

struct taking {
    const sph_net *net; /* borrowed */
    sph_net *wide;      /* the net with the copies */
    struct site *site;  /* (count) */
    size_t count;
};

/* ---------------------------------------------------------------- the net with the copies */

static struct site *find_site(struct taking *taking, const struct net_node *node)
{
    if (node->kind == NODE_DENSE || node->kind == NODE_CONV)
        for (size_t i = 0; i < taking->count; i++)
            if (taking->site[i].layer == node->layer)
                return &taking->site[i];
    return NULL;
}

static void name_copy(char *path, size_t size, const char *what, size_t layer)
{
    snprintf(path, size, "%s of %zu", what, layer);
}

/* The copies stand before the layer: the net's output stays its last node. */
static int add_copies(struct taking *taking, struct site *site, const struct net_node *node, const int in[2])
{
    const struct net_layer *layer = &taking->net->layers[site->layer];
    char path[48];
    sph_layer spec = layer->spec;
    name_copy(path, sizeof path, "probe", site->layer);
    spec.path = path;
    spec.act = SPH_ACT_IDENTITY;
    spec.signs = 0;
    if (layer->norm->at_output) /* behind what is probed */
        spec.norm = SPH_NORM_NONE;
    site->ruler = -1;
    site->probe = net_add_like(taking->wide, node, in, &spec);
    if (site->probe < 0 || !layer->norm->per_sample)
        return site->probe < 0 ? site->probe : 0;
    if (node_pixels(node) > 1 || layer_groups(layer) > 1) /* no hyperplane to measure then */
        return 0;
    int err = hyperplanes_new(&site->ruled, taking->net, site->layer);
    if (err < 0)
        return err;
    spec.param = SPH_PARAM_SP;
    spec.norm = SPH_NORM_NONE;
    spec.norm_groups = 0;
    spec.init = SPH_INIT_DEFAULT;
    name_copy(path, sizeof path, "ruler", site->layer);
    site->ruler = net_add_like(taking->wide, node, in, &spec);
    return site->ruler < 0 ? site->ruler : 0;
}

static int widen(struct taking *taking)
{
    const sph_net *net = taking->net;
    int *at = mem_get(net->node_count, sizeof *at), err = at ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < net->node_count && err >= 0; i++) {
        const struct net_node *node = &net->nodes[i];
        int in[2] = {node->in[0] < 0 ? -1 : at[node->in[0]], node->in[1] < 0 ? -1 : at[node->in[1]]};
        struct site *site = find_site(taking, node);
        sph_layer spec = {.size = sizeof(sph_layer)};
        if (node->kind == NODE_DENSE || node->kind == NODE_CONV) {
            spec = net->layers[node->layer].spec;
            spec.path = net->layers[node->layer].path;
        }
        if (site)
            err = add_copies(taking, site, node, in);
        if (err >= 0)
            err = at[i] = net_add_like(taking->wide, node, in, &spec);
    }
    if (err >= 0)
        err = net_finish(taking->wide, at[net->output]);
    mem_free(at);
    return err < 0 ? err : 0;
}

/* ---------------------------------------------------------------- its numbers */

/* The copy's r leaves w as the layer has it, and no scale behind: where r is part of w, its size stays. */
static void drop_scale(const struct net_layer *layer, double *r, size_t count)
{
    for (size_t j = 0; j < count; j++)
        r[j] = layer->shape.fold && r[j] != 0 ? fabs(r[j]) : 1;
}

static int is_first_break(const struct net_layer *layer, const struct net_tensor *tensor)
{
    int at = layer->act->breaks ? layer->act->break_at[0] : ACT_AT_ZERO;
    return tensor->view.learned && at != ACT_AT_ZERO &&
           tensor->at == layer->act_shape + (size_t)at * layer->shape.m;
}

/* Gives a tensor of the net to the wide one under its own name and, of a layer asked about, to the copy. */
static int copy_tensor(struct taking *taking, const struct net_tensor *from, double *values)
{
    const struct net_layer *layer = &taking->net->layers[from->layer];
    const char *name = from->view.name + strlen(layer->path); /* ".norm.mean" */
    int err = sph_net_set(taking->wide, from->view.name, values, from->view.count);
    for (size_t i = 0; i < taking->count && !err; i++) {
        struct site *site = &taking->site[i];
        char path[48], full[sizeof from->view.name + sizeof path];
        if (site->layer != from->layer)
            continue;
        if (is_first_break(layer, from)) {
            if (!(site->break_at = mem_get(from->view.count, sizeof *values)))
                return SPH_EMEMORY;
            memcpy(site->break_at, values, from->view.count * sizeof *values);
        }
        name_copy(path, sizeof path, "probe", site->layer);
        snprintf(full, sizeof full, "%s%s", path, name);
        if (!net_find_tensor(taking->wide, full)) /* signs and what an activation learns stay behind */
            continue;
        if (from->view.learned && from->view.group == SPH_GROUP_R)
            drop_scale(layer, values, from->view.count);
        err = sph_net_set(taking->wide, full, values, from->view.count);
    }
    return err;
}

static int set_ruler(struct taking *taking, struct site *site)
{
    struct hyperplanes *planes = &site->ruled;
    char path[48], name[64];
    for (size_t j = 0; j < planes->m; j++) {
        if (!isnan(planes->b[j]))
            continue;
        for (size_t i = 0; i < planes->n; i++)
            planes->w[j * planes->n + i] = NAN;
    }
    name_copy(path, sizeof path, "ruler", site->layer);
    snprintf(name, sizeof name, "%s.weight", path);
    int err = sph_net_set(taking->wide, name, planes->w, planes->m * planes->n);
    snprintf(name, sizeof name, "%s.bias", path);
    return err < 0 ? err : sph_net_set(taking->wide, name, planes->b, planes->m);
}

static int set_numbers(struct taking *taking)
{
    const sph_net *net = taking->net;
    int err = 0;
    for (size_t i = 0; i < net->tensor_count && !err; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        double *values = mem_get(tensor->view.count, sizeof *values);
        if (!values)
            return SPH_EMEMORY;
        net_read_tensor(net, tensor, values);
        err = copy_tensor(taking, tensor, values);
        mem_free(values);
    }
    for (size_t i = 0; i < taking->count && !err; i++)
        if (taking->site[i].ruler >= 0)
            err = set_ruler(taking, &taking->site[i]);
    return err;
}

/* ---------------------------------------------------------------- counting */

static void count_active(struct site *site, const struct watched *seen)
{
    struct census_layer *count = site->count;
    size_t m = count->m, pixels = seen->features / m;
    count->seen += seen->rows * pixels;
    for (size_t i = 0; i < seen->rows; i++)
        for (size_t j = 0; j < m; j++) {
            const double *z = seen->value + i * seen->features + j * pixels;
            double at = site->break_at ? site->break_at[j] : 0;
            for (size_t p = 0; p < pixels; p++)
                count->active[j] += z[p] > at;
        }
}

/* fmin takes the number where the other is NaN. */
static void measure(struct site *site, const struct watched *seen, const double *break_at)
{
    struct census_layer *count = site->count;
    size_t m = count->m, pixels = seen->features / m;
    for (size_t i = 0; i < seen->rows; i++)
        for (size_t j = 0; j < m; j++) {
            const double *z = seen->value + i * seen->features + j * pixels;
            double at = break_at ? break_at[j] : 0, least = count->closest[j];
            for (size_t p = 0; p < pixels; p++)
                least = fmin(least, fabs(z[p] - at));
            count->closest[j] = least;
        }
}

static void see(void *self, const struct watched *seen)
{
    struct taking *taking = self;
    for (size_t i = 0; i < taking->count; i++) {
        struct site *site = &taking->site[i];
        int per_sample = taking->net->layers[site->layer].norm->per_sample;
        if ((int)seen->node == site->probe) {
            count_active(site, seen);
            if (!per_sample)
                measure(site, seen, site->break_at);
        }
        if ((int)seen->node == site->ruler)
            measure(site, seen, NULL);
    }
}

static int look(struct taking *taking, struct watch *watch, const struct source *source)
{
    unsigned char *where = mem_get(taking->wide->node_count, 1);
    if (!where)
        return SPH_EMEMORY;
    for (size_t i = 0; i < taking->count; i++) {
        where[taking->site[i].probe] = 1;
        if (taking->site[i].ruler >= 0)
            where[taking->site[i].ruler] = 1;
    }
    watch_only(watch, where);
    int err = watch_run(watch, source, see, taking);
    mem_free(where);
    return err;
}

/* ---------------------------------------------------------------- a census */

static int new_counts(struct census *out, const sph_net *net, const size_t *layers, size_t count)
{
    if (!(out->layer = mem_get(count, sizeof *out->layer)))
        return SPH_EMEMORY;
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        struct census_layer *layer = &out->layer[i];
        layer->layer = layers[i];
        layer->m = net->layers[layers[i]].shape.m;
        layer->active = mem_get(layer->m, sizeof *layer->active);
        layer->closest = mem_get(layer->m, sizeof *layer->closest);
        if (!layer->active || !layer->closest)
            return SPH_EMEMORY;
        for (size_t j = 0; j < layer->m; j++)
            layer->closest[j] = NAN;
    }
    return 0;
}

int census_take(struct census *out, const sph_net *net, const size_t *layers, size_t count,
                const struct source *source)
{
    struct taking taking = {.net = net, .count = count};
    struct watch *watch = NULL;
    *out = (struct census){0};
    int err = new_counts(out, net, layers, count);
    if (!err && !(taking.site = mem_get(count, sizeof *taking.site)))
        err = SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        taking.site[i].layer = layers[i];
        taking.site[i].count = &out->layer[i];
    }
    if (!err && !(err = sph_net_new(&taking.wide, net->dtype))) {
        taking.wide->k = net->k;
        sph_net_set_conv(taking.wide, net->conv);
        if (!(err = widen(&taking)) && !(err = set_numbers(&taking)) &&
            !(err = watch_new(&watch, taking.wide)))
            err = look(&taking, watch, source);
    }
    watch_free(watch);
    sph_net_free(taking.wide);
    for (size_t i = 0; taking.site && i < count; i++) {
        hyperplanes_free(&taking.site[i].ruled);
        mem_free(taking.site[i].break_at);
    }
    mem_free(taking.site);
    if (err < 0)
        census_free(out);
    return err;
}

void census_free(struct census *census)
{
    for (size_t i = 0; i < census->count; i++) {
        mem_free(census->layer[i].active);
        mem_free(census->layer[i].closest);
    }
    mem_free(census->layer);
    *census = (struct census){0};
}
