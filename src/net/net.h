/* SPDX-License-Identifier: MIT
 *
 * A net: a graph of layers and, once ready, its learned numbers in one arena ordered by group, and its
 * constants and running statistics in another. Nodes come in the order of computation. Start reading at
 * graph.c, then plan.c. */
#ifndef SPH_NET_NET_H
#define SPH_NET_NET_H

#include <stddef.h>
#include <stdint.h>

#include "base/levels.h"
#include "compute/kernels.h"
#include "layer/act.h"
#include "layer/norm.h"
#include "net/scaling.h"
#include "param/param.h"
#include "spherelu/core.h"

enum node_kind { NODE_INPUT, NODE_DENSE, NODE_CONV, NODE_MAX_POOL, NODE_AVG_POOL, NODE_ADD, NODE_ACT };

struct net_node {
    enum node_kind kind;
    int in[2];                      /* nodes, -1 where there is none */
    size_t channels, height, width; /* of the output; vectors have one pixel */
    size_t layer;                   /* NODE_DENSE, NODE_CONV: its number     */
    struct window window;           /* NODE_CONV and pools                   */
    sph_act act;                    /* NODE_ACT                              */
};

static inline size_t node_pixels(const struct net_node *node)
{
    return node->height * node->width;
}

static inline size_t node_features(const struct net_node *node)
{
    return node->channels * node_pixels(node);
}

#define NET_NOWHERE ((size_t)-1)

/* What a net may be made of, far enough below SIZE_MAX for padding, bytes per number and a window's area: whoever
 * asks for more, a file perhaps, is refused while the net is built. */
#define NET_MOST_NUMBERS (SIZE_MAX / 1024)
#define NET_MOST_WINDOW  ((size_t)1 << 24)
enum { NET_MOST_NODES = 5000 }; /* a plan compares buffers with each other */

/* Where a layer's numbers lie: offsets in elements, NET_NOWHERE where it has none. */
struct net_layer {
    sph_layer spec; /* spec.path points to path */
    char path[96];
    int node;
    const struct param_ops *ops;
    const struct norm_ops *norm;
    double norm_epsilon;
    const struct act_ops *act;
    struct param_shape shape;
    size_t channels;              /* of what it reads */
    size_t raw[PARAM_TENSORS];    /* in params */
    size_t norm_at[NORM_TENSORS]; /* in params or, of running statistics, in state */
    size_t act_shape;             /* in params */
    size_t sign;                  /* in state  */
    size_t output_sign;           /* in state: PATH.r of a converted sp or wn layer */
};

/* A conv's groups, 1: none. Unit j's inputs are of the channels of its group, layer_area of each: input i
 * is of channel layer_channel. */
static inline size_t layer_groups(const struct net_layer *layer)
{
    return layer->spec.groups ? layer->spec.groups : 1;
}

static inline size_t layer_area(const struct net_layer *layer)
{
    return layer->spec.kernel ? layer->spec.kernel * layer->spec.kernel : 1;
}

static inline size_t layer_channel(const struct net_layer *layer, size_t j, size_t i)
{
    size_t group = j / (layer->shape.m / layer_groups(layer));
    return (group * layer->shape.n + i) / layer_area(layer);
}

struct net_tensor {
    sph_tensor view;
    size_t at; /* offset in params or state */
    size_t layer;
    size_t per_unit, units; /* in memory (per_unit, units); in files (units, per_unit), conv weights
                               (m, cin / groups, kh, kw) */
};

/* For how many there is room. */
struct net_room {
    size_t nodes, layers, tensors;
};

/* Paths of the layers and names of the tensors, in their order. */
struct net_names {
    struct levels layers, tensors;
};

struct sph_net {
    sph_dtype dtype;
    const struct kernels *k;
    struct net_node *nodes;
    size_t node_count;
    struct net_layer *layers;
    size_t layer_count;
    int output;
    int ready;
    sph_conv conv; /* how plans compute convolutions */

    struct net_tensor *tensors;
    size_t tensor_count;
    struct net_room room;
    struct net_names names;
    void *params; /* (learned) */
    size_t learned;
    size_t group_at[SPH_GROUP_COUNT + 1]; /* group g is [group_at[g], group_at[g+1]) */
    void *state;                          /* (state_len) signs, running statistics */
    size_t state_len;

    char *note;             /* its owner's words, which go where it goes; never read here; NULL: none */
    struct scaling scaling; /* between a user's units and the net's; empty: none */
};

static inline void *net_param(const struct sph_net *net, size_t at)
{
    return at == NET_NOWHERE ? NULL : (char *)net->params + at * net->k->size;
}

static inline void *net_state(const struct sph_net *net, size_t at)
{
    return at == NET_NOWHERE ? NULL : (char *)net->state + at * net->k->size;
}

/* How many numbers the layer's activation learns. */
static inline size_t net_shape_length(const struct net_layer *layer)
{
    return layer->act->shapes * layer->shape.m;
}

