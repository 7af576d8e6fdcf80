/* SPDX-License-Identifier: MIT
 *
 * Networks on blocked images (f32, oneDNN and our Winograd) against the same networks on plain kernels in
 * f64: the loss, every learned number's gradient and the running statistics of a training step, evaluation,
 * batches of every size, workers, repetition. */
#include "layer.h"
#include "random_net.h"
#include "support.h"

#include "net/net.h"
#include "net/plan.h"
#include "net/zoo.h"

enum { ROWS = 5 };

static const struct method {
    const char *name;
    sph_param param;
    sph_norm norm;
    sph_act act;
} methods[] = {
    {"sp", SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU},
    {"sp bn", SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_RELU},
    {"sp ln", SPH_PARAM_SP, SPH_NORM_LN, SPH_ACT_RELU},
    {"wn mbn", SPH_PARAM_WN, SPH_NORM_MBN, SPH_ACT_RELU},
    {"gmp", SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU},
    {"gmp imn", SPH_PARAM_GMP, SPH_NORM_IMN, SPH_ACT_RELU},
    {"gmp bn elu", SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_ELU},
    {"sphere imn leaky_relu", SPH_PARAM_SPHERE, SPH_NORM_IMN, SPH_ACT_LEAKY_RELU},
    {"sp gn", SPH_PARAM_SP, SPH_NORM_GN, SPH_ACT_RELU}, /* 17 channels: 1 group; 24: 4 of 6, across blocks */
    {"gmp gn elu", SPH_PARAM_GMP, SPH_NORM_GN, SPH_ACT_ELU},
    {"gmp imn srelu", SPH_PARAM_GMP, SPH_NORM_IMN, SPH_ACT_SRELU},
};

enum { METHODS = sizeof methods / sizeof *methods };

typedef int make_net(sph_net **out, const sph_image_net *spec);

/* Convs of every kind on odd sizes: 17 channels, 3x3 for Winograd, 5x5 with stride 2, 1x1, both pools, a
 * shortcut, an addition without activation, a last image of one pixel. */
static int odd_net(sph_net **out, const sph_image_net *spec)
{
    sph_net *net = NULL;
    int err = sph_net_new(&net, spec->dtype);
    if (err < 0)
        return err;
    sph_layer layer = {.size = sizeof(sph_layer),
                       .param = spec->param,
                       .norm = spec->norm,
                       .act = spec->act,
                       .init = SPH_INIT_GLOROT};
    int x = sph_net_image(net, 3, 15, 11);
    layer.units = 17, layer.kernel = 3, layer.stride = 1, layer.pad = 1;
    if (layer.norm == SPH_NORM_IMN)
        layer.norm = SPH_NORM_NONE;
    int a = sph_net_conv(net, x, &layer);
    layer.norm = spec->norm;
    int b = sph_net_conv(net, a, &layer);
    layer.pad = 0, layer.units = 24;
    int c = sph_net_conv(net, sph_net_add(net, a, b), &layer);
    c = sph_net_max_pool(net, c, 3, 2, 1);
    layer.kernel = 1, layer.act = SPH_ACT_IDENTITY;
    int side = sph_net_conv(net, c, &layer);
    layer.kernel = 3, layer.pad = 1;
    int main = sph_net_conv(net, c, &layer);
    int d = sph_net_act(net, sph_net_add(net, main, side), SPH_ACT_RELU);
    layer.kernel = 5, layer.stride = 2, layer.pad = 2, layer.act = spec->act;
    d = sph_net_avg_pool(net, sph_net_conv(net, d, &layer), 2, 1, 0);
    layer.kernel = 3, layer.pad = 1, layer.stride = 4, layer.units = 9;
    d = sph_net_conv(net, d, &layer);
    sph_layer last = {.size = sizeof(sph_layer), .units = spec->classes};
    err = sph_net_ready(net, sph_net_dense(net, sph_net_global_pool(net, d), &last), spec->seed);
    *out = net;
    return err;
}

/* Groups of every kind: whole blocks of channels, parts of one, one channel with one unit or with two, a last
 * image of one pixel whose channels fill no block of 16. */
