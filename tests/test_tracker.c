/* SPDX-License-Identifier: MIT
 *
 * A tracker attached to real trainings says what the hyperplanes of each step, folded anew in f64, say; under
 * every parameterization, normalization and activation that has hyperplanes. */
#include "support.h"

#include "boundary/hyperplane.h"
#include "boundary/tracker.h"

enum { LAYERS_MOST = 3, STEPS = 6 };

/* An observer of its own: hyperplanes of every layer, kept from step to step. */
struct check {
    sph_tracker *tracker;
    const char *what;
    double eps;
    size_t layers, compared, steps;
    double *phi[LAYERS_MOST], *u[LAYERS_MOST]; /* (m, n) as of the step before */
    double *move, *turn;
};

static void keep(struct check *c, const sph_net *net, size_t layer)
{
    struct hyperplanes planes;
    assert_int_equal(hyperplanes_new(&planes, net, layer), 0);
    size_t m = planes.m, n = planes.n;
    for (size_t j = 0; j < m && planes.w; j++) {
        const double *w = planes.w + j * n;
        double length = 0;
        for (size_t i = 0; i < n; i++)
            length += w[i] * w[i];
        for (size_t i = 0; i < n; i++) {
            c->phi[layer][j * n + i] = length > 0 ? -planes.b[j] * w[i] / length : NAN;
            c->u[layer][j * n + i] = length > 0 ? w[i] / sqrt(length) : NAN;
        }
    }
    hyperplanes_free(&planes);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* numpy.quantile of sorted values. */
static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t at = (size_t)place;
    if (at + 1 >= count)
        return sorted[count - 1];
    return sorted[at] + (sorted[at + 1] - sorted[at]) * (place - (double)at);
}

static void near(const struct check *c, const char *what, double have, double want, double size)
{
    if (!(fabs(have - want) <= 64 * c->eps * (size + fabs(want))))
        fail_msg("%s, step %zu: %s is %.17g, expected %.17g", c->what, c->steps, what, have, want);
}

/* phi, normal (m, n) <- the frame of a layer. */
static void read_frame(const sph_tracker *tracker, const sph_net *net, size_t layer, double *phi,
                       double *normal)
{
    const struct param_shape *shape = &net->layers[layer].shape;
    size_t count = shape->m * shape->n;
    double *raw = numbers(2 * count);
    tracker_frame(tracker, layer, raw, raw + count);
    net->k->to_double(count, raw, phi);
    net->k->to_double(count, raw + count, normal);
    free(raw);
}

static void compare(struct check *c, const sph_net *net, size_t layer)
{
    size_t n = net->layers[layer].shape.n, m = net->layers[layer].shape.m, count = 0;
    double *phi = numbers(m * n), *u = numbers(m * n), *frame = numbers(m * n), *normal = numbers(m * n);
    memcpy(phi, c->phi[layer], m * n * sizeof *phi);
    memcpy(u, c->u[layer], m * n * sizeof *u);
    keep(c, net, layer);
    read_frame(c->tracker, net, layer, frame, normal);
    double *move = numbers(m), *turn = numbers(m), largest = 0;
    for (size_t j = 0; j < m; j++) {
        double squares = 0, size = 0;
        for (size_t i = j * n; i < (j + 1) * n; i++) {
            squares += pow(c->phi[layer][i] - phi[i], 2);
            size += pow(c->phi[layer][i], 2);
        }
        for (size_t i = j * n; i < (j + 1) * n; i++) {
            if (isnan(size)) {
                assert_true(isnan(frame[i]) && isnan(normal[i]));
                continue;
            }
            near(c, "phi", frame[i], c->phi[layer][i], 1 + sqrt(size));
            near(c, "normal", normal[i], c->u[layer][i], 1);
        }
        if (isnan(squares))
            continue;
        largest = fmax(largest, sqrt(size));
        move[count] = sqrt(squares);
        turn[count++] = plane_turn(n, u + j * n, c->u[layer] + j * n);
    }
    sph_motion motion;
    assert_int_equal(sph_tracker_layer(c->tracker, layer, &motion), 1);
    assert_int_equal(motion.units, count);
    qsort(move, count, sizeof *move, by_size);
    qsort(turn, count, sizeof *turn, by_size);
    static const double shares[] = {1, 0.5, 0.9};
    for (int i = 0; i < 3 && count; i++) {
        near(c, "move", ((const double *)&motion.move)[i], quantile(move, count, shares[i]), 1 + largest);
        near(c, "turn", ((const double *)&motion.turn)[i], quantile(turn, count, shares[i]), 1);
    }
    if (!count)
        assert_true(isnan(motion.move.max) && isnan(motion.turn.p90));
    c->compared += count;
    free(phi), free(u), free(frame), free(normal), free(move), free(turn);
}