/* (m) where the activation breaks, of the net's dtype; NULL: at 0. */
static inline const void *net_break(const struct sph_net *net, const struct net_layer *layer, size_t which)
{
    int at = which < layer->act->breaks ? layer->act->break_at[which] : ACT_AT_ZERO;
    return at == ACT_AT_ZERO ? NULL : net_param(net, layer->act_shape + (size_t)at * layer->shape.m);
}

/* A tensor of the layer's normalization, and how many numbers it has. */
static inline void *net_norm(const struct sph_net *net, const struct net_layer *layer, size_t tensor)
{
    return layer->norm->tensor[tensor].learned ? net_param(net, layer->norm_at[tensor])
                                               : net_state(net, layer->norm_at[tensor]);
}

static inline size_t net_norm_length(const struct net_layer *layer, size_t tensor)
{
    return norm_length(&layer->norm->tensor[tensor], layer->shape.m, layer->channels);
}

/* A row of the net's input in memory: its pixels one after the other, each padded to KERNEL_PAD channels. */
static inline size_t net_row_length(const struct sph_net *net)
{
    return node_pixels(&net->nodes[0]) * kernel_pad(net->nodes[0].channels);
}

/* How many rows, at most `most`, to evaluate at once. (forward.c) */
size_t net_rows_at_once(const struct sph_net *net, size_t most);

/* row (net_row_length numbers of the net's dtype) <- x (channels, height, width), the padding of an image's
 * pixels 0. (forward.c) */
void net_arrange(const struct sph_net *net, const double *x, void *row);

/* The first of count numbers that is not finite in the net's dtype: NaN, infinite, or too large for it; count: there is none.
 * (forward.c) */
size_t net_find_beyond(const struct sph_net *net, const double *x, size_t count);

/* Lays out tensors and arenas of a net whose shapes are known; values are 0. (tensors.c) */
int net_lay_out(struct sph_net *net);

/* Axes of a layer's raw tensor in a file; returns their number, 0 where the layer has no such tensor.
 * (tensors.c) */
size_t net_raw_shape(const struct net_layer *layer, size_t tensor, size_t shape[4]);

/* Whether some layer's training looks at the whole batch. (graph.c) */
int net_has_batch_statistic(const struct sph_net *net);

/* A layer's normalization in f64, the row's tensors in memory (net_norm_numbers); *out points into it.
 * (tensors.c) */
size_t net_norm_numbers(const struct net_layer *layer);
void net_norm_values(const struct sph_net *net, const struct net_layer *layer, double *memory,
                     struct norm_values *out);

/* The normalization of a layer that reads node `from`: one at the input leaves the data alone. (graph.c) */
sph_norm net_norm_behind(const struct sph_net *net, int from, sph_norm norm, const sph_details *details);

/* What an output layer is, its path and units apart: plain, whatever the hidden ones are, or wn like them.
 * (graph.c) */
sph_layer net_output_layer(sph_param param, sph_init init, int wn_output);

/* sph_net_ready without first values: all are 0, and the caller sets every one of them. (graph.c) */
int net_finish(struct sph_net *net, int output);

/* First values. (graph.c) */
int net_draw(struct sph_net *net, uint64_t seed);

const struct net_tensor *net_find_tensor(const struct sph_net *net, const char *name);
void net_read_tensor(const struct sph_net *net, const struct net_tensor *tensor, double *values);
void net_write_tensor(struct sph_net *net, const struct net_tensor *tensor, const double *values);

/* Whether values, in a file's order, are directions on the sphere where the tensor holds such: each unit's length is 1,
 * but for numbers that are wrong by `rounding` of themselves. file and name: what the message calls them. */
int net_check_units(const struct sph_net *net, const struct net_tensor *tensor, const double *values,
                    double rounding, const char *file, const char *name);

/* One layer's numbers in f64, in a file's order; memory in one piece at out->raw[0]..., free with
 * net_values_free. */
int net_layer_values(const struct sph_net *net, size_t layer, struct param_values *out);
void net_values_free(struct param_values *values);
int net_values_new(const struct param_ops *ops, const struct param_shape *shape, struct param_values *out);
void net_set_layer_values(struct sph_net *net, size_t layer, const struct param_values *values);

/* Adds a node like one of another net, reading the nodes in[0] and in[1] of this one; spec: what a layer is.
 * (graph.c) */
int net_add_like(struct sph_net *net, const struct net_node *node, const int in[2], const sph_layer *spec);

/* The same nodes and layers, ready, with the same scaling and note, values 0 and to be set; adapt may
 * change a layer's description on the way. (graph.c) */
typedef void net_adapt(void *self, size_t layer, sph_layer *spec);
int net_copy_graph(struct sph_net **out, const struct sph_net *net, net_adapt *adapt, void *self);

/* How f32 convolutions are computed from now on; a net starts with auto. */
void sph_net_set_conv(sph_net *net, sph_conv way);

#endif