static int grouped_net(sph_net **out, const sph_image_net *spec)
{
    static const struct {
        size_t units, kernel, stride, pad, groups;
    } convs[] = {{32, 3, 1, 1, 1},  {32, 3, 2, 1, 32}, {64, 1, 1, 0, 2}, {32, 3, 1, 1, 8}, {32, 5, 1, 2, 32},
                 {64, 3, 2, 1, 32}, {64, 3, 1, 1, 4},  {24, 3, 4, 1, 2}, {24, 1, 1, 0, 12}};
    sph_net *net = NULL;
    int err = sph_net_new(&net, spec->dtype);
    if (err < 0)
        return err;
    int node = sph_net_image(net, 3, 13, 10);
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++) {
        sph_layer layer = {.size = sizeof(sph_layer),
                           .units = convs[i].units,
                           .kernel = convs[i].kernel,
                           .stride = convs[i].stride,
                           .pad = convs[i].pad,
                           .groups = convs[i].groups,
                           .param = spec->param,
                           .norm = spec->norm == SPH_NORM_IMN && i == 0 ? SPH_NORM_NONE : spec->norm,
                           .act = spec->act,
                           .init = SPH_INIT_GLOROT};
        node = sph_net_conv(net, node, &layer);
    }
    sph_layer last = {.size = sizeof(sph_layer), .units = spec->classes};
    err = sph_net_ready(net, sph_net_dense(net, sph_net_global_pool(net, node), &last), spec->seed);
    *out = net;
    return err;
}

static sph_net *make(make_net *kind, const struct method *method, sph_dtype dtype, sph_conv way)
{
    sph_net *net = NULL;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .dtype = dtype,
                          .channels = 3,
                          .height = kind == sph_net_resnet18 ? 33 : 13,
                          .width = kind == sph_net_resnet18 ? 34 : 10,
                          .classes = 4,
                          .scale = 0.25,
                          .param = method->param,
                          .norm = method->norm,
                          .act = method->act,
                          .init = SPH_INIT_GLOROT,
                          .seed = 5};
    if (kind(&net, &spec) < 0)
        fail_msg("%s", sph_error());
    sph_net_set_conv(net, way);
    if (dtype == SPH_F64)
        net->k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    return net;
}

/* The same numbers in a net of the other precision, with some scales negative and one 0. */
static void stir_alike(sph_net *wide, sph_net *narrow)
{
    struct rng rng = rng_stream(3, RNG_NOISE, 7);
    for (size_t i = 0; i < wide->tensor_count; i++) {
        const struct net_tensor *t = &wide->tensors[i];
        double *values = calloc(t->view.count, sizeof *values);
        net_read_tensor(wide, t, values);
        int scale = strlen(t->view.name) > 2 && !strcmp(t->view.name + strlen(t->view.name) - 2, ".r");
        for (size_t e = 0; e < t->view.count; e++) {
            values[e] += t->view.learned ? 0.02 * rng_normal(&rng) : 0;
            if (scale && e % 3 == 1)
                values[e] = -values[e];
            if (scale && e == 4)
                values[e] = 0;
            values[e] = (float)values[e];
        }
        net_write_tensor(wide, t, values);
        net_write_tensor(narrow, &narrow->tensors[i], values);
        free(values);
    }
}

static double largest(const double *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

/* |a - b| over the largest |b|, or over least, of two arrays of the two precisions. */
static double distance(const struct kernels *k, const void *a, const double *b, size_t count, double least)
{
    double most = fmax(least, 1e-30), off = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(b[i]));
        off = fmax(off, fabs(get_number(k, a, i) - b[i]));
    }
    return off / most;
}

/* One step of both from the same numbers: the worst distance of any tensor's gradient, of a statistic and of
 * the loss. */
