/* SPDX-License-Identifier: MIT
 *
 * Activation patterns: each bit against values that are recomputed by themselves, flips and distinct patterns
 * against counting one by one, whatever the activation, the normalization and the sign of a scale. */
#include "layer_by_hand.h"

#include <unistd.h>

#include "file/file.h"
#include "boundary/patterns.h"
#include "boundary/watch.h"
#include "net/zoo.h"
#include "rows/feed.h"
#include "job/recorder.h"
#include "fault.h"
#include "random_net.h"

enum { ROWS = 300 }; /* more than watch shows at once */

/* ---------------------------------------------------------------- a net and its rows */

struct bench {
    sph_net *net;
    double *x; /* (ROWS, inputs) */
    sph_data *data;
    struct feed *feed;
};

static void bench_open(struct bench *b, sph_net *net, uint64_t seed)
{
    size_t n = sph_net_inputs(net), m = sph_net_outputs(net);
    struct rng rng = rng_stream(seed, RNG_NOISE, 7);
    double *y = numbers(ROWS * m);
    *b = (struct bench){.net = net, .x = numbers(ROWS * n)};
    for (size_t i = 0; i < ROWS * n; i++)
        b->x[i] = (float)rng_normal(&rng);
    for (size_t i = 0; i < n; i++) /* two rows are the same */
        b->x[(ROWS - 1) * n + i] = b->x[3 * n + i];
    assert_int_equal(sph_data_from_arrays(&b->data, b->x, y, ROWS, n, m, SPH_TASK_REGRESSION, NULL), 0);
    assert_int_equal(feed_new(&b->feed, b->data, NULL, ROWS, net), 0);
    free(y);
}

static void bench_close(struct bench *b)
{
    feed_free(b->feed);
    sph_data_free(b->data);
    free(b->x);
    sph_net_free(b->net);
}

static uint64_t u64_at(const unsigned char *record, size_t at)
{
    uint64_t value;
    memcpy(&value, record + at, sizeof value);
    return value;
}

static int bit_at(const unsigned char *record, const struct patterns_site *site, size_t row, size_t feature)
{
    return record[site->at + row * site->bytes + feature / 8] >> (7 - feature % 8) & 1;
}

/* ---------------------------------------------------------------- counting one by one */

static int same_row(const struct patterns *p, const unsigned char *record, size_t first, size_t stop,
                    size_t a, size_t b)
{
    for (size_t s = first; s < stop; s++) {
        const struct patterns_site *site = patterns_site(p, s);
        for (size_t f = 0; f < site->features; f++)
            if (bit_at(record, site, a, f) != bit_at(record, site, b, f))
                return 0;
    }
    return 1;
}

static uint64_t distinct_by_hand(const struct patterns *p, const unsigned char *record, size_t first,
                                 size_t stop)
{
    uint64_t distinct = 0;
    for (size_t a = 0; a < patterns_rows(p); a++) {
        int seen = 0;
        for (size_t b = 0; b < a && !seen; b++)
            seen = same_row(p, record, first, stop, a, b);
        distinct += !seen;
    }
    return distinct;
}

static uint64_t flips_by_hand(const struct patterns *p, const unsigned char *a, const unsigned char *b,
                              const struct patterns_site *site)
{
    uint64_t flips = 0;
    for (size_t row = 0; row < patterns_rows(p); row++)
        for (size_t f = 0; f < site->features; f++)
            flips += bit_at(a, site, row, f) != bit_at(b, site, row, f);
    return flips;
}

/* before: NULL for the first record. */
static void counts_are_right(const struct patterns *p, const unsigned char *record,
                             const unsigned char *before)
{
    size_t rows = patterns_rows(p), sites = patterns_sites(p), end = patterns_bytes(p);
    uint64_t flips = 0;
    for (size_t s = 0; s < sites; s++) {
        const struct patterns_site *site = patterns_site(p, s);
        uint64_t want = before ? flips_by_hand(p, record, before, site) : 0;
        assert_int_equal(u64_at(record, site->at + rows * site->bytes), want);
        assert_int_equal(u64_at(record, site->at + rows * site->bytes + 8),
                         distinct_by_hand(p, record, s, s + 1));
        flips += want;
        for (size_t row = 0; row < rows; row++)
            for (size_t f = site->features; f < 8 * site->bytes; f++)
                assert_false(bit_at(record, site, row, f));
    }
    assert_int_equal(u64_at(record, end - 16), flips);
    assert_int_equal(u64_at(record, end - 8), distinct_by_hand(p, record, 0, sites));
}

/* ---------------------------------------------------------------- bits, recomputed */

