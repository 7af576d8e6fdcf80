/* SPDX-License-Identifier: MIT
 *
 * The values of a net that ends in an image. */
#ifndef TESTS_CONV_VALUES_H
#define TESTS_CONV_VALUES_H

#include "support.h"
#include "spherelu.h"

enum { ROWS = 5 };

SUPPORT void ready_image(sph_net *net, int output)
{
    assert_true(output > 0);
    net->output = output;
    assert_int_equal(net_lay_out(net), 0);
    net->ready = 1;
    assert_int_equal(net_draw(net, 3), 0);
}

struct catch
{
    const struct kernels *k;
    const struct net_node *node;
    size_t block; /* of channels, or 0 */
    double *y;    /* (rows, channels, height, width) */
};

SUPPORT double catch_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                          size_t lddy)
{
    struct catch *c = self;
    size_t pixels = node_pixels(c->node), channels = c->node->channels;
    size_t block = c->block && pixels > 1 ? c->block : ldy, blocks = (channels + block - 1) / block;
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t p = 0; p < pixels; p++)
            for (size_t ch = 0; ch < channels; ch++)
                c->y[((tile->row + i) * channels + ch) * pixels + p] =
                    get_number(c->k, y, ((i * blocks + ch / block) * pixels + p) * block + ch % block);
    if (dy)
        memset(dy, 0, tile->rows * blocks * pixels * lddy * c->k->size);
    return 0;
}

/* Values of the output node, of the caller to free; x (ROWS, channels, height, width). */
SUPPORT double *values_of(sph_net *net, const double *x, enum plan_mode mode, size_t workers)
{
    struct weights *weights = NULL;
    struct plan *plan = NULL;
    const struct net_node *node = &net->nodes[net->output];
    size_t n = sph_net_inputs(net), ld = net_row_length(net);
    char *in = padded_rows(net->k, ROWS, ld);
    for (size_t i = 0; i < ROWS; i++)
        net_arrange(net, x + i * n, in + i * ld * net->k->size);
    assert_int_equal(weights_new(&weights, net, net->k, mode == PLAN_TRAIN ? workers : 0), 0);
    assert_int_equal(plan_new(&plan, weights, ROWS, mode, workers, &(struct plan_running){.momentum = 0.25}),
                     0);
    weights_materialize(weights);
    struct catch c = {net->k, node, plan_block(net, net->k), numbers(ROWS * node_features(node))};
    plan_run(plan, in, ld, ROWS, &(struct plan_head){&c, catch_tile});
    plan_free(plan);
    weights_free(weights);
    mem_free(in);
    return c.y;
}

SUPPORT double *draw(size_t count, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 2);
    double *x = numbers(count);
    for (size_t i = 0; i < count; i++)
        x[i] = rng_normal(&rng);
    return x;
}

SUPPORT void near(const double *a, const double *b, size_t count, double bar)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= bar * (1 + fabs(b[i]))))
            fail_msg("number %zu is %.17g, expected %.17g", i, a[i], b[i]);
}

#endif