static int on_start(void *self, const sph_view *view)
{
    struct check *c = self;
    c->layers = view->net->layer_count;
    assert_true(c->layers <= LAYERS_MOST);
    for (size_t k = 0; k < c->layers; k++) {
        const struct param_shape *shape = &view->net->layers[k].shape;
        sph_motion motion;
        c->phi[k] = numbers(shape->m * shape->n);
        c->u[k] = numbers(shape->m * shape->n);
        keep(c, view->net, k);
        assert_int_equal(sph_tracker_layer(c->tracker, k, &motion), tracker_follows(view->net, k));
        assert_true(isnan(motion.move.max) && isnan(motion.turn.max) && motion.units == 0);
    }
    double move, turn;
    assert_int_equal(sph_tracker_largest(c->tracker, &move, &turn), 0);
    assert_true(isnan(move) && isnan(turn));
    return 0;
}

static int on_step(void *self, const sph_view *view)
{
    struct check *c = self;
    c->steps++;
    double move = (double)NAN, turn = (double)NAN, most_move, most_turn;
    for (size_t k = 0; k < c->layers; k++) {
        sph_motion motion;
        if (tracker_follows(view->net, k))
            compare(c, view->net, k);
        assert_true(sph_tracker_layer(c->tracker, k, &motion) >= 0);
        move = fmax(move, motion.move.max);
        turn = fmax(turn, motion.turn.max);
    }
    assert_int_equal(sph_tracker_largest(c->tracker, &most_move, &most_turn), 0);
    assert_true(most_move == move || (isnan(most_move) && isnan(move)));
    assert_true(most_turn == turn || (isnan(most_turn) && isnan(turn)));
    return 0;
}

static void check_free(struct check *c)
{
    for (size_t k = 0; k < c->layers; k++)
        free(c->phi[k]), free(c->u[k]);
    sph_tracker_free(c->tracker);
}

/* Trains net on noise for a few steps; returns how many units were compared. */
static size_t follow(sph_net *net, const char *what, double lr)
{
    enum { ROWS = 24 };
    size_t features = sph_net_inputs(net);
    double *x = numbers(ROWS * features), *y = numbers(ROWS);
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    for (size_t i = 0; i < ROWS * features; i++)
        x[i] = rng_normal(&rng) + 0.3;
    for (size_t i = 0; i < ROWS; i++)
        y[i] = rng_normal(&rng);
    sph_data *data = NULL;
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, features, 1, SPH_TASK_REGRESSION, NULL), 0);
    uint32_t rows[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = i;
    sph_split split = {.train = rows, .train_rows = ROWS};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    opts.batch = 8;
    opts.epochs = STEPS / 3;
    opts.lr = lr;
    opts.patience = 0;
    opts.standardize = SPH_STANDARDIZE_OFF;
    struct check c = {.what = what, .eps = net->dtype == SPH_F64 ? 0x1p-52 : 0x1p-23};
    assert_int_equal(sph_tracker_new(&c.tracker, net), 0);
    sph_observer observers[2] = {{0}, {.self = &c, .start = on_start, .step = on_step}};
    sph_tracker_observer(c.tracker, &observers[0]);
    int err = sph_train(net, data, &split, &opts, observers, 2, NULL);
    if (err)
        fail_msg("%s: %s", what, sph_error());
    assert_int_equal(c.steps, STEPS);
    size_t compared = c.compared;
    check_free(&c);
    sph_data_free(data);
    sph_net_free(net);
    free(x), free(y);
    return compared;
}