/* What stands before the activation, layer by layer in doubles, from the tensors that the net shows. */
struct plain_layer {
    size_t m, n;
    double *w, *b, *s; /* (m, n), (m), (m) */
    struct norm_by_hand norm;
};

static void plain_open(struct plain_layer *l, const sph_net *net, size_t layer)
{
    const struct net_layer *from = &net->layers[layer];
    size_t m = from->shape.m, n = from->shape.n;
    *l = (struct plain_layer){.m = m,
                              .n = n,
                              .w = numbers(m * n),
                              .b = numbers(m),
                              .s = numbers(m),
                              .norm = norm_by_hand(net, layer)};
    tensor_or(net, layer, "r", l->s, m, 1);
    if (from->spec.param == SPH_PARAM_GMP) {
        double *theta = numbers(m * n), *sign = numbers(m);
        tensor_or(net, layer, "theta", theta, m * (n - 1), 0);
        tensor_or(net, layer, "lambda", l->b, m, 0);
        tensor_or(net, layer, "sign", sign, m, 1); /* in place of an angle where n is 1 */
        for (size_t j = 0; j < m; j++) {
            double sine = sign[j];
            for (size_t i = 0; i < n; i++) {
                double angle = i + 1 < n ? theta[j * (n - 1) + i] : 0;
                l->w[j * n + i] = sine * cos(angle);
                sine *= i + 1 < n ? sin(angle) : 1;
            }
        }
        free(theta), free(sign);
    } else {
        tensor_or(net, layer, "weight", l->w, m * n, 0);
        tensor_or(net, layer, "bias", l->b, m, 0);
    }
}

static void plain_close(struct plain_layer *l)
{
    free(l->w), free(l->b), free(l->s);
    norm_by_hand_free(&l->norm);
}

/* z (m): norm(w x + b); act (m): act(z), s left out; y (m): s act. */
static void plain_run(const struct plain_layer *l, sph_act kind, const double *x, double *z, double *act,
                      double *y)
{
    for (size_t j = 0; j < l->m; j++) {
        z[j] = l->b[j];
        for (size_t i = 0; i < l->n; i++)
            z[j] += l->w[j * l->n + i] * (x[i] - input_mean(&l->norm, i));
    }
    normalize_by_hand(&l->norm, z);
    for (size_t j = 0; j < l->m; j++) {
        act[j] = act_by_hand(&l->norm, kind, z[j], j);
        y[j] = l->s[j] * act[j];
    }
}

/* Returns how many bits were too near to 0 to be told. */
static size_t bits_are_right(const struct bench *b, const struct patterns *p, const unsigned char *record)
{
    size_t unsure = 0, layers = b->net->layer_count - 1, n = sph_net_inputs(b->net);
    double tolerance = b->net->dtype == SPH_F64 ? 1e-10 : 1e-4;
    assert_int_equal(patterns_sites(p), layers);
    double x[64], z[64], act[64], y[64];
    struct plain_layer layer[8];
    for (size_t l = 0; l < layers; l++)
        plain_open(&layer[l], b->net, l);
    for (size_t row = 0; row < ROWS; row++) {
        memcpy(x, b->x + row * n, n * sizeof *x);
        for (size_t l = 0; l < layers; l++) {
            const struct net_layer *from = &b->net->layers[l];
            plain_run(&layer[l], from->spec.act, x, z, act, y);
            for (size_t j = 0; j < layer[l].m; j++) {
                int off = layer[l].s[j] == 0;
                if (!off && (fabs(z[j]) < tolerance || (act[j] != 0 && fabs(act[j]) < tolerance)))
                    unsure++;
                else
                    assert_int_equal(bit_at(record, patterns_site(p, l), row, j), !off && act[j] > 0);
            }
            memcpy(x, y, layer[l].m * sizeof *x);
        }
    }
    for (size_t l = 0; l < layers; l++)
        plain_close(&layer[l]);
    return unsure;
}

static void bits_are_those_of_a_plain_recomputation(void **state)
{
    (void)state;
    size_t unsure = 0, nets = 0;
    for (int act = 1; act < SPH_ACT_COUNT; act++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int param = 0; param < 2; param++)
                for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
                    struct bench b;
                    struct patterns *p;
                    const void *record;
                    bench_open(&b,
                               random_net(&(struct random_spec){.seed = nets + 1,
                                                                .dtype = (sph_dtype)dtype,
                                                                .param = param ? SPH_PARAM_GMP : SPH_PARAM_SP,
                                                                .norm = (sph_norm)norm,
                                                                .act = (sph_act)act,
                                                                .inputs = 4,
                                                                .depth = 3,
                                                                .zeros = 1}),
                               nets + 1);
                    nets++;
                    assert_int_equal(patterns_new(&p, b.net, &b.feed->source), 0);
                    assert_int_equal(patterns_take(p, 5, &record), 0);
                    assert_int_equal(u64_at(record, 0), 5);
                    unsure += bits_are_right(&b, p, record);
                    patterns_free(p);
                    bench_close(&b);
                }
    print_message("%zu nets, %zu bits too near to 0 to be told\n", nets, unsure);
    assert_in_range(unsure, 0, nets * 20); /* of about 3,000 each */
}

