/* SPDX-License-Identifier: MIT
 *
 * Natural directions: the gradient of angles divided by their metric (Theorem 3.7). Under sgd a step then does
 * not depend on the order of the coordinates, to first order, and is sphere's; Adam and RMSprop keep its
 * direction. */
#include "train_problem.h"

#include "train/optimizer.h"

/* ---------------------------------------------------------------- a step, and the same in another order */

enum { UNITS = 5, ROWS = 40, INPUTS_MOST = 7 };

struct world {
    size_t n;
    double w[UNITS][INPUTS_MOST], lambda[UNITS], r[UNITS], out[UNITS];
    double x[ROWS][INPUTS_MOST], y[ROWS];
};

/* The shortest part that is left of w / |w| where coordinates come in the order of `order`: the length of what
 * the last angle turns. */
static double shortest_tail(const double *w, size_t n, const size_t *order)
{
    return hypot(w[order[n - 1]], w[order[n - 2]]) / param_length(n, w);
}

/* Units away from the poles of both orders. */
static void make_world(struct world *world, size_t n, const size_t *order, const size_t *other)
{
    struct rng rng = rng_stream(71, RNG_NOISE, (uint32_t)n);
    *world = (struct world){.n = n};
    for (size_t j = 0; j < UNITS; j++) {
        do
            for (size_t i = 0; i < n; i++)
                world->w[j][i] = rng_normal(&rng);
        while (shortest_tail(world->w[j], n, order) < 0.4 || shortest_tail(world->w[j], n, other) < 0.4);
        world->lambda[j] = between(&rng, -0.3, 0.3);
        world->r[j] = between(&rng, 0.5, 2) * (j % 2 ? -1 : 1);
        world->out[j] = rng_normal(&rng);
    }
    for (size_t row = 0; row < ROWS; row++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += world->x[row][i] = rng_normal(&rng);
        world->y[row] = sin(sum);
    }
}

static void put(sph_net *net, const char *name, const double *values, size_t count)
{
    if (sph_net_set(net, name, values, count) < 0)
        fail_msg("%s: %s", name, sph_error());
}

/* u (UNITS, n), in the world's own order, after one step of size lr on the directions alone. */
static void step(const struct world *world, const size_t *order, sph_param param, double natural, double lr,
                 double *u)
{
    size_t n = world->n;
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, n, UNITS, 1, 1, param, SPH_NORM_NONE, SPH_ACT_RELU, 1);
    const struct param_ops *ops = param_ops(param);
    double w[UNITS * INPUTS_MOST], x[ROWS * INPUTS_MOST];
    for (size_t j = 0; j < UNITS; j++)
        for (size_t i = 0; i < n; i++)
            w[j * n + i] = world->w[j][order[i]];
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < n; i++)
            x[row * n + i] = world->x[row][order[i]];
    struct param_values values;
    assert_int_equal(net_layer_values(net, 0, &values), 0);
    param_from_weight(ops, &net->layers[0].shape, w, world->lambda, &values);
    net_set_layer_values(net, 0, &values);
    net_values_free(&values);
    put(net, "layers.0.lambda", world->lambda, UNITS);
    put(net, "layers.0.r", world->r, UNITS);
    put(net, "layers.1.weight", world->out, UNITS);

    struct memory_table table = {.k = net->k, .n = n, .targets = 1, .x = x, .y = (double *)world->y};
    struct source source = memory_source(&table, ROWS);
    sph_train_opts opts = few_epochs(1);
    sph_train_optimizer(&opts, SPH_OPTIMIZER_SGD);
    opts.momentum = 0;
    opts.lr = lr;
    opts.batch = 0;
    opts.natural = natural;
    opts.freeze = "layers.0.lambda,layers.0.r,layers.1"; /* the directions alone learn */
    struct trainer *trainer = NULL;
    struct trainer_setup setup = {.net = net, .opts = &opts, .train = &source};
    assert_int_equal(trainer_new(&trainer, &setup), 0);
    assert_int_equal(trainer_run(trainer, NULL, 0), 0);
    trainer_free(trainer);
    double s[UNITS], b[UNITS];
    assert_int_equal(sph_net_weight(net, 0, w, b, s), 0);
    for (size_t j = 0; j < UNITS; j++)
        for (size_t i = 0; i < n; i++)
            u[j * n + order[i]] = w[j * n + i] / param_length(n, w + j * n);
    sph_net_free(net);
}

