/* SPDX-License-Identifier: MIT
 *
 * A net's layers materialised: W, b, s of each, and room for their gradients, one slab per worker. Shared by
 * all plans of the net. Per step: materialize, clear, (plans run), pull, (update), after_step. */
#ifndef SPH_NET_WEIGHTS_H
#define SPH_NET_WEIGHTS_H

#include "layer/op.h"
#include "net/freeze.h"
#include "net/net.h"

struct weights {
    struct sph_net *net; /* borrowed */
    const struct kernels *k;
    size_t workers;              /* 0: evaluation only, no gradients */
    const struct freeze *freeze; /* borrowed; NULL: everything learns */
    size_t image_block;          /* of images in plans: convs then need no transposed weights */
    struct layer_weights *layer; /* (layers) */
    struct layer_grads *grads;   /* (layers, workers) */
    struct param_step *step;     /* (layers) */
    void *memory;                /* everything materialised      */
    void *slab;                  /* (slab_len) gradients         */
    size_t slab_len;
    void *learned_grad; /* (net->learned) gradients of the learned numbers, NULL in evaluation */
    double damping;     /* of the natural directions at work */
    void *room;         /* (room_len) for the buffers of plans, which run one at a time */
    size_t room_len;
};

int weights_new(struct weights **out, struct sph_net *net, const struct kernels *k, size_t workers);
int weights_new_frozen(struct weights **out, struct sph_net *net, const struct kernels *k, size_t workers,
                       const struct freeze *freeze);
void weights_free(struct weights *weights);

/* Memory for so many numbers of a plan: weights->room, which the first plan that asks makes as large as it needs,
 * where it is large enough; else the caller's own. NULL: out of memory. What is in it another plan's run may
 * overwrite. */
void *weights_room(struct weights *weights, size_t numbers);

/* Workers for a pass over all weights: 1 for small nets. */
size_t weights_team(const struct weights *weights);

/* Whether W, b and s of a layer stay as they are; whether all of it does, running statistics included. */
static inline int weights_frozen(const struct weights *weights, size_t layer)
{
    return weights->freeze && weights->freeze->weights[layer];
}

static inline int weights_still(const struct weights *weights, size_t layer)
{
    return weights->freeze && weights->freeze->still[layer];
}

void weights_materialize(struct weights *weights);
void weights_refresh(struct weights *weights); /* the same after a step: frozen layers are as they were */
void weights_clear(struct weights *weights);   /* gradients <- 0 */
void weights_pull(struct weights *weights);    /* learned_grad <- slabs; 0 of what is frozen */

/* learned_grad <- natural directions, in the layers whose parameterization has a metric. */
void weights_natural(struct weights *weights, double damping);
void weights_after_step(struct weights *weights);

/* The first layer whose materialised numbers are not all finite, or the number of layers. */
size_t weights_first_bad(const struct weights *weights);

#endif