static double step_distance_of(uint32_t seed, make_net *kind, const struct method *method, sph_conv way,
                               size_t rows, size_t plan_rows, size_t workers)
{
    sph_net *wide = make(kind, method, SPH_F64, way), *narrow = make(kind, method, SPH_F32, way);
    stir_alike(wide, narrow);
    struct rng a = rng_stream(9, RNG_NOISE, seed), b = a;
    struct probe p, q;
    probe_open(&p, wide, SPH_LOSS_CE, plan_rows, 1, &a);
    probe_open(&q, narrow, SPH_LOSS_CE, plan_rows, workers, &b);
    p.rows = q.rows = rows;
    assert_true(plan_block(narrow, narrow->k) >= 8);
    double want = probe_gradient(&p), got = probe_gradient(&q), worst = fabs(got / want - 1);
    for (size_t i = 0; i < wide->tensor_count; i++) {
        const struct net_tensor *t = &wide->tensors[i];
        const void *from = t->view.learned ? q.weights->learned_grad : narrow->state;
        const double *right = t->view.learned ? p.weights->learned_grad : wide->state;
        /* a depthwise conv under bn undoes the scale of what it reads: the gradient of r before it is tiny */
        int scale = method->norm == SPH_NORM_BN && t->view.learned && t->view.group == SPH_GROUP_R;
        double off =
            distance(narrow->k, (const char *)from + t->at * narrow->k->size, right + t->at, t->view.count,
                     scale ? 1e-3 * largest(p.weights->learned_grad, wide->learned) : 0);
        worst = fmax(worst, off);
    }
    probe_close(&p);
    probe_close(&q);
    sph_net_free(wide);
    sph_net_free(narrow);
    return worst;
}

/* Where a kink or a tie of a max pool lies within rounding, the two precisions may take different sides, and
 * gradients of few pixels differ for good reasons, in a resnet for half of the data (with the sums of another compiler for
 * more): others then decide. What is wrong is wrong for all of them. */
static double step_distance(make_net *kind, const struct method *method, sph_conv way, size_t rows,
                            size_t plan_rows, size_t workers)
{
    double least = INFINITY;
    for (uint32_t seed = 1; seed <= 64 && !(least < 1e-3); seed++)
        least = fmin(least, step_distance_of(seed, kind, method, way, rows, plan_rows, workers));
    return least;
}

static const struct kind {
    const char *name;
    make_net *make;
} kinds[] = {
    {"odd", odd_net}, {"grouped", grouped_net}, {"vgg6", sph_net_vgg6}, {"resnet18", sph_net_resnet18}};

/* srelu belongs to a layer, not to a sum. */
static int fits(const struct kind *kind, const struct method *method)
{
    return kind->make != sph_net_resnet18 || method->act != SPH_ACT_SRELU;
}

static void every_norm_and_parameterization_is_among_them(void **state)
{
    (void)state;
    unsigned norms = 0, params = 0;
    for (size_t i = 0; i < METHODS; i++) {
        norms |= 1u << methods[i].norm;
        params |= 1u << methods[i].param;
    }
    for (int i = 0; i < SPH_NORM_COUNT; i++)
        if (!(norms >> i & 1))
            fail_msg("no method has norm %s: add one", sph_word(SPH_WORDS_NORM, i)->word);
    for (int i = 0; i < SPH_PARAM_COUNT; i++)
        if (!(params >> i & 1))
            fail_msg("no method has parameterization %s: add one", sph_word(SPH_WORDS_PARAM, i)->word);
}

static void blocked_steps_follow_plain_ones(void **state)
{
    (void)state;
    for (int way = 0; way < SPH_CONV_COUNT; way++)
        for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
            double worst = 0;
            for (size_t i = 0; i < METHODS; i++) {
                if (!fits(&kinds[n], &methods[i]) || (i + n + (size_t)way) % sample_step(3))
                    continue;
                double off = step_distance(kinds[n].make, &methods[i], (sph_conv)way, ROWS, ROWS, 1);
                worst = fmax(worst, off);
                if (!(off < 1e-3)) /* f32 through up to 20 layers, normalizations of few rows among them */
                    fail_msg("%s %s %s: off by %.1e", kinds[n].name, methods[i].name,
                             way == SPH_CONV_AUTO ? "auto" : "direct", off);
            }
            print_message("    %s, %s: worst %.1e\n", kinds[n].name, way == SPH_CONV_AUTO ? "auto" : "direct",
                          worst);
        }
}

static void short_batches_and_workers_follow_too(void **state)
{
    (void)state;
    for (size_t i = 1; i < METHODS; i += 2)
        for (size_t workers = 1; workers <= 3; workers++)
            for (size_t rows = 2; rows <= ROWS; rows += workers) {
                double off = step_distance(odd_net, &methods[i], SPH_CONV_AUTO, rows, ROWS, workers);
                if (!(off < 1e-3))
                    fail_msg("%s, %zu of %d rows, %zu workers: off by %.1e", methods[i].name, rows, ROWS,
                             workers, off);
            }
}