static double largest_gap(size_t n, const double *a, const double *b)
{
    double most = 0;
    for (size_t j = 0; j < UNITS; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += (a[j * n + i] - b[j * n + i]) * (a[j * n + i] - b[j * n + i]);
        most = fmax(most, sqrt(square));
    }
    return most;
}

static void orders(size_t n, size_t *order, size_t *other)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    struct rng rng = rng_stream(72, RNG_NOISE, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        other[i] = n - 1 - i;
    for (size_t i = n; i-- > 1;) {
        size_t k = rng_below(&rng, (uint32_t)i + 1), held = other[i];
        other[i] = other[k];
        other[k] = held;
    }
    if (other[0] == 0) { /* the first coordinate is turned alone: let it be another one */
        other[0] = other[1];
        other[1] = 0;
    }
}

enum { SIZES = 3 };
static const double sizes[SIZES] = {1e-2, 1e-3, 1e-4};

/* Between steps of sizes a factor of 10 apart a gap of second order falls by 100, one of first order by 10. */
static void falls_by(const double gap[SIZES], double factor)
{
    for (int i = 0; i + 1 < SIZES; i++)
        if (!(gap[i] / gap[i + 1] > 0.8 * factor && gap[i] / gap[i + 1] < 1.25 * factor))
            fail_msg("gaps %.3g %.3g %.3g, expected them to fall by %g", gap[0], gap[1], gap[2], factor);
}

static void a_natural_step_does_not_depend_on_the_order_of_coordinates_to_first_order(void **state)
{
    (void)state;
    for (size_t n = 3; n <= INPUTS_MOST; n++) {
        size_t order[INPUTS_MOST], other[INPUTS_MOST];
        struct world world;
        double natural[SIZES], plain[SIZES], moved[SIZES];
        orders(n, order, other);
        make_world(&world, n, order, other);
        for (int i = 0; i < SIZES; i++) {
            double here[UNITS * INPUTS_MOST], there[UNITS * INPUTS_MOST], still[UNITS * INPUTS_MOST];
            step(&world, order, SPH_PARAM_GMP, 1e-10, sizes[i], here);
            step(&world, other, SPH_PARAM_GMP, 1e-10, sizes[i], there);
            natural[i] = largest_gap(n, here, there);
            step(&world, order, SPH_PARAM_GMP, 0, sizes[i], here);
            step(&world, other, SPH_PARAM_GMP, 0, sizes[i], there);
            plain[i] = largest_gap(n, here, there);
            step(&world, order, SPH_PARAM_GMP, 0, 1e-300, still);
            moved[i] = largest_gap(n, here, still);
        }
        falls_by(natural, 100);
        falls_by(plain, 10);
        assert_true(plain[SIZES - 1] > 0.05 * moved[SIZES - 1]); /* no small part of the step */
    }
}

static void a_natural_step_is_that_of_sphere_to_first_order(void **state)
{
    (void)state;
    for (size_t n = 2; n <= INPUTS_MOST; n++) {
        size_t order[INPUTS_MOST], other[INPUTS_MOST];
        struct world world;
        double gap[SIZES];
        orders(n, order, other);
        make_world(&world, n, order, other);
        for (int i = 0; i < SIZES; i++) {
            double mine[UNITS * INPUTS_MOST], sphere[UNITS * INPUTS_MOST];
            step(&world, order, SPH_PARAM_GMP, 1e-10, sizes[i], mine);
            step(&world, order, SPH_PARAM_SPHERE, 0, sizes[i], sphere);
            gap[i] = largest_gap(n, mine, sphere);
        }
        if (n > 2)
            falls_by(gap, 100);
        else /* one angle and its arctangent part in the third order */
            assert_true(gap[0] < 1e-4 && gap[1] < 1e-7);
    }
}

/* ---------------------------------------------------------------- the division itself */

/* (M + damping) natural = gradient for the angles, with M from the angles themselves; every other number stays
 * as it is, to the bit. */