static void a_tracker_sees_what_hyperplanes_say(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < 2; dtype++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
                for (int act = 1; act < SPH_ACT_COUNT; act++) {
                    char what[64];
                    snprintf(what, sizeof what, "%s %s %s f%d", param_word[param], norm_word[norm],
                             act_word[act], dtype ? 64 : 32);
                    sph_net *net = open_net(dtype ? SPH_F64 : SPH_F32, KERNELS_FASTEST);
                    int node = sph_net_input(net, 5);
                    node = dense(net, node, 11, (sph_param)param, (sph_norm)norm, (sph_act)act);
                    node = dense(net, node, 9, (sph_param)param, (sph_norm)norm, (sph_act)act);
                    node = dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
                    ready(net, node, 4);
                    size_t compared = follow(net, what, 0.05);
                    assert_int_equal(compared, per_sample(norm) ? 0 : STEPS * 20);
                }
}

/* Convolutions: a patch is the input, that of its group; under imn only one without padding has means to fold. */
static void a_tracker_follows_convolutions(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (size_t turn = 0; turn < 6; turn++) {
            char what[64];
            size_t pad = turn % 2, groups = (size_t)1 << turn / 2;
            snprintf(what, sizeof what, "conv %s pad %zu, %zu groups", norm_word[norm], pad, groups);
            sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
            int node = sph_net_image(net, 4, 6, 6);
            for (int i = 0; i < 2; i++)
                node = sph_net_conv(net, node,
                                    &(sph_layer){.size = sizeof(sph_layer),
                                                 .units = 4 + 4 * (size_t)i,
                                                 .param = SPH_PARAM_GMP,
                                                 .norm = (sph_norm)norm,
                                                 .act = SPH_ACT_RELU,
                                                 .kernel = 3,
                                                 .stride = 1,
                                                 .pad = pad,
                                                 .groups = groups});
            node = sph_net_global_pool(net, node);
            node = dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
            ready(net, node, 4);
            assert_int_equal(follow(net, what, 0.01), per_sample(norm) ? 0 : STEPS * 12);
        }
}

/* A unit without weights is left out, and comes back when it has some. */
static void units_without_a_direction_do_not_count(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, 3), 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, node, 1);
    sph_tracker *tracker = NULL;
    struct weights *weights = NULL;
    assert_int_equal(sph_tracker_new(&tracker, net), 0);
    assert_int_equal(weights_new(&weights, net, net->k, 0), 0);
    const double b[4] = {1, 1, 1, 1}, w1[12] = {1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4};
    const double w2[12] = {1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 8}, none[12] = {0};
    const double *const w[] = {w1, w2, w2, none, w1};
    static const size_t units[] = {0, 3, 4, 0, 0};
    double phi[12], normal[12];
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, 4), 0);
    for (int step = 0; step < 5; step++) {
        assert_int_equal(sph_net_set(net, "layers.0.weight", w[step], 12), 0);
        weights_materialize(weights);
        sph_view_layer layer = {weights->layer[0].w, weights->layer[0].ldw, weights->layer[0].b, NULL};
        sph_view view = {.net = net, .layer = &layer};
        sph_motion motion;
        if (step)
            tracker_step(tracker, &view);
        else
            tracker_start(tracker, &view);
        assert_int_equal(sph_tracker_layer(tracker, 0, &motion), 1);
        assert_int_equal(motion.units, units[step]);
        read_frame(tracker, net, 0, phi, normal);
        if (step == 0)
            assert_true(isnan(phi[4]) && isnan(normal[3]) && normal[7] == 1 && phi[7] == -0.5 && phi[6] == 0);
        if (step == 1) { /* unit 0 rests, unit 2 turns by 90 degrees, unit 3 comes nearer by 1/8 */
            assert_true(motion.move.max == sqrt(0.5));
            assert_true(motion.move.median == 0.125);
            assert_true(fabs(motion.turn.max - acos(0)) < 1e-7);
            assert_true(motion.turn.median == 0);
            assert_true(fabs(motion.turn.p90 - 0.8 * acos(0)) < 1e-7);
        }
        if (step == 2)
            assert_true(motion.move.max == 0 && motion.turn.p90 == 0);
        if (step >= 3)
            assert_true(isnan(motion.move.max) && isnan(motion.move.median) && isnan(motion.turn.p90));
    }
    sph_motion motion;
    assert_fails(sph_tracker_layer(tracker, 1, &motion), SPH_EARG, .key = "layer");
    weights_free(weights);
    sph_tracker_free(tracker);
    sph_net_free(net);
    sph_tracker_free(NULL);
}

