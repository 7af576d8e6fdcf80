/* SPDX-License-Identifier: MIT
 *
 * What reads a layer, and what its readers can take over: signs and constants. */
#include "net/convert.h"

/* Average pools hand on signs and constants as they are: what stands before them is read by who reads them.
 */
int convert_behind_averages(const sph_net *net, int node)
{
    while (node >= 0 && net->nodes[node].kind == NODE_AVG_POOL)
        node = net->nodes[node].in[0];
    return node;
}

/* The next node behind `after` that reads node, averages aside; the number of nodes if there is none. */
static size_t next_reader(const sph_net *net, int node, size_t after)
{
    size_t i = after + 1;
    for (; i < net->node_count; i++) {
        const struct net_node *reader = &net->nodes[i];
        if (reader->kind != NODE_AVG_POOL && (convert_behind_averages(net, reader->in[0]) == node ||
                                              convert_behind_averages(net, reader->in[1]) == node))
            break;
    }
    return i;
}

static int has_padded_average(const sph_net *net, int from, int to)
{
    for (; from != to; from = net->nodes[from].in[0])
        if (net->nodes[from].window.pad)
            return 1;
    return 0;
}

const char *convert_blocked(const struct conversion *c, const struct form *form, int constant)
{
    int node = form->from->node;
    if (convert_behind_averages(c->net, c->net->output) == node)
        return "it is the net's output";
    if (form->from->norm->at_output)
        return "imn follows its activation";
    for (size_t i = next_reader(c->net, node, (size_t)node); i < c->net->node_count;
         i = next_reader(c->net, node, i)) {
        const struct net_node *reader = &c->net->nodes[i];
        if (reader->kind == NODE_ADD)
            return "it is read by an addition";
        if (reader->kind == NODE_MAX_POOL)
            return "it is read by a max pool";
        if (reader->kind == NODE_ACT)
            return "it is read by an activation";
        int centred = c->net->layers[reader->layer].norm->at_input;
        if (constant && ((reader->window.pad && !centred) || has_padded_average(c->net, reader->in[0], node)))
            return "it is read through zero padding";
    }
    return NULL;
}

/* The weights that read one channel: those of `units` units from `first` on, `area` of each from `at` on. */
struct reading {
    size_t first, units, at, area;
};

static struct reading reading_of(const struct form *form, size_t channel)
{
    const struct net_layer *layer = form->from;
    size_t area = layer_area(layer), channels = layer->shape.n / area,
           units = layer->shape.m / layer_groups(layer);
    return (struct reading){channel / channels * units, units, channel % channels * area, area};
}

/* Channel i of the layer's input was x + constant and is x now. A mean of the batch takes it, as it would in
 * training. */
static void absorb_constant(struct form *form, size_t i, double constant)
{
    const struct norm_ops *norm = form->norm;
    struct reading reads = reading_of(form, i);
    size_t n = form->from->shape.n;
    if (norm->take_input) {
        norm->take_input(&form->normed, i, 1, constant);
        return;
    }
    for (size_t j = reads.first; j < reads.first + reads.units; j++) {
        double part = 0;
        for (size_t at = 0; at < reads.area; at++)
            part += form->w[j * n + reads.at + at] * constant;
        if (norm->take_sum)
            norm->take_sum(&form->normed, j, part);
        else
            form->b[j] += part;
    }
}

/* Channel i of the layer's input was -x and is x now. */
static void absorb_sign(struct form *form, size_t i)
{
    struct reading reads = reading_of(form, i);
    for (size_t j = reads.first; j < reads.first + reads.units; j++) {
        double *w = form->w + j * form->from->shape.n + reads.at;
        for (size_t at = 0; at < reads.area; at++)
            w[at] = -w[at];
    }
    if (form->norm->take_input)
        form->norm->take_input(&form->normed, i, -1, 0);
    form->rewrite = 1;
}

/* ---------------------------------------------------------------- what moves on */

void convert_move_constant(struct conversion *c, const struct form *form, size_t j, double constant)
{
    int node = form->from->node;
    for (size_t i = next_reader(c->net, node, (size_t)node); i < c->net->node_count;
         i = next_reader(c->net, node, i))
        absorb_constant(&c->form[c->net->nodes[i].layer], j, constant);
}

/* -(w x + b): without an activation the unit itself takes the sign. */
static void negate_unit(struct form *form, size_t j)
{
    convert_scale_unit(form, j, -1);
    form->s[j] = 1;
}

int convert_fold_signs(struct conversion *c, struct form *form)
{
    const char *why = convert_blocked(c, form, 0);
    int node = form->from->node;
    form->signs = 0;
    for (size_t j = 0; j < form->from->shape.m; j++) {
        if (form->s[j] > 0)
            continue;
        if (form->from->act->identity) {
            negate_unit(form, j);
        } else if (!why) {
            for (size_t i = next_reader(c->net, node, (size_t)node); i < c->net->node_count;
                 i = next_reader(c->net, node, i))
                absorb_sign(&c->form[c->net->nodes[i].layer], j);
            form->s[j] = 1;
        } else if (c->strict) {
            return convert_refuse(form, j, "its r is negative and the sign cannot be folded away: %s", why);
        } else {
            form->signs = 1;
        }
    }
    return 0;
}