static void the_gradient_is_divided_by_the_metric_plus_the_damping(void **state)
{
    (void)state;
    static const double dampings[] = {1e-6, 0.01, 1, 100};
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int d = 0; d < 4; d++) {
            struct rng rng = rng_stream(73, RNG_NOISE, (uint32_t)d);
            sph_net *net = stack((sph_dtype)dtype, KERNELS_FASTEST, 6, 11, 2, 2, SPH_PARAM_GMP, SPH_NORM_NONE,
                                 SPH_ACT_RELU, 4);
            stir(net, &rng);
            struct probe p;
            probe_open(&p, net, SPH_LOSS_MSE, 77, 1, &rng);
            probe_gradient(&p);
            double *gradient = numbers(net->learned), *natural = numbers(net->learned);
            net->k->to_double(net->learned, p.weights->learned_grad, gradient);
            weights_natural(p.weights, dampings[d]);
            net->k->to_double(net->learned, p.weights->learned_grad, natural);
            double bar = dtype == SPH_F64 ? 1e-13 : 1e-5;
            for (size_t l = 0; l < 2; l++) {
                size_t m = net->layers[l].shape.m, n = net->layers[l].shape.n, at = net->layers[l].raw[0];
                for (size_t j = 0; j < m; j++) {
                    double metric = 1;
                    for (size_t a = 0; a + 1 < n; a++) {
                        size_t i = at + a * m + j;
                        near((metric + dampings[d]) * natural[i], gradient[i], bar * fabs(gradient[i]));
                        metric *= pow(sin(get_number(net->k, net->params, i)), 2);
                    }
                }
            }
            for (size_t i = net->group_at[SPH_GROUP_THETA + 1]; i < net->learned; i++)
                assert_true(natural[i] == gradient[i]);
            free(gradient), free(natural);
            probe_close(&p);
            sph_net_free(net);
        }
}

/* At a pole the angles behind it turn nothing: their gradient is 0, and stays so however small the damping. */
static void at_a_pole_nothing_is_divided_by_nothing(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        struct rng rng = rng_stream(74, RNG_NOISE, 0);
        sph_net *net = stack((sph_dtype)dtype, KERNELS_FASTEST, 6, 9, 1, 2, SPH_PARAM_GMP, SPH_NORM_NONE,
                             SPH_ACT_RELU, 4);
        for (size_t j = 0; j < 9; j++)
            set_number(net->k, net->params, 9 + j, 0); /* the second angle of each unit */
        struct probe p;
        probe_open(&p, net, SPH_LOSS_MSE, 33, 1, &rng);
        probe_gradient(&p);
        weights_natural(p.weights, 1e-300);
        for (size_t j = 0; j < 9; j++)
            for (size_t a = 0; a < 5; a++) {
                double number = get_number(net->k, p.weights->learned_grad, a * 9 + j);
                assert_true(a < 2 ? isfinite(number) : number == 0);
            }
        probe_close(&p);
        sph_net_free(net);
    }
}

/* ---------------------------------------------------------------- under optimizers with a mean of squares */

/* What one unit's numbers should become, written out: m, v and speed as the textbook has them, v one number. */
static void move_unit(const sph_train_opts *o, double lr, double decay, int t, size_t count, const double *g,
                      double *p, double *first, double *v)
{
    double mean = 0;
    for (size_t a = 0; a < count; a++) {
        double slope = g[a] + (o->optimizer == SPH_OPTIMIZER_ADAMW ? 0 : decay * p[a]);
        mean += slope * slope / (double)count;
    }
    *v = o->beta2 * *v + (1 - o->beta2) * mean;
    for (size_t a = 0; a < count; a++) {
        double slope = g[a] + (o->optimizer == SPH_OPTIMIZER_ADAMW ? 0 : decay * p[a]);
        if (o->optimizer == SPH_OPTIMIZER_ADAMW)
            p[a] -= lr * decay * p[a];
        if (o->optimizer == SPH_OPTIMIZER_RMSPROP) {
            first[a] = o->momentum * first[a] + slope / (sqrt(*v) + o->epsilon);
            p[a] -= lr * first[a];
        } else {
            first[a] = o->beta1 * first[a] + (1 - o->beta1) * slope;
            p[a] -=
                lr * (first[a] / (1 - pow(o->beta1, t))) / (sqrt(*v / (1 - pow(o->beta2, t))) + o->epsilon);
        }
    }
}

enum { STEPS = 12, NUMBERS = 512 };