/* ---------------------------------------------------------------- counts */

static sph_net *mlp(size_t units, size_t depth, uint64_t seed)
{
    return stack(SPH_F32, KERNELS_FASTEST, 2, units, depth, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU,
                 seed);
}

static void flips_and_distinct_patterns_are_those_counted_one_by_one(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 3, 8, 9, 17, 64, 65};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        struct bench b;
        struct patterns *p;
        const void *record;
        bench_open(&b, mlp(widths[w], 2, w), w);
        assert_int_equal(patterns_new(&p, b.net, &b.feed->source), 0);
        unsigned char *before = mem_get(patterns_bytes(p), 1);
        for (uint64_t step = 0; step < 4; step++) {
            assert_int_equal(patterns_take(p, 10 * step, &record), 0);
            counts_are_right(p, record, step ? before : NULL);
            if (step == 1) /* nothing changed */
                assert_int_equal(u64_at(record, patterns_bytes(p) - 16), 0);
            if (step == 2) /* other numbers */
                assert_true(u64_at(record, patterns_bytes(p) - 16) > 0);
            memcpy(before, record, patterns_bytes(p));
            if (step)
                randomize(b.net, step + w, 1);
        }
        mem_free(before);
        patterns_free(p);
        bench_close(&b);
    }
}

static void units_that_put_out_nothing_are_off_and_one_pattern_is_left(void **state)
{
    (void)state;
    static const sph_act acts[] = {SPH_ACT_RELU, SPH_ACT_LEAKY_RELU, SPH_ACT_ELU, SPH_ACT_SRELU};
    for (size_t a = 0; a < 4; a++) {
        struct bench b;
        struct patterns *p;
        const void *record;
        bench_open(&b, stack(SPH_F32, KERNELS_FASTEST, 2, 11, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, acts[a], 1),
                   1);
        assert_int_equal(patterns_new(&p, b.net, &b.feed->source), 0);
        assert_int_equal(patterns_take(p, 0, &record), 0);
        assert_true(u64_at(record, patterns_bytes(p) - 8) > 10);
        double zero[11] = {0};
        assert_int_equal(sph_net_set(b.net, "layers.0.r", zero, 11), 0);
        assert_int_equal(patterns_take(p, 1, &record), 0);
        const struct patterns_site *site = patterns_site(p, 0);
        for (size_t row = 0; row < ROWS; row++)
            for (size_t f = 0; f < site->features; f++)
                assert_false(bit_at(record, site, row, f));
        assert_int_equal(u64_at(record, patterns_bytes(p) - 8), 1);
        assert_true(u64_at(record, patterns_bytes(p) - 16) > 100);
        patterns_free(p);
        bench_close(&b);
    }
}

/* ---------------------------------------------------------------- images and additions */

struct expected {
    const struct patterns *p;
    const unsigned char *record;
    const sph_net *net;
    size_t seen[64];
    double *last; /* (rows, features) of the node before */
    size_t wrong, checked;
};

/* Of sp nets without signs: what a node puts out is act(z) itself, and alone activations come after additions
 * whose values can be read. */
static void compare(void *self, const struct watched *seen)
{
    struct expected *e = self;
    for (size_t s = 0; s < patterns_sites(e->p); s++) {
        const struct patterns_site *site = patterns_site(e->p, s);
        char alone[96];
        snprintf(alone, sizeof alone, "act.%zu", seen->node);
        int here = seen->layer == NET_NOWHERE ? !strcmp(site->path, alone)
                                              : !strcmp(site->path, e->net->layers[seen->layer].path);
        if (!here)
            continue;
        assert_int_equal(site->features, seen->features);
        e->seen[s] += seen->rows;
        for (size_t i = 0; i < seen->rows; i++)
            for (size_t f = 0; f < seen->features; f++) {
                e->wrong +=
                    bit_at(e->record, site, seen->row + i, f) != (seen->value[i * seen->features + f] != 0);
                e->checked++;
            }
    }
}