/* Without batch statistics the gradient of a batch is the sum of its parts', whatever their sizes. */
static void parts_of_a_batch_add_up(void **state)
{
    (void)state;
    static const size_t plain_methods[] = {0, 4};
    for (size_t n = 0; n < 2; n++)
        for (size_t micro = 1; micro < ROWS; micro++) {
            sph_net *net = make(odd_net, &methods[plain_methods[n]], SPH_F32, SPH_CONV_AUTO);
            struct rng rng = rng_stream(9, RNG_NOISE, 1);
            struct probe p;
            probe_open(&p, net, SPH_LOSS_CE, ROWS, 1, &rng);
            double whole = probe_gradient(&p);
            double *right = numbers(net->learned);
            net->k->to_double(net->learned, p.weights->learned_grad, right);
            double parts = probe_loss_in(&p, micro);
            weights_pull(p.weights);
            assert_true(fabs(parts / whole - 1) < 1e-6);
            assert_true(distance(net->k, p.weights->learned_grad, right, net->learned, 0) < 1e-5);
            free(right);
            probe_close(&p);
            sph_net_free(net);
        }
}

static void the_same_step_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        double loss[2];
        void *grads[2] = {NULL, NULL};
        size_t bytes = 0;
        for (int turn = 0; turn < 2; turn++) {
            sph_net *net = make(odd_net, &methods[i], SPH_F32, SPH_CONV_AUTO);
            struct rng rng = rng_stream(9, RNG_NOISE, 1);
            struct probe p;
            probe_open(&p, net, SPH_LOSS_CE, ROWS, 2, &rng);
            probe_gradient(&p); /* buffers now hold another step's numbers */
            loss[turn] = probe_gradient(&p);
            bytes = net->learned * net->k->size;
            grads[turn] = malloc(bytes);
            memcpy(grads[turn], p.weights->learned_grad, bytes);
            probe_close(&p);
            sph_net_free(net);
        }
        assert_true(loss[0] == loss[1]);
        assert_memory_equal(grads[0], grads[1], bytes);
        free(grads[0]);
        free(grads[1]);
    }
}

static void blocked_evaluation_follows_plain(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        for (size_t i = 0; i < METHODS; i++) {
            if (!fits(&kinds[n], &methods[i]) || (i + n) % sample_step(3))
                continue;
            sph_net *wide = make(kinds[n].make, &methods[i], SPH_F64, SPH_CONV_AUTO),
                    *narrow = make(kinds[n].make, &methods[i], SPH_F32, SPH_CONV_AUTO);
            stir_alike(wide, narrow);
            size_t inputs = sph_net_inputs(wide), outputs = 4;
            double *x = calloc(ROWS * inputs, sizeof *x), y[ROWS * 4], z[ROWS * 4], most = 0, off = 0;
            struct rng rng = rng_stream(4, RNG_NOISE, 1);
            for (size_t j = 0; j < ROWS * inputs; j++)
                x[j] = (float)rng_normal(&rng);
            assert_int_equal(sph_net_forward(wide, x, ROWS, y), 0);
            assert_int_equal(sph_net_forward(narrow, x, ROWS, z), 0);
            for (size_t j = 0; j < ROWS * outputs; j++) {
                most = fmax(most, fabs(y[j]));
                off = fmax(off, fabs(y[j] - z[j]));
            }
            if (!(off <= 1e-4 * most))
                fail_msg("%s %s: off by %.1e", kinds[n].name, methods[i].name, off / most);
            free(x);
            sph_net_free(wide);
            sph_net_free(narrow);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_norm_and_parameterization_is_among_them),
        cmocka_unit_test(blocked_steps_follow_plain_ones),
        cmocka_unit_test(short_batches_and_workers_follow_too),
        cmocka_unit_test(parts_of_a_batch_add_up),
        cmocka_unit_test(the_same_step_gives_the_same_bits),
        cmocka_unit_test(blocked_evaluation_follows_plain),
    };
    if (!conv_block(kernels_pick(SPH_F32, KERNELS_FASTEST))) {
        print_message("skipped: built without oneDNN: there are no blocked images\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