/* gmp, sphere and gmp again: unit by unit, number by number, unit by unit; then all other groups. */
static void follow(sph_optimizer optimizer, double momentum, sph_dtype dtype, enum kernel_choice choice)
{
    sph_net *net = open_net(dtype, choice);
    int node = dense(net, sph_net_input(net, 4), 7, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU);
    node = dense(net, node, 6, SPH_PARAM_SPHERE, SPH_NORM_NONE, SPH_ACT_RELU);
    node = dense(net, node, 9, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 8);
    assert_true(net->learned <= NUMBERS);
    sph_train_opts opts = few_epochs(1), alone;
    sph_train_optimizer(&opts, optimizer);
    opts.momentum = momentum;
    opts.weight_decay = 0.2;
    opts.decay_groups |= 1u << SPH_GROUP_THETA;
    alone = opts;
    opts.natural = 0.5;
    struct weights *weights = NULL;
    struct optimizer natural, plain; /* the second moves a copy of all numbers, each by itself */
    assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
    assert_int_equal(optimizer_new(&natural, weights, &opts), 0);
    assert_int_equal(optimizer_new(&plain, weights, &alone), 0);
    double p[NUMBERS], first[NUMBERS] = {0}, v[NUMBERS] = {0}, bar = dtype == SPH_F64 ? 1e-13 : 2e-5;
    double ours[NUMBERS], theirs[NUMBERS], g[NUMBERS];
    net->k->to_double(net->learned, net->params, p);
    memcpy(theirs, p, sizeof p);
    struct rng rng = rng_stream(75, RNG_NOISE, 0);
    for (int t = 1; t <= STEPS; t++) {
        for (size_t i = 0; i < net->learned; i++) {
            set_number(net->k, weights->learned_grad, i, between(&rng, -1, 1));
            g[i] = get_number(net->k, weights->learned_grad, i);
        }
        net->k->to_double(net->learned, net->params, ours);
        net->k->from_double(net->learned, theirs, net->params);
        optimizer_step(&plain, weights, 0.05, (uint64_t)t);
        net->k->to_double(net->learned, net->params, theirs);
        net->k->from_double(net->learned, ours, net->params);
        optimizer_step(&natural, weights, 0.05, (uint64_t)t);
        net->k->to_double(net->learned, net->params, ours);
        for (size_t l = 0; l < 3; l += 2) {
            size_t m = net->layers[l].shape.m, count = net->layers[l].shape.n - 1, at = net->layers[l].raw[0];
            for (size_t j = 0; j < m; j++) {
                double unit_p[16], unit_first[16], unit_g[16];
                for (size_t a = 0; a < count; a++) {
                    unit_p[a] = p[at + a * m + j];
                    unit_first[a] = first[at + a * m + j];
                    unit_g[a] = g[at + a * m + j];
                }
                move_unit(&opts, 0.05, 0.2, t, count, unit_g, unit_p, unit_first, &v[at + j]);
                for (size_t a = 0; a < count; a++) {
                    p[at + a * m + j] = unit_p[a];
                    first[at + a * m + j] = unit_first[a];
                    near(ours[at + a * m + j], unit_p[a], bar * (1 + fabs(unit_p[a])));
                }
            }
        }
        for (size_t i = 0; i < net->learned; i++) {
            int of_a_unit = 0;
            for (size_t l = 0; l < 3; l += 2)
                of_a_unit |=
                    i >= net->layers[l].raw[0] &&
                    i < net->layers[l].raw[0] + net->layers[l].shape.m * (net->layers[l].shape.n - 1);
            assert_true(of_a_unit || ours[i] == theirs[i]);
        }
    }
    optimizer_free(&natural);
    optimizer_free(&plain);
    weights_free(weights);
    sph_net_free(net);
}

static void the_mean_of_squares_is_one_number_a_unit(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int choice = KERNELS_FASTEST; choice <= KERNELS_BASE; choice++) {
            follow(SPH_OPTIMIZER_ADAM, 0.9, (sph_dtype)dtype, (enum kernel_choice)choice);
            follow(SPH_OPTIMIZER_ADAMW, 0.9, (sph_dtype)dtype, (enum kernel_choice)choice);
            follow(SPH_OPTIMIZER_RMSPROP, 0, (sph_dtype)dtype, (enum kernel_choice)choice);
            follow(SPH_OPTIMIZER_RMSPROP, 0.9, (sph_dtype)dtype, (enum kernel_choice)choice);
        }
}