static void image_nets_have_a_bit_for_every_pixel_and_for_activations_behind_additions(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        sph_net *net;
        sph_image_net spec = {.size = sizeof(sph_image_net),
                              .dtype = (sph_dtype)dtype,
                              .channels = 3,
                              .height = 9,
                              .width = 9,
                              .classes = 2,
                              .scale = 0.06,
                              .param = SPH_PARAM_SP,
                              .norm = SPH_NORM_BN,
                              .act = SPH_ACT_RELU,
                              .seed = 1};
        assert_int_equal(sph_net_resnet18(&net, &spec), 0);
        struct bench b;
        struct patterns *p;
        struct watch *watch;
        const void *record;
        bench_open(&b, net, 1);
        randomize(net, 3, 0);
        assert_int_equal(patterns_new(&p, net, &b.feed->source), 0);
        assert_int_equal(patterns_take(p, 0, &record), 0);
        struct expected e = {.p = p, .record = record, .net = net};
        assert_int_equal(watch_new(&watch, net), 0);
        assert_int_equal(watch_run(watch, &b.feed->source, compare, &e), 0);
        assert_int_equal(patterns_sites(p), 17);
        for (size_t s = 0; s < patterns_sites(p); s++)
            assert_int_equal(e.seen[s], ROWS);
        assert_int_equal(e.wrong, 0);
        size_t alone = 0;
        for (size_t s = 0; s < patterns_sites(p); s++)
            alone += !strncmp(patterns_site(p, s)->path, "act.", 4);
        assert_int_equal(alone, 8);
        watch_free(watch);
        patterns_free(p);
        bench_close(&b);
    }
}

/* ---------------------------------------------------------------- a run's series */

static void a_recording_that_was_cut_goes_on_as_if_it_had_not_been(void **state)
{
    (void)state;
    char whole[] = "/tmp/sph-patterns-XXXXXX", cut[] = "/tmp/sph-patterns-XXXXXX";
    close(mkstemp(whole));
    close(mkstemp(cut));
    struct bench b;
    bench_open(&b, mlp(9, 2, 1), 1);
    struct recorder one, two;
    assert_int_equal(recorder_patterns(&one, whole, b.net, &b.feed->source, 0), 0);
    assert_int_equal(recorder_patterns(&two, cut, b.net, &b.feed->source, 0), 0);
    for (uint64_t step = 0; step < 8; step++) {
        randomize(b.net, step + 1, 0);
        assert_int_equal(one.take(&one, step), 0);
        if (step == 5) { /* back to two rows, as a checkpoint before step 2 says, with the net of that time */
            recorder_close(&two);
            randomize(b.net, 99, 0);
            assert_int_equal(recorder_patterns(&two, cut, b.net, &b.feed->source, 2), 0);
            for (uint64_t again = 2; again <= 5; again++) {
                randomize(b.net, again + 1, 0);
                assert_int_equal(two.take(&two, again), 0);
            }
            continue;
        }
        assert_int_equal(two.take(&two, step), 0);
        assert_int_equal(series_sync(two.series, NULL), 0);
    }
    assert_int_equal(series_sync(one.series, NULL), 0);
    assert_int_equal(series_sync(two.series, NULL), 0);
    const struct npz_array *bits = one.constants;
    assert_int_equal(one.constant_count, 2);
    assert_string_equal(bits[1].name, "layers.1.bits");
    assert_int_equal(*(const uint64_t *)bits[1].bytes, 9);
    char *a, *c;
    size_t length, other;
    assert_int_equal(file_read(&a, &length, whole), 0);
    assert_int_equal(file_read(&c, &other, cut), 0);
    assert_int_equal(length, other);
    assert_memory_equal(a, c, length);
    mem_free(a);
    mem_free(c);
    recorder_close(&one);
    recorder_close(&two);
    unlink(whole);
    unlink(cut);
    bench_close(&b);
}

static void a_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/sph-patterns-XXXXXX";
    close(mkstemp(path));
    struct bench b;
    bench_open(&b, mlp(9, 2, 1), 1);
    size_t failures = 0;
    for (int err = 1; err; failures++) {
        struct recorder record;
        fault_after(failures);
        err = recorder_patterns(&record, path, b.net, &b.feed->source, 0);
        if (!err) {
            err = record.take(&record, 0);
            recorder_close(&record);
        }
        fault_off();
        if (err)
            assert_int_equal(err, SPH_EMEMORY);
    }
    assert_true(failures > 15);
    unlink(path);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_a_plain_recomputation),
        cmocka_unit_test(flips_and_distinct_patterns_are_those_counted_one_by_one),
        cmocka_unit_test(units_that_put_out_nothing_are_off_and_one_pattern_is_left),
        cmocka_unit_test(image_nets_have_a_bit_for_every_pixel_and_for_activations_behind_additions),
        cmocka_unit_test(a_recording_that_was_cut_goes_on_as_if_it_had_not_been),
        cmocka_unit_test(a_lack_of_memory_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
