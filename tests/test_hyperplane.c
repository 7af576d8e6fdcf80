/* SPDX-License-Identifier: MIT
 *
 * Hyperplanes against nets at work: a point that crosses the one a unit is said to have flips the unit in the
 * real forward pass, under every parameterization, normalization and activation, dense and conv, and nothing
 * is said where there is none. */
#include "support.h"

#include "boundary/hyperplane.h"
#include "boundary/watch.h"
#include "fault.h"
#include "random_net.h"

/* How far on each side of a boundary a point lies, relative to its size: far above rounding (1e-15), and the
 * hyperplane is as good as this. srelu has a slope on both sides, and slopes are told apart by what they do
 * to a distance. */
static const double step = 1e-10, srelu_step = 1e-6;

enum { UNITS = 24, CONV_UNITS = 8, LAYERS = 3 };

static const sph_act acts[] = {SPH_ACT_RELU, SPH_ACT_LEAKY_RELU, SPH_ACT_ELU, SPH_ACT_SRELU};
enum { ACTS = sizeof acts / sizeof *acts };

/* ---------------------------------------------------------------- nets */

/* Norms of each sample that shift get units with hyperplanes: two of three have no shift (srelu: the left threshold, or the right one,
 * as shift). */
static void unshift(sph_net *net)
{
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        double *beta = norm_tensor(net, l, "norm.shift"), *shape = net_param(net, layer->act_shape);
        size_t m = layer->shape.m;
        for (size_t j = 0; beta && per_sample((int)layer->spec.norm) && j < m; j++)
            if (j % 3)
                beta[j] = shape ? shape[(j % 3 == 1 ? SRELU_T_LEFT : SRELU_T_RIGHT) * m + j] : 0;
    }
}

static sph_net *dense_net(uint64_t seed, size_t inputs, sph_param param, sph_norm norm, sph_act act)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = sph_net_input(net, inputs);
    for (size_t d = 0; d < LAYERS; d++)
        node = sph_net_dense(net, node,
                             &(sph_layer){.size = sizeof(sph_layer),
                                          .units = UNITS,
                                          .param = param,
                                          .norm = norm,
                                          .act = act,
                                          .norm_groups = norm_ops(norm)->grouped ? 2 : 0});
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), seed);
    randomize(net, seed, 0);
    unshift(net);
    return net;
}

static sph_net *conv_net(uint64_t seed, size_t kernel, size_t pad, sph_param param, sph_norm norm,
                         sph_act act)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = sph_net_image(net, 3, 8, 8);
    for (size_t d = 0; d < 2; d++) {
        node = sph_net_conv(net, node,
                            &(sph_layer){.size = sizeof(sph_layer),
                                         .units = CONV_UNITS,
                                         .param = param,
                                         .norm = norm,
                                         .act = act,
                                         .kernel = kernel,
                                         .stride = 1,
                                         .pad = pad});
        assert_true(node > 0);
    }
    node = sph_net_global_pool(net, node);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), seed);
    randomize(net, seed, 0);
    unshift(net);
    return net;
}

/* The layer alone, with the same numbers: its input is the net's, an image as large as its window. */
static sph_net *cut(const sph_net *net, size_t l)
{
    const struct net_layer *layer = &net->layers[l];
    sph_layer spec = layer->spec;
    sph_net *alone = open_net(SPH_F64, KERNELS_FASTEST);
    size_t kernel = spec.kernel, length = strlen(layer->path);
    spec.path = layer->path;
    int node = kernel ? sph_net_image(alone, layer->shape.n / (kernel * kernel), kernel, kernel)
                      : sph_net_input(alone, layer->shape.n);
    node = kernel ? sph_net_conv(alone, node, &spec) : sph_net_dense(alone, node, &spec);
    assert_true(node > 0);
    if (kernel)
        node = sph_net_global_pool(alone, node);
    ready(alone,
          sph_net_dense(alone, node, &(sph_layer){.size = sizeof(sph_layer), .path = "end", .units = 1}), 0);
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor t;
        assert_int_equal(sph_net_tensor(net, i, &t), 0);
        if (strncmp(t.name, layer->path, length) || t.name[length] != '.')
            continue;
        double *values = numbers(t.count);
        assert_int_equal(sph_net_get(net, t.name, values, t.count), 0);
        assert_int_equal(sph_net_set(alone, t.name, values, t.count), 0);
        free(values);
    }
    return alone;
}

