/* SPDX-License-Identifier: MIT
 *
 * Watching a net: what is seen at the last node is what the net returns, and every node is seen once per row.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "boundary/watch.h"
#include "net/zoo.h"
#include "rows/feed.h"

enum { ROWS = 300, FEATURES = 5, OUTPUTS = 2 };

struct seen {
    const sph_net *net;
    double *out;   /* (ROWS, outputs) */
    double *in;    /* (ROWS, inputs)  */
    size_t *count; /* (nodes) rows seen */
    size_t last;   /* node before, of the same rows */
};

static void see(void *self, const struct watched *seen)
{
    struct seen *s = self;
    assert_true(seen->node == 0 || seen->node > s->last);
    s->last = seen->node;
    s->count[seen->node] += seen->rows;
    double *to = seen->node == 0 ? s->in : (int)seen->node == s->net->output ? s->out : NULL;
    if (to)
        memcpy(to + seen->row * seen->features, seen->value, seen->rows * seen->features * sizeof *to);
}

static void check(sph_net *net)
{
    size_t n = sph_net_inputs(net), m = sph_net_outputs(net);
    double *x = mem_get(ROWS * n, sizeof *x), *y = mem_get(ROWS * m, sizeof *y);
    struct seen s = {.net = net,
                     .out = mem_get(ROWS * m, sizeof(double)),
                     .in = mem_get(ROWS * n, sizeof(double)),
                     .count = mem_get(net->node_count, sizeof(size_t))};
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    for (size_t i = 0; i < ROWS * n; i++)
        x[i] = (float)rng_normal(&rng);
    sph_data *data;
    struct feed *feed;
    struct watch *watch;
    double *targets = mem_get(ROWS * m, sizeof *targets);
    assert_int_equal(sph_data_from_arrays(&data, x, targets, ROWS, n, m, SPH_TASK_REGRESSION, NULL), 0);
    assert_int_equal(feed_new(&feed, data, NULL, ROWS, net), 0);
    assert_int_equal(watch_new(&watch, net), 0);
    assert_int_equal(watch_run(watch, &feed->source, see, &s), 0);
    assert_int_equal(sph_net_forward(net, x, ROWS, y), 0);
    for (size_t i = 0; i < net->node_count; i++)
        assert_int_equal(s.count[i], ROWS);
    for (size_t i = 0; i < ROWS * m; i++) /* tiles of another size may round otherwise */
        assert_true(fabs(s.out[i] - y[i]) <= 1e-5 * (1 + fabs(y[i])));
    for (size_t i = 0; i < ROWS * n; i++)
        assert_true(s.in[i] == x[i]);
    watch_free(watch);
    feed_free(feed);
    sph_data_free(data);
    mem_free(x);
    mem_free(y);
    mem_free(targets);
    mem_free(s.out);
    mem_free(s.in);
    mem_free(s.count);
}

static void what_is_seen_of_a_dense_net_is_what_it_computes(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
            size_t hidden[] = {17, 9};
            sph_net *net;
            assert_int_equal(sph_net_mlp(&net, &(sph_mlp){.size = sizeof(sph_mlp),
                                                          .dtype = (sph_dtype)dtype,
                                                          .inputs = FEATURES,
                                                          .outputs = OUTPUTS,
                                                          .hidden = hidden,
                                                          .depth = 2,
                                                          .param = SPH_PARAM_GMP,
                                                          .norm = (sph_norm)norm,
                                                          .act = SPH_ACT_RELU,
                                                          .seed = 1}),
                             0);
            check(net);
            sph_net_free(net);
        }
}

static void what_is_seen_of_an_image_net_is_what_it_computes(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        sph_net *net;
        assert_int_equal(sph_net_vgg6(&net, &(sph_image_net){.size = sizeof(sph_image_net),
                                                             .dtype = (sph_dtype)dtype,
                                                             .channels = 3,
                                                             .height = 8,
                                                             .width = 8,
                                                             .classes = OUTPUTS,
                                                             .scale = 0.03,
                                                             .param = SPH_PARAM_GMP,
                                                             .norm = SPH_NORM_IMN,
                                                             .act = SPH_ACT_RELU,
                                                             .seed = 1}),
                         0);
        check(net);
        sph_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_of_a_dense_net_is_what_it_computes),
        cmocka_unit_test(what_is_seen_of_an_image_net_is_what_it_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