static void frames_are_the_hyperplanes_of_the_net(void **state)
{
    (void)state;
    enum { M = 19, N = 7 };
    for (int wide = 0; wide < 2; wide++) {
        sph_net *net = open_net(wide ? SPH_F64 : SPH_F32, KERNELS_FASTEST);
        ready(net, dense(net, sph_net_input(net, N), M, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU), 1);
        double lambda[M], phi[M * N], normal[M * N], w[M * N], b[M], s[M];
        for (size_t j = 0; j < M; j++)
            lambda[j] = 0.25 * (double)j - 1;
        assert_int_equal(sph_net_set(net, "layers.0.lambda", lambda, M), 0);
        sph_tracker *tracker = NULL;
        struct weights *weights = NULL;
        assert_int_equal(sph_tracker_new(&tracker, net), 0);
        assert_int_equal(weights_new(&weights, net, net->k, 0), 0);
        weights_materialize(weights);
        sph_view_layer layer = {weights->layer[0].w, weights->layer[0].ldw, weights->layer[0].b, NULL};
        tracker_start(tracker, &(sph_view){.net = net, .layer = &layer});
        read_frame(tracker, net, 0, phi, normal);
        assert_int_equal(sph_net_weight(net, 0, w, b, s), 0);
        for (size_t i = 0; i < M * N; i++) { /* one rounding of the length, one of each product */
            double length = param_length(N, w + i / N * N), u = w[i] / length, eps = wide ? 0x1p-50 : 0x1p-21;
            assert_true(fabs(normal[i] - u) <= eps);
            assert_true(fabs(phi[i] + b[i / N] / length * u) <= eps * fabs(b[i / N] / length));
        }
        weights_free(weights);
        sph_tracker_free(tracker);
        sph_net_free(net);
    }
}

/* A dense layer of SP units that a test sets by hand. */
struct by_hand {
    sph_net *net;
    sph_tracker *tracker;
    struct weights *weights;
    size_t n, m;
};

static struct by_hand by_hand(sph_dtype dtype, size_t n, size_t m)
{
    struct by_hand h = {.net = open_net(dtype, KERNELS_FASTEST), .n = n, .m = m};
    ready(h.net, dense(h.net, sph_net_input(h.net, n), m, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU), 1);
    assert_int_equal(sph_tracker_new(&h.tracker, h.net), 0);
    assert_int_equal(weights_new(&h.weights, h.net, h.net->k, 0), 0);
    return h;
}

static void by_hand_take(struct by_hand *h, const double *w, const double *b, int start)
{
    assert_int_equal(sph_net_set(h->net, "layers.0.weight", w, h->m * h->n), 0);
    assert_int_equal(sph_net_set(h->net, "layers.0.bias", b, h->m), 0);
    weights_materialize(h->weights);
    sph_view_layer layer = {h->weights->layer[0].w, h->weights->layer[0].ldw, h->weights->layer[0].b, NULL};
    (start ? tracker_start : tracker_step)(h->tracker, &(sph_view){.net = h->net, .layer = &layer});
}