/* ---------------------------------------------------------------- nets at work */

struct values {
    size_t layer; /* whose output and input are kept */
    const sph_net *net;
    double *out; /* (rows, m, pixels) */
    double *in;  /* (rows, n) of what it reads, or NULL */
};

static void keep(void *self, const struct watched *seen)
{
    struct values *v = self;
    size_t node = (size_t)v->net->layers[v->layer].node;
    double *to = seen->node == node ? v->out : (int)seen->node == v->net->nodes[node].in[0] ? v->in : NULL;
    if (to)
        memcpy(to + seen->row * seen->features, seen->value, seen->rows * seen->features * sizeof *to);
}

/* Rows of images or vectors as the net takes them. */
static int fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y, size_t ldy)
{
    struct memory_table *table = self;
    (void)y;
    (void)ldy;
    for (size_t i = 0; i < count; i++) {
        const sph_net *net = (const void *)table->y;
        net_arrange(net, table->x + index[i] * table->n, (char *)x + i * ldx * table->k->size);
    }
    return 0;
}

static void work(sph_net *net, const double *x, size_t rows, struct values *values)
{
    struct memory_table table = {.k = net->k, .n = sph_net_inputs(net), .x = x, .y = (const void *)net};
    struct source source = {.self = &table, .rows = rows, .targets = 1, .fetch = fetch};
    struct watch *watch;
    values->net = net;
    assert_int_equal(watch_new(&watch, net), 0);
    assert_int_equal(watch_run(watch, &source, keep, values), 0);
    watch_free(watch);
}

/* ---------------------------------------------------------------- one unit's two sides */

/* What the unit puts out where z lies above (below) a break by dz. */
struct sides {
    sph_act act;
    double s, dz;
    double t, slope_above, slope_below; /* srelu */
    int per_sample;                     /* ln divides dz by a positive number that nobody knows */
};

