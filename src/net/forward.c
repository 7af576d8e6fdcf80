/* SPDX-License-Identifier: MIT
 *
 * A net as a function: f64 in, f64 out, evaluation mode, in the user's units. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"
#include "net/plan.h"

/* Rows at once in evaluation: enough to fill a product, and images few enough that a node's values take
 * little beside a training step's. */
enum { FORWARD_ROWS = 256, FORWARD_NUMBERS = 1 << 22 };

size_t net_rows_at_once(const sph_net *net, size_t most)
{
    size_t largest = net_row_length(net);
    if (node_pixels(&net->nodes[0]) == 1)
        return most;
    for (size_t i = 1; i < net->node_count; i++)
        if (node_features(&net->nodes[i]) > largest)
            largest = node_features(&net->nodes[i]);
    size_t fit = FORWARD_NUMBERS / largest;
    return fit > most ? most : fit ? fit : 1;
}

void net_arrange(const sph_net *net, const double *x, void *row)
{
    const struct net_node *input = &net->nodes[0];
    size_t pixels = node_pixels(input), ld = kernel_pad(input->channels), size = net->k->size;
    if (pixels == 1) {
        net->k->from_double(input->channels, x, row);
        return;
    }
    memset(row, 0, pixels * ld * size);
    for (size_t c = 0; c < input->channels; c++)
        for (size_t p = 0; p < pixels; p++)
            net->k->from_double(1, &x[c * pixels + p], (char *)row + (p * ld + c) * size);
}

size_t net_find_beyond(const sph_net *net, const double *x, size_t count)
{
    double most = sph_net_dtype(net) == SPH_F64
                      ? DBL_MAX
                      : 0x1.fffffefffffffp127; /* above this f32 rounds to infinity */
    size_t i = 0;
    while (i < count && fabs(x[i]) <= most)
        i++;
    return i;
}

struct collect {
    const struct kernels *k;
    size_t outputs;
    double *y; /* (rows, outputs) of the batch at work */
};

static double collect_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                           size_t lddy)
{
    (void)dy;
    (void)lddy;
    struct collect *collect = self;
    for (size_t i = 0; i < tile->rows; i++)
        collect->k->to_double(collect->outputs, (const char *)y + i * ldy * collect->k->size,
                              collect->y + (tile->row + i) * collect->outputs);
    return 0;
}

int sph_net_forward(sph_net *net, const double *x, size_t rows, double *y)
{
    NEED(net);
    if (rows)
        NEED(x, y);
    if (!net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is not ready; call sph_net_ready first");
    size_t n = sph_net_inputs(net), ld = net_row_length(net), outputs = sph_net_outputs(net);
    size_t most = net_rows_at_once(net, FORWARD_ROWS), batch = rows < most ? rows : most;
    if (!rows)
        return 0;
    struct weights *weights = NULL;
    struct plan *plan = NULL;
    double *scaled = mem_get(batch * n, sizeof *scaled);
    char *in = mem_get(batch * ld, net->k->size);
    int err = SPH_EMEMORY, threads = threads_setting();
    if (!scaled || !in)
        goto out;
    if ((err = weights_new(&weights, net, net->k, 0)) < 0 ||
        (err = plan_new(&plan, weights, batch, PLAN_EVALUATE, 1, NULL)) < 0)
        goto out;
    weights_materialize(weights);
    for (size_t row = 0; row < rows && !err; row += batch) {
        size_t count = rows - row < batch ? rows - row : batch;
        scaling_apply_x(&net->scaling, count, x + row * n, scaled);
        if (!net->scaling.features)
            memcpy(scaled, x + row * n, count * n * sizeof *scaled);
        size_t bad = net_find_beyond(net, scaled, count * n);
        if (bad < count * n) {
            err = sph_fail_key(SPH_EARG, "x", "row %zu, column %zu: %g is not a finite number in %s%s",
                               row + bad / n, bad % n, x[row * n + bad],
                               sph_word(SPH_WORDS_DTYPE, (int)sph_net_dtype(net))->word,
                               net->scaling.features ? " after standardization" : "");
            break;
        }
        for (size_t i = 0; i < count; i++)
            net_arrange(net, scaled + i * n, in + i * ld * net->k->size);
        struct collect collect = {net->k, outputs, y + row * outputs};
        plan_run(plan, in, ld, count, &(struct plan_head){&collect, collect_tile});
        err = plan_check(plan);
    }
    if (!err && net->scaling.y_mean)
        scaling_undo_y(&net->scaling, rows, y, y);
out:
    threads_set_back(threads);
    plan_free(plan);
    weights_free(weights);
    mem_free(in);
    mem_free(scaled);
    return err;
}

int sph_net_weight(const sph_net *net, size_t k, double *w, double *b, double *s)
{
    NEED(net);
    if (!net->ready || k >= net->layer_count)
        return sph_fail(SPH_EARG, "no layer %zu; the network has %zu layers", k,
                        net->ready ? net->layer_count : 0);
    struct weights *weights = NULL;
    int err = weights_new(&weights, (sph_net *)net, net->k, 0);
    if (err < 0)
        return err;
    weights_materialize(weights);
    const struct layer_weights *from = &weights->layer[k];
    size_t size = net->k->size;
    for (size_t j = 0; w && j < from->m; j++)
        for (size_t i = 0; i < from->n; i++)
            net->k->to_double(1, (char *)from->w + (i * from->ldw + j) * size, &w[j * from->n + i]);
    for (size_t j = 0; j < from->m; j++) {
        if (b && from->b)
            net->k->to_double(1, (char *)from->b + j * size, &b[j]);
        else if (b)
            b[j] = 0;
        if (s && from->scaled)
            net->k->to_double(1, (char *)from->s + j * size, &s[j]);
        else if (s)
            s[j] = 1;
    }
    weights_free(weights);
    return 0;
}