static void by_hand_free(struct by_hand *h)
{
    weights_free(h->weights);
    sph_tracker_free(h->tracker);
    sph_net_free(h->net);
}

static void before_the_start_there_is_no_boundary(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct by_hand h = by_hand(wide ? SPH_F64 : SPH_F32, 3, 4);
        double phi[12] = {0}, normal[12] = {0};
        read_frame(h.tracker, h.net, 0, phi, normal);
        for (size_t i = 0; i < 12; i++)
            assert_true(isnan(phi[i]) && isnan(normal[i]));
        by_hand_free(&h);
    }
}

static void frames_hold_no_negative_zero(void **state)
{
    (void)state;
    enum { N = 19, M = 3 }; /* more inputs than are written at once */
    for (int wide = 0; wide < 2; wide++) {
        struct by_hand h = by_hand(wide ? SPH_F64 : SPH_F32, N, M);
        double w[M * N], phi[M * N], normal[M * N];
        for (size_t i = 0; i < M * N; i++)
            w[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 0 : -0.0;
        by_hand_take(&h, w, (const double[M]){0, 1, -1}, 1);
        read_frame(h.tracker, h.net, 0, phi, normal);
        for (size_t i = 0; i < M * N; i++) {
            double length = param_length(N, w + i / N * N), b = (double[M]){0, 1, -1}[i / N];
            assert_true((w[i] == 0) == (normal[i] == 0) && fabs(normal[i] - w[i] / length) < 1e-6);
            assert_true((w[i] == 0 || i < N) == (phi[i] == 0));
            assert_true(fabs(phi[i] + b / length * (w[i] / length)) < 1e-6);
            assert_false((phi[i] == 0 && signbit(phi[i])) || (normal[i] == 0 && signbit(normal[i])));
        }
        by_hand_free(&h);
    }
}

/* Moves of 0, 1 and one too large for f32 to square: the median is the second of them, and stands beside inf.
 */
static void a_move_beyond_the_range_is_inf_and_alone(void **state)
{
    (void)state;
    struct by_hand h = by_hand(SPH_F32, 1, 3);
    const double w[3] = {1, 1, 1}, near[3] = {0, 0, 0}, far[3] = {0, 1, 1e20};
    sph_motion motion;
    by_hand_take(&h, w, near, 1);
    by_hand_take(&h, w, far, 0);
    assert_int_equal(sph_tracker_layer(h.tracker, 0, &motion), 1);
    assert_int_equal(motion.units, 3);
    assert_true(motion.move.median == 1 && motion.move.max == (double)INFINITY);
    assert_true(motion.move.p90 == (double)INFINITY);
    by_hand_take(&h, w, far, 0); /* and rests there */
    assert_int_equal(sph_tracker_layer(h.tracker, 0, &motion), 1);
    assert_true(motion.units == 3 && motion.move.max == 0);
    by_hand_free(&h);
}

static void a_net_that_is_not_ready_is_refused(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    sph_tracker *tracker = NULL;
    assert_fails(sph_tracker_new(&tracker, net), SPH_EARG, .key = "net");
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tracker_sees_what_hyperplanes_say),
        cmocka_unit_test(a_tracker_follows_convolutions),
        cmocka_unit_test(units_without_a_direction_do_not_count),
        cmocka_unit_test(frames_are_the_hyperplanes_of_the_net),
        cmocka_unit_test(before_the_start_there_is_no_boundary),
        cmocka_unit_test(frames_hold_no_negative_zero),
        cmocka_unit_test(a_move_beyond_the_range_is_inf_and_alone),
        cmocka_unit_test(a_net_that_is_not_ready_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