/* Units are dealt to workers: who has them makes no difference. */
static void workers_agree_to_the_bit(void **state)
{
    (void)state;
    float *after[2];
    size_t learned = 0;
    for (size_t workers = 1; workers <= 2; workers++) {
        sph_net *net =
            stack(SPH_F32, KERNELS_FASTEST, 900, 1170, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 4);
        sph_train_opts opts = few_epochs(1);
        opts.natural = 0.01;
        struct weights *weights = NULL;
        struct optimizer optimizer;
        assert_int_equal(weights_new(&weights, net, net->k, workers), 0);
        assert_int_equal(weights_team(weights), workers);
        assert_int_equal(optimizer_new(&optimizer, weights, &opts), 0);
        struct rng rng = rng_stream(76, RNG_NOISE, 0);
        for (size_t i = 0; i < net->learned; i++)
            ((float *)weights->learned_grad)[i] = (float)rng_unit(&rng);
        weights_materialize(weights);
        weights_natural(weights, opts.natural);
        optimizer_step(&optimizer, weights, 0.01, 1);
        learned = net->learned;
        after[workers - 1] = malloc(learned * sizeof(float));
        assert_non_null(after[workers - 1]);
        memcpy(after[workers - 1], net->params, learned * sizeof(float));
        optimizer_free(&optimizer);
        weights_free(weights);
        sph_net_free(net);
    }
    assert_memory_equal(after[0], after[1], learned * sizeof(float));
    free(after[0]), free(after[1]);
}

/* ---------------------------------------------------------------- who takes them */

static int train_with(sph_param param, sph_optimizer optimizer, double natural, double **after, size_t *count)
{
    sph_net *net = learner(SPH_F64, param, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 60, 0);
    sph_train_opts opts = few_epochs(8);
    sph_train_optimizer(&opts, optimizer);
    opts.natural = natural;
    struct trainer *trainer = NULL;
    struct trainer_setup setup = {.net = net, .opts = &opts, .train = &p.train};
    int err = trainer_new(&trainer, &setup);
    if (!err) {
        assert_int_equal(trainer_run(trainer, NULL, 0), 0);
        *count = net->learned;
        *after = numbers(net->learned);
        memcpy(*after, net->params, net->learned * sizeof **after);
    }
    trainer_free(trainer);
    problem_close(&p);
    sph_net_free(net);
    return err;
}

static void sphere_has_them_already_and_gmp_changes(void **state)
{
    (void)state;
    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
        for (int sphere = 0; sphere < 2; sphere++) {
            double *off = NULL, *on = NULL;
            size_t count = 0;
            sph_param param = sphere ? SPH_PARAM_SPHERE : SPH_PARAM_GMP;
            if (optimizer_ops((sph_optimizer)optimizer)->no_natural)
                continue;
            assert_int_equal(train_with(param, (sph_optimizer)optimizer, 0, &off, &count), 0);
            assert_int_equal(train_with(param, (sph_optimizer)optimizer, 0.01, &on, &count), 0);
            assert_int_equal(memcmp(off, on, count * sizeof *on) == 0, sphere);
            free(off), free(on);
        }
}

static void others_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        sph_param param;
        sph_optimizer optimizer;
        double natural;
    } cases[] = {
        {SPH_PARAM_SP, SPH_OPTIMIZER_SGD, 0.01},      {SPH_PARAM_WN, SPH_OPTIMIZER_ADAM, 0.01},
        {SPH_PARAM_GMP, SPH_OPTIMIZER_LION, 0.01},    {SPH_PARAM_GMP, SPH_OPTIMIZER_SGD, -1},
        {SPH_PARAM_GMP, SPH_OPTIMIZER_SGD, INFINITY}, {SPH_PARAM_GMP, SPH_OPTIMIZER_SGD, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double *after = NULL;
        size_t count;
        assert_fails(train_with(cases[i].param, cases[i].optimizer, cases[i].natural, &after, &count),
                     SPH_EARG, .key = "natural");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_natural_step_does_not_depend_on_the_order_of_coordinates_to_first_order),
        cmocka_unit_test(a_natural_step_is_that_of_sphere_to_first_order),
        cmocka_unit_test(the_gradient_is_divided_by_the_metric_plus_the_damping),
        cmocka_unit_test(at_a_pole_nothing_is_divided_by_nothing),
        cmocka_unit_test(the_mean_of_squares_is_one_number_a_unit),
        cmocka_unit_test(workers_agree_to_the_bit),
        cmocka_unit_test(sphere_has_them_already_and_gmp_changes),
        cmocka_unit_test(others_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