static void check_sides(const struct sides *at, double above, double below)
{
    double up = above / at->s, down = below / at->s;
    if (at->act == SPH_ACT_RELU) {
        assert_true(up > 0);
        assert_true(down == 0);
    } else if (at->act != SPH_ACT_SRELU) {
        assert_true(up > 0);
        assert_true(down < 0);
    } else if (at->per_sample) {
        assert_true((up - at->t) * at->slope_above > 0);
        assert_true((down - at->t) * at->slope_below < 0);
    } else {
        double least = 1e-3 * at->dz;
        assert_true(fabs(up - at->t - at->slope_above * at->dz) <= least);
        assert_true(fabs(down - at->t + at->slope_below * at->dz) <= least);
    }
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* up, down <- a point of the hyperplane w x + b = 0 beside phi, moved along the normal; returns by how much
 * w x + b changed. */
static double straddle(struct rng *rng, size_t n, const double *w, double b, double relative, double *up,
                       double *down)
{
    double length = param_length(n, w), square = length * length, size = 1, along = 0;
    for (size_t i = 0; i < n; i++)
        up[i] = -b * w[i] / square;
    double away = fabs(dot(n, w, up) + b) / length; /* phi itself lies on its boundary */
    assert_true(away <= 1e-10 * (1 + fabs(b) / length));
    for (size_t i = 0; i < n; i++) {
        down[i] = rng_normal(rng);
        along += down[i] * w[i] / square;
    }
    for (size_t i = 0; i < n; i++)
        up[i] += down[i] - along * w[i];
    for (size_t i = 0; i < n; i++)
        size += fabs(up[i]);
    double distance = relative * size;
    for (size_t i = 0; i < n; i++) {
        down[i] = up[i] - distance * w[i] / length;
        up[i] += distance * w[i] / length;
    }
    return distance * length;
}

/* The number that the pixel that sees the whole window puts out: pad pixels from the corner. */
static double output(const struct net_node *node, const double *out, size_t row, size_t j, size_t pad)
{
    size_t pixels = node_pixels(node);
    return out[(row * node->channels + j) * pixels + pad * node->width + pad];
}

/* Every unit of the layer, both of srelu's breaks; returns how many boundaries were crossed. */
static size_t cross_layer(struct rng *rng, const sph_net *net, size_t l)
{
    const struct net_layer *layer = &net->layers[l];
    size_t m = layer->shape.m, n = layer->shape.n, area = layer->spec.kernel * layer->spec.kernel;
    size_t breaks = layer->spec.act == SPH_ACT_SRELU ? 2 : 1, crossed = 0;
    struct hyperplanes planes;
    assert_int_equal(hyperplanes_new(&planes, net, l), 0);
    sph_net *alone = cut(net, l);
    const struct net_node *node = &alone->nodes[alone->layers[0].node];
    double *x = numbers(2 * breaks * m * n), *dz = numbers(breaks * m),
           *out = numbers(2 * breaks * m * node_features(node));
    const double *mean = norm_tensor(net, l, "norm.mean"), *shape = net_param(net, layer->act_shape);
    double relative = breaks > 1 ? srelu_step : step;
    for (size_t j = 0; j < m; j++)
        for (size_t k = 0; k < breaks; k++) {
            const double *w = planes.w + j * n, b = k ? planes.b_right[j] : planes.b[j];
            double *up = x + 2 * (k * m + j) * n, *down = up + n;
            dz[k * m + j] = NAN;
            if (isnan(b) || !(param_length(n, w) > 0))
                continue;
            dz[k * m + j] = straddle(rng, n, w, b, relative, up, down);
            for (size_t i = 0; planes.kind == HYPERPLANE_CENTRED && i < 2 * n; i++)
                up[i] += mean[i % n / area];
        }
    work(alone, x, 2 * breaks * m, &(struct values){.out = out});
    for (size_t k = 0; k < breaks; k++)
        for (size_t j = 0; j < m; j++) {
            size_t row = 2 * (k * m + j);
            struct sides at = {layer->spec.act, planes.s[j], dz[k * m + j], 0, 1, 1, 0};
            if (isnan(at.dz)) {
                assert_true(per_sample((int)layer->spec.norm));
                continue;
            }
            if (shape) {
                at.t = shape[(k ? SRELU_T_RIGHT : SRELU_T_LEFT) * m + j];
                *(k ? &at.slope_above : &at.slope_below) = shape[(k ? SRELU_A_RIGHT : SRELU_A_LEFT) * m + j];
                at.per_sample = per_sample((int)layer->spec.norm);
            }
            check_sides(&at, output(node, out, row, j, layer->spec.pad),
                        output(node, out, row + 1, j, layer->spec.pad));
            crossed++;
        }
    free(x);
    free(dz);
    free(out);
    sph_net_free(alone);
    hyperplanes_free(&planes);
    return crossed;
}

static void crossing_a_hyperplane_flips_the_unit_of_dense_layers(void **state)
{
    static const size_t inputs[] = {1, 2, 17};
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    size_t crossed = 0;
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (size_t a = 0; a < ACTS; a++)
                for (size_t i = 0; i < 3; i++) {
                    sph_net *net =
                        dense_net(i + 10 * a, inputs[i], (sph_param)param, (sph_norm)norm, acts[a]);
                    size_t here = 0;
                    for (size_t l = 0; l < LAYERS; l++)
                        here += cross_layer(&rng, net, l);
                    int srelu = acts[a] == SPH_ACT_SRELU;
                    if (!per_sample(norm))
                        assert_int_equal(here, LAYERS * UNITS * (srelu ? 2 : 1));
                    else if (norm_tensor(net, 0, "norm.shift"))
                        assert_int_equal(here, LAYERS * UNITS * 2 / 3);
                    else /* thresholds other than 0 move with the sample */
                        assert_int_equal(here, srelu ? 0 : LAYERS * UNITS);
                    crossed += here;
                    sph_net_free(net);
                }
    print_message("%zu boundaries of dense units crossed\n", crossed);
    assert_true(crossed >= 10000);
}

static void crossing_a_hyperplane_flips_the_unit_of_convs(void **state)
{
    struct rng rng = rng_stream(2, RNG_NOISE, 0);
    size_t crossed = 0;
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (size_t a = 0; a < ACTS; a++)
                for (size_t pad = 0; pad < 2; pad++) {
                    sph_net *net =
                        conv_net(7 + a + 10 * pad, 3, pad, (sph_param)param, (sph_norm)norm, acts[a]);
                    size_t here = 0;
                    for (size_t l = 0; l < 2; l++)
                        here += cross_layer(&rng, net, l);
                    assert_int_equal(
                        here, per_sample(norm) ? 0 : 2 * CONV_UNITS * (acts[a] == SPH_ACT_SRELU ? 2 : 1));
                    crossed += here;
                    sph_net_free(net);
                }
    print_message("%zu boundaries of conv units crossed\n", crossed);
}

/* ---------------------------------------------------------------- deep in a net, moved at its input */

enum { HALVINGS = 60, TRIES = 64 };

/* One layer of a net whose input moves between two points: where the hyperplane says that a unit switches,
 * found by halving, the unit does. */
static size_t walk_layer(struct rng *rng, sph_net *net, size_t l, sph_act act)
{
    size_t m = net->layers[l].shape.m, n = net->layers[l].shape.n, inputs = sph_net_inputs(net), found = 0;
    struct hyperplanes planes;
    assert_int_equal(hyperplanes_new(&planes, net, l), 0);
    double *x = numbers(TRIES * inputs), *in = numbers(TRIES * n), *out = numbers(TRIES * m);
    double *on = numbers(m * inputs), *off = numbers(m * inputs), *middle = numbers(m * inputs);
    double *unit_in = numbers(m * n), *unit_out = numbers(m * m);
    unsigned char *both = calloc(m, 1);
    for (size_t i = 0; i < TRIES * inputs; i++)
        x[i] = 3 * rng_normal(rng);
    work(net, x, TRIES, &(struct values){.layer = l, .in = in, .out = out});
    for (size_t j = 0; j < m; j++) {
        int sides = 0;
        for (size_t i = 0; i < TRIES; i++) {
            int active = dot(n, planes.w + j * n, in + i * n) + planes.b[j] > 0;
            memcpy((active ? on : off) + j * inputs, x + i * inputs, inputs * sizeof *x);
            sides |= 1 << active;
        }
        both[j] = sides == 3;
    }
    for (int halving = 0; halving < HALVINGS; halving++) {
        for (size_t i = 0; i < m * inputs; i++)
            middle[i] = on[i] + (off[i] - on[i]) / 2;
        work(net, middle, m, &(struct values){.layer = l, .in = unit_in, .out = unit_out});
        for (size_t j = 0; j < m; j++) {
            double z = dot(n, planes.w + j * n, unit_in + j * n) + planes.b[j], y = unit_out[j * m + j];
            double size = fabs(planes.b[j]) +
                          param_length(n, planes.w + j * n) * (1 + param_length(n, unit_in + j * n));
            if (!both[j])
                continue;
            memcpy((z > 0 ? on : off) + j * inputs, middle + j * inputs, inputs * sizeof *x);
            if (fabs(z) < 1e-12 * size) /* rounding decides from here on */
                continue;
            assert_true(z > 0 ? y / planes.s[j] > 0 : act == SPH_ACT_RELU ? y == 0 : y / planes.s[j] < 0);
            found += halving == 20;
        }
    }
    free(x), free(in), free(out), free(on), free(off), free(middle), free(unit_in), free(unit_out),
        free(both);
    hyperplanes_free(&planes);
    return found;
}

static void deep_units_switch_where_a_moving_input_reaches_their_hyperplane(void **state)
{
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    size_t found = 0;
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (size_t a = 0; a < 2; a++) {
                sph_net *net = dense_net(40 + a, 5, (sph_param)param, (sph_norm)norm, acts[a]);
                for (size_t l = 0; l < LAYERS; l++)
                    found += walk_layer(&rng, net, l, acts[a]);
                sph_net_free(net);
            }
    print_message("%zu units of deep nets switched\n", found);
    assert_true(found > 1000);
}

/* ---------------------------------------------------------------- where there is none */

static void a_unit_without_weight_has_a_normal_of_zero_and_its_turn_no_number(void **state)
{
    (void)state;
    const double zero[3] = {0}, one[3] = {1, 2, 2}, minus[3] = {-2, -4, -4};
    const double near[3] = {1, 2 + 1e-9, 2};
    assert_true(isnan(plane_turn(3, zero, one)));
    assert_true(isnan(plane_turn(3, one, zero)));
    assert_true(plane_turn(3, one, one) == 0);
    assert_true(fabs(plane_turn(3, one, minus) - acos(-1)) < 1e-15);
    /* |near x one| / |near||one|: sqrt(5) 1e-9 / 9, far below what acos could see */
    assert_true(fabs(plane_turn(3, one, near) - sqrt(5) * 1e-9 / 9) < 1e-15);

    sph_net *net = dense_net(1, 4, SPH_PARAM_WN, SPH_NORM_NONE, SPH_ACT_RELU);
    double *g = net_param(net, net->layers[0].raw[1]);
    struct hyperplanes planes;
    g[5] = 0;
    assert_int_equal(hyperplanes_new(&planes, net, 0), 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(planes.w[5 * 4 + i] == 0);
    hyperplanes_free(&planes);
    sph_net_free(net);
}

static void an_output_layer_has_no_boundary_and_a_layer_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    sph_net *net = dense_net(1, 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    struct hyperplanes planes;
    assert_int_equal(hyperplanes_new(&planes, net, LAYERS), 0);
    assert_int_equal(planes.kind, HYPERPLANE_NONE);
    assert_null(planes.w);
    hyperplanes_free(&planes);
    assert_fails(hyperplanes_new(&planes, net, LAYERS + 1), SPH_EARG, .key = "layer");
    sph_net_free(net);
}

static void every_allocation_of_hyperplanes_may_fail(void **state)
{
    (void)state;
    sph_net *net = dense_net(1, 4, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_SRELU);
    struct hyperplanes planes;
    for (size_t n = 0;; n++) {
        fault_after(n);
        int err = hyperplanes_new(&planes, net, 1), happened = fault_happened();
        fault_off();
        assert_int_equal(err, happened ? SPH_EMEMORY : 0);
        if (!happened)
            break;
        assert_null(planes.w);
    }
    hyperplanes_free(&planes);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossing_a_hyperplane_flips_the_unit_of_dense_layers),
        cmocka_unit_test(crossing_a_hyperplane_flips_the_unit_of_convs),
        cmocka_unit_test(deep_units_switch_where_a_moving_input_reaches_their_hyperplane),
        cmocka_unit_test(a_unit_without_weight_has_a_normal_of_zero_and_its_turn_no_number),
        cmocka_unit_test(an_output_layer_has_no_boundary_and_a_layer_that_is_not_there_is_an_error),
        cmocka_unit_test(every_allocation_of_hyperplanes_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
