/* SPDX-License-Identifier: MIT
 *
 * Schedules, optimizers, scores and the loop, each against numbers computed by hand. */
#include "support.h"

#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "train/trainer.h"

static void near(double got, double want, double bar)
{
    if (!(fabs(got - want) <= bar))
        fail_msg("%.17g, expected %.17g", got, want);
}

/* ---------------------------------------------------------------- schedules */

static struct schedule parsed(const char *text, double warmup)
{
    struct schedule schedule;
    assert_int_equal(schedule_parse(&schedule, text, warmup), 0);
    return schedule;
}

static void step_schedule_falls_when_its_epochs_are_finished(void **state)
{
    (void)state;
    struct schedule s = parsed("step:30,60,80:0.1", 0);
    static const struct {
        size_t epoch;
        double factor;
    } want[] = {{0, 1}, {29, 1}, {30, 0.1}, {59, 0.1}, {60, 0.01}, {79, 0.01}, {80, 0.001}, {99, 0.001}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        near(schedule_factor(&s, want[i].epoch, want[i].epoch * 7, 700, 7), want[i].factor, 1e-17);
}

static void plateau_schedule_counts_epochs_without_a_real_improvement(void **state)
{
    (void)state;
    struct schedule s = parsed("plateau:3:0.5:0.1", 0);
    /* 0.95 and 0.91 are better than 1 by less than min_delta; 0.85 is a new best; patience starts over after
     * a fall */
    static const double value[] = {1, 0.95, 0.91, 0.85, 0.8, 0.76, 0.76, 0.9, 0.9, 0.9, 0.9, NAN, NAN, NAN};
    static const double want[] = {1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        schedule_epoch(&s, value[i]);
        near(schedule_factor(&s, i, i, 100, 1), want[i], 0);
    }
    struct schedule any = parsed("plateau:2:0.1", 0); /* min_delta 0: any improvement counts */
    for (int i = 0; i < 10; i++)
        schedule_epoch(&any, 1 - 1e-9 * i);
    near(schedule_factor(&any, 10, 10, 100, 1), 1, 0);
    schedule_epoch(&any, 1);
    schedule_epoch(&any, 1);
    near(schedule_factor(&any, 12, 12, 100, 1), 0.1, 0);
}

static void cosine_schedule_and_warmup_multiply(void **state)
{
    (void)state;
    struct schedule cosine = parsed("cosine", 0);
    near(schedule_factor(&cosine, 0, 0, 100, 10), 1, 0);
    near(schedule_factor(&cosine, 2, 25, 100, 10), 0.5 * (1 + sqrt(0.5)), 1e-15);
    near(schedule_factor(&cosine, 5, 50, 100, 10), 0.5, 1e-15);
    near(schedule_factor(&cosine, 10, 100, 100, 10), 0, 1e-15);
    struct schedule ramp = parsed("none", 0.5); /* half an epoch of 10 steps: 1/5, 2/5 ... 5/5, 1 */
    for (uint64_t step = 0; step < 10; step++)
        near(schedule_factor(&ramp, 0, step, 10, 10), step < 5 ? 0.2 * (double)(step + 1) : 1, 1e-15);
    struct schedule both = parsed("cosine", 1);
    near(schedule_factor(&both, 0, 4, 100, 10), 0.5 * (0.5 * (1 + cos(0.04 * acos(-1)))), 1e-15);
    struct schedule none = parsed(NULL, 0);
    near(schedule_factor(&none, 3, 4, 100, 10), 1, 0);
}

static void wrong_schedules_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "step",
                                        "step:",
                                        "step:30",
                                        "step:a:0.1",
                                        "step:30:x",
                                        "step:30,:0.1",
                                        "step:0:0.1",
                                        "step:30:0",
                                        "step:30:-1",
                                        "step:30:nan",
                                        "step:30:inf",
                                        "plateau",
                                        "plateau:5",
                                        "plateau:0:0.1",
                                        "plateau:5:1",
                                        "plateau:5:0",
                                        "plateau:5:0.1:-1",
                                        "plateau:5:0.1:0:1",
                                        "cosine:3",
                                        "cosin",
                                        "none:1",
                                        " step:3:0.1",
                                        "plateau:-1:0.1",
                                        "step:3:0.1:4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct schedule s;
        if (schedule_parse(&s, wrong[i], 0) != SPH_EARG)
            fail_msg("'%s' was taken", wrong[i]);
        assert_non_null(strstr(sph_error(), "schedule: "));
    }
    struct schedule s;
    assert_int_equal(schedule_parse(&s, "none", -1), SPH_EARG);
    assert_int_equal(schedule_parse(&s, "none", NAN), SPH_EARG);
    assert_non_null(strstr(sph_error(), "warmup"));
}

/* ---------------------------------------------------------------- optimizers */

/* A net with numbers in every group: gmp, wn, sp, bn, srelu. */
static sph_net *net_of_all_groups(sph_dtype dtype, enum kernel_choice choice)
{
    sph_net *net = open_net(dtype, choice);
    int node = sph_net_input(net, 3);
    node = dense(net, node, 5, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_SRELU);
    node = dense(net, node, 4, SPH_PARAM_WN, SPH_NORM_LN, SPH_ACT_RELU);
    node = dense(net, node, 5, SPH_PARAM_SPHERE, SPH_NORM_BN, SPH_ACT_RELU);
    ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 8);
    for (int g = 0; g < SPH_GROUP_COUNT; g++)
        assert_true(net->group_at[g + 1] > net->group_at[g]);
    return net;
}

static sph_group group_of(const sph_net *net, size_t i)
{
    int group = 0;
    while (i >= net->group_at[group + 1])
        group++;
    return (sph_group)group;
}

/* What each optimizer should do to one number, written out from the definitions of DESIGN 2.7. */
struct by_hand {
    double p, first, second;
};

static void move_by_hand(struct by_hand *n, const sph_train_opts *o, double lr, double decay, double g,
                         int step)
{
    if (o->optimizer == SPH_OPTIMIZER_ADAMW)
        n->p -= lr * decay * n->p;
    else
        g += decay * n->p;
    if (o->optimizer == SPH_OPTIMIZER_SGD) {
        n->first = o->momentum * n->first + g;
        n->p -= lr * (o->nesterov ? g + o->momentum * n->first : n->first);
        return;
    }
    n->first = o->beta1 * n->first + (1 - o->beta1) * g;
    n->second = o->beta2 * n->second + (1 - o->beta2) * g * g;
    double mean = n->first / (1 - pow(o->beta1, step)), square = n->second / (1 - pow(o->beta2, step));
    n->p -= lr * mean / (sqrt(square) + o->epsilon);
}

/* f = sum c_i p_i^2 / 2: the gradient is c_i p_i. */
static void follow_by_hand(sph_train_opts opts, sph_dtype dtype, enum kernel_choice choice)
{
    sph_net *net = net_of_all_groups(dtype, choice);
    size_t learned = net->learned;
    struct weights *weights = NULL;
    struct optimizer optimizer;
    assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
    assert_int_equal(optimizer_new(&optimizer, weights, &opts), 0);
    struct by_hand *hand = calloc(learned, sizeof *hand);
    assert_non_null(hand);
    struct rng rng = rng_stream(41, RNG_NOISE, 0);
    for (size_t i = 0; i < learned; i++) {
        hand[i].p = between(&rng, -2, 2);
        set_number(net->k, net->params, i, hand[i].p);
        hand[i].p = get_number(net->k, net->params, i);
    }
    double bar = dtype == SPH_F64 ? 1e-13 : 2e-5, lr = 0.05;
    for (int step = 1; step <= 30; step++) {
        double square = 0;
        for (size_t i = 0; i < learned; i++) {
            double g = (0.5 + (double)(i % 7)) * hand[i].p;
            set_number(net->k, weights->learned_grad, i, g);
            square += g * g;
        }
        double scale = opts.clip > 0 && sqrt(square) > opts.clip ? opts.clip / sqrt(square) : 1;
        for (size_t i = 0; i < learned; i++) {
            sph_group group = group_of(net, i);
            move_by_hand(&hand[i], &opts, lr * opts.group_lr[group],
                         opts.weight_decay * opts.group_decay[group],
                         scale * (0.5 + (double)(i % 7)) * hand[i].p, step);
        }
        optimizer_step(&optimizer, weights, lr, (uint64_t)step);
        for (size_t i = 0; i < learned; i++)
            near(get_number(net->k, net->params, i), hand[i].p, bar * (1 + fabs(hand[i].p)));
    }
    free(hand);
    optimizer_free(&optimizer);
    weights_free(weights);
    sph_net_free(net);
}

static void optimizers_follow_loops_written_by_hand(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int choice = KERNELS_FASTEST; choice <= KERNELS_BASE; choice++)
            for (int decay = 0; decay < 2; decay++)
                for (int clip = 0; clip < 2; clip++) {
                    sph_train_opts opts = sph_train_defaults(SPH_TASK_REGRESSION);
                    opts.weight_decay = decay ? 0.3 : 0;
                    opts.clip = clip ? 3 : 0;
                    opts.group_lr[SPH_GROUP_R] = 0.25;
                    opts.group_lr[SPH_GROUP_THETA] = 2;
                    opts.optimizer = SPH_OPTIMIZER_ADAM;
                    follow_by_hand(opts, (sph_dtype)dtype, (enum kernel_choice)choice);
                    opts.optimizer = SPH_OPTIMIZER_ADAMW;
                    follow_by_hand(opts, (sph_dtype)dtype, (enum kernel_choice)choice);
                    opts.optimizer = SPH_OPTIMIZER_SGD;
                    follow_by_hand(opts, (sph_dtype)dtype, (enum kernel_choice)choice);
                    opts.nesterov = 1;
                    follow_by_hand(opts, (sph_dtype)dtype, (enum kernel_choice)choice);
                    opts.nesterov = 0;
                    opts.momentum = 0;
                    follow_by_hand(opts, (sph_dtype)dtype, (enum kernel_choice)choice);
                }
}

/* Without a gradient only decay moves numbers: plain weights, wn's g, r; nothing else unless a group asks. */
static void weight_decay_touches_weights_lengths_and_scales_only(void **state)
{
    (void)state;
    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
        for (int asked = 0; asked < 2; asked++) {
            sph_train_opts opts = sph_train_defaults(SPH_TASK_REGRESSION);
            opts.optimizer = (sph_optimizer)optimizer;
            opts.weight_decay = 0.1;
            if (asked)
                opts.group_decay[SPH_GROUP_THETA] = 1;
            sph_net *net = net_of_all_groups(SPH_F64, KERNELS_FASTEST);
            struct weights *weights = NULL;
            struct optimizer step;
            assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
            assert_int_equal(optimizer_new(&step, weights, &opts), 0);
            double *number = net->params;
            for (size_t i = 0; i < net->learned; i++)
                number[i] = 1;
            optimizer_step(&step, weights, 0.01, 1);
            for (size_t i = 0; i < net->learned; i++) {
                sph_group group = group_of(net, i);
                int decays = group == SPH_GROUP_WEIGHT || group == SPH_GROUP_G || group == SPH_GROUP_R ||
                             (asked && group == SPH_GROUP_THETA);
                assert_true(decays ? number[i] < 1 : number[i] == 1);
            }
            optimizer_free(&step);
            weights_free(weights);
            sph_net_free(net);
        }
}

/* ---------------------------------------------------------------- scores */

/* A net that returns its input: a plain layer with the unit matrix. */
static sph_net *mirror(sph_dtype dtype, size_t n)
{
    sph_net *net = open_net(dtype, KERNELS_FASTEST);
    ready(net, dense(net, sph_net_input(net, n), n, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 1);
    double *unit = numbers(n * n);
    for (size_t i = 0; i < n; i++)
        unit[i * n + i] = 1;
    assert_int_equal(sph_net_set(net, "layers.0.weight", unit, n * n), 0);
    free(unit);
    return net;
}

static sph_scores score(sph_net *net, sph_loss loss, const double *y_scale, const double *x, const double *y,
                        size_t rows, size_t batch)
{
    size_t n = sph_net_inputs(net);
    struct memory_table table = {.k = net->k, .n = n, .targets = loss == SPH_LOSS_CE ? 1 : n, .x = x, .y = y};
    struct source source = memory_source(&table, rows);
    struct weights *weights = NULL;
    struct evaluator *evaluator = NULL;
    sph_scores scores;
    assert_int_equal(weights_new(&weights, net, net->k, 0), 0);
    weights_materialize(weights);
    struct evaluator_opts opts = {.loss = loss, .y_scale = y_scale, .workers = 2};
    assert_int_equal(evaluator_new(&evaluator, weights, &opts, batch), 0);
    assert_int_equal(evaluator_run(evaluator, &source, &scores), 0);
    assert_int_equal(scores.rows, rows);
    evaluator_free(evaluator);
    weights_free(weights);
    return scores;
}

/* One row, six classes: how many of the others score at least as high decides. */
static void top_k_counts_ties_against_the_truth(void **state)
{
    (void)state;
    sph_net *net = mirror(SPH_F64, 7);
    static const struct {
        double p[7], truth;
        int top1, top5;
    } row[] = {
        {{9, 1, 2, 3, 4, 5, 6}, 0, 1, 1},
        {{9, 9, 2, 3, 4, 5, 6}, 0, 0, 1},  /* a tie is no hit               */
        {{5, 6, 7, 8, 9, 1, 1}, 0, 0, 1},  /* four above                    */
        {{5, 6, 7, 8, 9, 5, 1}, 0, 0, 0},  /* four above and a tie: five    */
        {{5, 6, 7, 8, 9, 10, 1}, 0, 0, 0}, /* five above                    */
        {{1, 1, 1, 1, 1, 1, 1}, 3, 0, 0},  /* all equal: nothing was learnt */
        {{0, 0, 0, 0, 0, 0, 1}, 6, 1, 1},
    };
    enum { ROWS = sizeof row / sizeof *row };
    for (size_t i = 0; i < ROWS; i++) {
        sph_scores s = score(net, SPH_LOSS_CE, NULL, row[i].p, &row[i].truth, 1, 4);
        assert_int_equal(s.count, 3);
        assert_string_equal(s.name[0], "loss");
        assert_string_equal(s.name[1], "accuracy");
        assert_string_equal(s.name[2], "top5");
        assert_true(s.value[1] == row[i].top1);
        assert_true(s.value[2] == row[i].top5);
    }
    double x[ROWS * 7], y[ROWS], loss = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        memcpy(x + i * 7, row[i].p, sizeof row[i].p);
        y[i] = row[i].truth;
        for (size_t c = 0; c < 7; c++)
            sum += exp(row[i].p[c]);
        loss += (log(sum) - row[i].p[(size_t)y[i]]) / ROWS;
    }
    for (size_t batch = 1; batch <= ROWS + 1; batch++) {
        sph_scores s = score(net, SPH_LOSS_CE, NULL, x, y, ROWS, batch);
        near(s.value[0], loss, 1e-14);
        near(s.value[1], 2.0 / ROWS, 1e-16);
        near(s.value[2], 4.0 / ROWS, 1e-16);
    }
    sph_net_free(net);
}

/* A score that is no number misses, and drags no other row along. */
static void a_score_that_is_no_number_misses(void **state)
{
    (void)state;
    sph_net *net = mirror(SPH_F64, 2);
    assert_int_equal(sph_net_set(net, "layers.0.bias", (double[]){NAN, 0}, 2), 0);
    sph_scores s = score(net, SPH_LOSS_CE, NULL, (double[]){5, 1}, (double[]){0}, 1, 1);
    assert_true(s.value[1] == 0);
    assert_int_equal(s.count, 2); /* two classes have no top5 */
    assert_int_equal(sph_net_set(net, "layers.0.bias", (double[]){INFINITY, 0}, 2), 0);
    s = score(net, SPH_LOSS_CE, NULL, (double[]){5, 1}, (double[]){0}, 1, 1);
    assert_true(s.value[1] == 0);
    sph_net_free(net);
    net = mirror(SPH_F64, 1);
    assert_int_equal(sph_net_set(net, "layers.0.bias", (double[]){NAN}, 1), 0);
    s = score(net, SPH_LOSS_BCE, NULL, (double[]){5}, (double[]){1}, 1, 1);
    assert_true(s.value[1] == 0);
    sph_net_free(net);
}

/* Over all rows at once, in f64, in the target's own units; whatever the batch and the net's dtype. */
static void errors_are_those_of_all_rows_in_the_targets_units(void **state)
{
    (void)state;
    enum { ROWS = 2500, N = 2 };
    struct rng rng = rng_stream(42, RNG_NOISE, 0);
    static const double scale[N] = {3, 0.5};
    double *x = numbers(ROWS * N), *y = numbers(ROWS * N), squares = 0, sizes = 0, own_squares = 0,
           own_sizes = 0;
    for (size_t i = 0; i < ROWS * N; i++) {
        x[i] = (double)(float)(1000 + rng_normal(&rng)); /* exact in f32, so that f32 loses nothing either */
        y[i] = (double)(float)(1000 + rng_normal(&rng));
        double error = x[i] - y[i];
        squares += error * error / (ROWS * N);
        sizes += fabs(error) / (ROWS * N);
        own_squares += error * error * scale[i % N] * scale[i % N] / (ROWS * N);
        own_sizes += fabs(error) * scale[i % N] / (ROWS * N);
    }
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        sph_net *net = mirror((sph_dtype)dtype, N);
        for (size_t batch = 100; batch <= 3000; batch += 900) {
            sph_scores mse = score(net, SPH_LOSS_MSE, scale, x, y, ROWS, batch);
            sph_scores mae = score(net, SPH_LOSS_MAE, NULL, x, y, ROWS, batch);
            assert_int_equal(mse.count, 3);
            assert_string_equal(mse.name[1], "rmse");
            assert_string_equal(mse.name[2], "mae");
            near(mse.value[0], squares, 1e-6);
            near(mse.value[1], sqrt(own_squares), 1e-12);
            near(mse.value[2], own_sizes, 1e-12);
            near(mae.value[0], sizes, 1e-6);
            near(mae.value[1], sqrt(squares), 1e-12);
            near(mae.value[2], sizes, 1e-12);
        }
        sph_net_free(net);
    }
    free(x), free(y);
}

static void binary_accuracy_counts_signs_of_the_logit(void **state)
{
    (void)state;
    sph_net *net = mirror(SPH_F32, 1);
    sph_scores s =
        score(net, SPH_LOSS_BCE, NULL, (double[]){2, -1, 0.5, -3, 0}, (double[]){1, 1, 0, 0, 1}, 5, 2);
    assert_int_equal(s.count, 2);
    near(s.value[1], 2.0 / 5, 1e-16); /* a logit of 0 says no */
    double loss = (log1p(exp(-2)) + log1p(exp(1)) + log1p(exp(0.5)) + log1p(exp(-3)) + log(2)) / 5;
    near(s.value[0], loss, 1e-6);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- the loop */

/* y = sin of a sum of three features, with noise of its own. */
struct problem {
    struct memory_table table, val_table;
    struct source train, val;
    double *x, *y;
};

static void problem_open(struct problem *p, const sph_net *net, size_t rows, size_t val_rows)
{
    struct rng rng = rng_stream(43, RNG_NOISE, 0);
    size_t all = rows + val_rows, n = sph_net_inputs(net);
    p->x = numbers(all * n);
    p->y = numbers(all);
    for (size_t i = 0; i < all; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += p->x[i * n + j] = rng_normal(&rng);
        p->y[i] = sin(sum) + 0.3 * rng_normal(&rng);
    }
    p->table = (struct memory_table){.k = net->k, .n = n, .targets = 1, .x = p->x, .y = p->y};
    p->val_table =
        (struct memory_table){.k = net->k, .n = n, .targets = 1, .x = p->x + rows * n, .y = p->y + rows};
    p->train = memory_source(&p->table, rows);
    p->val = memory_source(&p->val_table, val_rows);
}

static void problem_close(struct problem *p)
{
    free(p->x), free(p->y);
}

static sph_train_opts few_epochs(size_t epochs)
{
    sph_train_opts opts = sph_train_defaults(SPH_TASK_REGRESSION);
    opts.epochs = epochs;
    opts.patience = 0;
    opts.lr = 0.01;
    return opts;
}

static struct trainer *trainer_for(sph_net *net, const sph_train_opts *opts, struct problem *p, int with_val)
{
    struct trainer *trainer = NULL;
    struct trainer_setup setup = {
        .net = net, .opts = opts, .train = &p->train, .val = with_val ? &p->val : NULL};
    assert_int_equal(trainer_new(&trainer, &setup), 0);
    return trainer;
}

struct diary {
    size_t starts, steps, epochs, ends, improved, best;
    double first, last, lowest, value[256], rate[256];
    size_t stop_at;    /* step at which to ask for a stop, 0 never */
    const char *watch; /* name of the value to note                */
};

static int diary_start(void *self, const sph_view *view)
{
    struct diary *diary = self;
    assert_int_equal(view->step, diary->steps);
    diary->starts++;
    return 0;
}

static int diary_step(void *self, const sph_view *view)
{
    struct diary *diary = self;
    if (!diary->steps)
        diary->first = view->loss;
    if (diary->steps < 256)
        diary->rate[diary->steps] = view->lr;
    diary->last = view->loss;
    diary->steps++;
    assert_int_equal(view->step, diary->steps);
    return diary->stop_at && diary->steps == diary->stop_at;
}

static int diary_epoch(void *self, const sph_view *view)
{
    struct diary *diary = self;
    const char *watch = diary->watch ? diary->watch : "train_loss";
    size_t v = 0;
    while (v < view->values && strcmp(view->names[v], watch))
        v++;
    assert_true(v < view->values);
    if (diary->epochs < 256)
        diary->value[diary->epochs] = view->value[v];
    if (!diary->epochs || view->value[v] < diary->lowest) {
        diary->lowest = view->value[v];
        diary->best = diary->epochs + 1;
    }
    diary->improved += (size_t)view->improved;
    diary->epochs++;
    assert_int_equal(view->epoch, diary->epochs);
    return 0;
}

static int diary_end(void *self, const sph_view *view)
{
    (void)view;
    ((struct diary *)self)->ends++;
    return 0;
}

static sph_observer diary_observer(struct diary *diary)
{
    return (sph_observer){diary, diary_start, diary_step, diary_epoch, diary_end};
}

static sph_net *learner(sph_dtype dtype, sph_param param, sph_norm norm)
{
    return stack(dtype, KERNELS_FASTEST, 3, 16, 2, 1, param, norm, SPH_ACT_RELU, 12);
}

static void training_lowers_the_loss_under_every_method(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
                sph_net *net = learner((sph_dtype)dtype, (sph_param)param, (sph_norm)norm);
                struct problem p;
                problem_open(&p, net, 200, 0);
                sph_train_opts opts = few_epochs(60);
                opts.batch = 64;
                struct trainer *trainer = trainer_for(net, &opts, &p, 0);
                struct diary diary = {0};
                assert_int_equal(trainer_run(trainer, &(sph_observer){0}, 0), 0);
                trainer_free(trainer);
                sph_net_free(net);
                net = learner((sph_dtype)dtype, (sph_param)param, (sph_norm)norm);
                trainer = trainer_for(net, &opts, &p, 0);
                sph_observer observer = diary_observer(&diary);
                assert_int_equal(trainer_run(trainer, &observer, 1), 0);
                assert_int_equal(diary.starts, 1);
                assert_int_equal(diary.ends, 1);
                assert_int_equal(diary.epochs, 60);
                assert_int_equal(diary.steps, 60 * 4);
                if (!(diary.value[59] < 0.5 * diary.value[0]))
                    fail_msg("%s %s: %g after the first epoch, %g after the last", param_word[param],
                             norm_word[norm], diary.value[0], diary.value[59]);
                if (param == SPH_PARAM_SPHERE) { /* it stayed where it belongs */
                    double u[48];
                    assert_int_equal(sph_net_get(net, "layers.0.u", u, 48), 0);
                    for (size_t j = 0; j < 16; j++)
                        near(u[3 * j] * u[3 * j] + u[3 * j + 1] * u[3 * j + 1] + u[3 * j + 2] * u[3 * j + 2],
                             1, dtype == SPH_F64 ? 1e-14 : 1e-6);
                }
                trainer_free(trainer);
                problem_close(&p);
                sph_net_free(net);
            }
}

/* One epoch of full-batch SGD is p -= lr * gradient, with the gradient of a bare plan. */
static void one_step_is_the_gradient_times_the_rate(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_GMP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 50, 0);
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    struct probe probe;
    probe_open(&probe, net, SPH_LOSS_MSE, 50, 1, &rng);
    for (uint32_t i = 0; i < 50; i++)
        memory_fetch(&p.table, &i, 1, (double *)probe.x + i * probe.ldx, probe.ldx,
                     (double *)probe.y + i * probe.ldy, probe.ldy);
    double loss = probe_gradient(&probe), *want = numbers(net->learned);
    for (size_t i = 0; i < net->learned; i++)
        want[i] = ((double *)net->params)[i] - 0.3 * ((double *)probe.weights->learned_grad)[i];
    sph_train_opts opts = few_epochs(1);
    opts.optimizer = SPH_OPTIMIZER_SGD;
    opts.lr = 0.3;
    opts.batch = 0;
    struct trainer *trainer = trainer_for(net, &opts, &p, 0);
    struct diary diary = {0};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    assert_int_equal(diary.steps, 1);
    near(diary.first, loss, 1e-15);
    for (size_t i = 0; i < net->learned; i++)
        near(((double *)net->params)[i], want[i], 1e-15);
    free(want);
    trainer_free(trainer);
    probe_close(&probe);
    problem_close(&p);
    sph_net_free(net);
}

static void rates_follow_the_schedule_step_by_step(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 40, 0);
    sph_train_opts opts = few_epochs(6);
    opts.batch = 10;
    opts.schedule = "step:2,4:0.1";
    opts.warmup = 1;
    struct trainer *trainer = trainer_for(net, &opts, &p, 0);
    struct diary diary = {0};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    assert_int_equal(diary.steps, 24);
    for (size_t s = 0; s < 24; s++)
        near(diary.rate[s], 0.01 * (s < 4 ? 0.25 * (double)(s + 1) : s < 8 ? 1 : s < 16 ? 0.1 : 0.01), 1e-17);
    trainer_free(trainer);
    problem_close(&p);
    sph_net_free(net);
}

static void same_seed_same_bits_other_seed_others(void **state)
{
    (void)state;
    double last[3][2]; /* runs with seeds 5, 5, 6; workers 1, 2 */
    for (int threads = 1; threads <= 2; threads++)
        for (int run = 0; run < 3; run++) {
            sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN);
            struct problem p;
            problem_open(&p, net, 500, 0);
            sph_train_opts opts = few_epochs(3);
            opts.batch = 200;
            opts.seed = run == 2 ? 6 : 5;
            opts.threads = threads;
            struct trainer *trainer = trainer_for(net, &opts, &p, 0);
            struct diary diary = {0};
            sph_observer observer = diary_observer(&diary);
            assert_int_equal(trainer_run(trainer, &observer, 1), 0);
            last[run][threads - 1] = diary.last;
            trainer_free(trainer);
            problem_close(&p);
            sph_net_free(net);
        }
    for (int threads = 0; threads < 2; threads++) {
        assert_true(last[0][threads] == last[1][threads]);
        assert_true(last[0][threads] != last[2][threads]);
    }
    near(last[0][0], last[0][1], 1e-3 * last[0][0]);
}

/* Gradient accumulation is the batch, where rows do not know of each other. */
static void micro_batches_train_like_batches(void **state)
{
    (void)state;
    double *after[2];
    size_t learned = 0;
    for (int i = 0; i < 2; i++) {
        sph_net *net = learner(SPH_F64, SPH_PARAM_GMP, SPH_NORM_LN);
        struct problem p;
        problem_open(&p, net, 103, 0);
        sph_train_opts opts = few_epochs(5);
        opts.batch = 50;
        opts.micro = i ? 7 : 0;
        struct trainer *trainer = trainer_for(net, &opts, &p, 0);
        assert_int_equal(trainer_run(trainer, NULL, 0), 0);
        learned = net->learned;
        after[i] = numbers(learned);
        memcpy(after[i], net->params, learned * sizeof(double));
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
    for (size_t i = 0; i < learned; i++)
        near(after[0][i], after[1][i], 1e-9); /* adam divides small numbers */
    free(after[0]), free(after[1]);
}

/* ---------------------------------------------------------------- stopping */

static void early_stopping_waits_and_gives_back_the_best_weights(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_BN);
    struct problem p;
    problem_open(&p, net, 30, 60); /* few rows: it overfits soon */
    sph_train_opts opts = few_epochs(200);
    opts.patience = 15;
    opts.lr = 0.02;
    struct trainer *trainer = trainer_for(net, &opts, &p, 1);
    struct diary diary = {.watch = "val_loss"};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    assert_true(diary.epochs < 200);
    assert_int_equal(diary.epochs, diary.best + 15);
    assert_true(trainer_scalar(trainer, TRAINER_BEST_EPOCH) == (double)diary.best);
    assert_true(trainer_scalar(trainer, TRAINER_BEST) == diary.lowest);
    assert_true(trainer_scalar(trainer, TRAINER_FINISHED) == 1);
    assert_false(trainer_stopped(trainer));
    assert_true(diary.improved >= 1 && diary.improved <= diary.best);
    sph_scores last, best;
    assert_int_equal(trainer_score(trainer, &p.val, &last), 0);
    assert_true(last.value[0] == diary.value[diary.epochs - 1]);
    trainer_take_best(trainer);
    assert_int_equal(trainer_score(trainer, &p.val, &best), 0);
    assert_true(best.value[0] == diary.lowest); /* running statistics came along, or this would not hold */
    assert_true(best.value[0] < last.value[0]);
    trainer_free(trainer);
    problem_close(&p);
    sph_net_free(net);
}

static void accuracy_is_monitored_upwards(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 60, 60);
    for (size_t i = 0; i < 120; i++)
        p.y[i] = p.y[i] > 0;
    sph_train_opts opts = few_epochs(50);
    opts.loss = SPH_LOSS_BCE;
    opts.monitor = "val_accuracy";
    opts.patience = 10;
    struct trainer *trainer = trainer_for(net, &opts, &p, 1);
    struct diary diary = {.watch = "val_accuracy"};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    double highest = 0;
    size_t at = 0;
    for (size_t e = 0; e < diary.epochs; e++)
        if (diary.value[e] > highest) {
            highest = diary.value[e];
            at = e + 1;
        }
    assert_true(trainer_scalar(trainer, TRAINER_BEST_EPOCH) == (double)at);
    assert_true(trainer_scalar(trainer, TRAINER_BEST) == -highest);
    trainer_free(trainer);
    opts.monitor = "val_acuracy";
    struct trainer_setup setup = {.net = net, .opts = &opts, .train = &p.train, .val = &p.val};
    assert_int_equal(trainer_new(&trainer, &setup), SPH_EARG);
    assert_non_null(strstr(sph_error(), "val_accuracy"));
    problem_close(&p);
    sph_net_free(net);
}

/* Asked to stop in the middle of an epoch, the loop goes on later as if nothing had happened. */
static void a_stopped_run_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    double last[2];
    for (int stops = 0; stops < 2; stops++) {
        sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN);
        struct problem p;
        problem_open(&p, net, 100, 20);
        sph_train_opts opts = few_epochs(6);
        opts.batch = 30;
        struct trainer *trainer = trainer_for(net, &opts, &p, 1);
        struct diary diary = {.stop_at = stops ? 7 : 0};
        sph_observer observer = diary_observer(&diary);
        assert_int_equal(trainer_run(trainer, &observer, 1), 0);
        assert_int_equal(trainer_stopped(trainer), stops);
        if (stops) {
            assert_int_equal(diary.steps, 7);
            /* a checkpoint is the spans: carry them over to a new trainer */
            sph_net *other = learner(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN);
            struct trainer *heir = trainer_for(other, &opts, &p, 1);
            struct trainer_span from[TRAINER_SPANS], to[TRAINER_SPANS];
            size_t count = trainer_spans(trainer, from);
            assert_int_equal(trainer_spans(heir, to), count);
            for (size_t i = 0; i < count; i++)
                memcpy(to[i].data, from[i].data, from[i].count * (from[i].is_f64 ? 8 : 4));
            trainer_restored(heir);
            diary.stop_at = 0;
            trainer_free(trainer);
            sph_net_free(net);
            trainer = heir;
            net = other;
            assert_int_equal(trainer_run(trainer, &observer, 1), 0);
            assert_false(trainer_stopped(trainer));
        }
        assert_int_equal(diary.steps, 24);
        assert_int_equal(diary.epochs, 6);
        last[stops] = diary.last;
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
    assert_true(last[0] == last[1]);
}

/* ---------------------------------------------------------------- divergence */

static void a_huge_rate_ends_as_diverged_and_says_where(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < 2; norm++)
            for (int micro = 0; micro < 2; micro++) {
                sph_net *net = learner(SPH_F32, (sph_param)param, (sph_norm)norm);
                struct problem p;
                problem_open(&p, net, 100, 0);
                sph_train_opts opts = few_epochs(50);
                opts.optimizer = SPH_OPTIMIZER_SGD;
                opts.lr = 1e30;
                opts.batch = 40;
                opts.micro = micro ? 8 : 0;
                struct trainer *trainer = trainer_for(net, &opts, &p, 0);
                struct diary diary = {0};
                sph_observer observer = diary_observer(&diary);
                assert_int_equal(trainer_run(trainer, &observer, 1), SPH_EDIVERGED);
                char step[32];
                snprintf(step, sizeof step, "step %zu ", diary.steps + 1);
                if (!strstr(sph_error(), step) || !strstr(sph_error(), "layers."))
                    fail_msg("'%s' names no step %zu or no layer", sph_error(), diary.steps + 1);
                assert_null(strchr(sph_error(), '\n'));
                assert_true(trainer_scalar(trainer, TRAINER_STEP) == (double)diary.steps);
                assert_true(trainer_scalar(trainer, TRAINER_FINISHED) == 0);
                assert_false(trainer_stopped(trainer));
                trainer_free(trainer);
                problem_close(&p);
                sph_net_free(net);
            }
}

/* No observer ever sees, and so no checkpoint ever holds, weights that are not finite. */
static int weights_are_finite(void *self, const sph_view *view)
{
    (void)self;
    assert_true(view->net->k->all_finite(view->net->learned, view->net->params));
    return 0;
}

static void observers_see_finite_weights_only(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (double lr = 1e4; lr < 1e37; lr *= 10) {
            sph_net *net = learner(SPH_F32, (sph_param)param, SPH_NORM_NONE);
            struct problem p;
            problem_open(&p, net, 30, 0);
            sph_train_opts opts = few_epochs(20);
            opts.optimizer = SPH_OPTIMIZER_SGD;
            opts.lr = lr;
            struct trainer *trainer = trainer_for(net, &opts, &p, 0);
            sph_observer observer = {NULL, weights_are_finite, weights_are_finite, weights_are_finite,
                                     weights_are_finite};
            int err = trainer_run(trainer, &observer, 1);
            assert_true(err == 0 || err == SPH_EDIVERGED);
            trainer_free(trainer);
            problem_close(&p);
            sph_net_free(net);
        }
}

/* ---------------------------------------------------------------- batches */

static void a_last_row_joins_the_batch_before_under_batch_statistics(void **state)
{
    (void)state;
    static const struct {
        sph_norm norm;
        size_t rows, batch, steps, least;
    } want[] = {
        {SPH_NORM_BN, 21, 10, 2, 10},  {SPH_NORM_MBN, 21, 10, 2, 10}, {SPH_NORM_IMN, 21, 10, 2, 10},
        {SPH_NORM_NONE, 21, 10, 3, 1}, {SPH_NORM_LN, 21, 10, 3, 1},   {SPH_NORM_BN, 22, 10, 3, 2},
        {SPH_NORM_BN, 11, 10, 1, 11},  {SPH_NORM_BN, 10, 100, 1, 10}, {SPH_NORM_BN, 3, 2, 1, 3},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, want[i].norm);
        struct problem p;
        problem_open(&p, net, want[i].rows, 0);
        sph_train_opts opts = few_epochs(1);
        opts.batch = want[i].batch;
        struct trainer *trainer = trainer_for(net, &opts, &p, 0);
        struct diary diary = {0};
        sph_observer observer = diary_observer(&diary);
        assert_int_equal(trainer_run(trainer, &observer, 1), 0);
        assert_int_equal(diary.steps, want[i].steps);
        assert_int_equal(p.table.least, want[i].least);
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
}

static void single_rows_are_refused_under_batch_statistics(void **state)
{
    (void)state;
    static const struct {
        size_t rows, batch, micro;
        int refused;
    } want[] = {
        {20, 1, 0, 1},  {1, 0, 0, 1},   {20, 10, 1, 1},
        {20, 10, 3, 1}, {20, 10, 5, 0}, {23, 10, 2, 1}, /* a last batch of 3 rows, two at a time */
        {21, 10, 5, 1},                                 /* a last batch of 11 */
        {24, 10, 2, 0}, {1, 1, 1, 1},
    };
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, (sph_norm)norm);
            struct problem p;
            problem_open(&p, net, want[i].rows, 0);
            sph_train_opts opts = few_epochs(1);
            opts.batch = want[i].batch;
            opts.micro = want[i].micro;
            struct trainer *trainer = NULL;
            struct trainer_setup setup = {.net = net, .opts = &opts, .train = &p.train};
            int refuse = want[i].refused && norm != SPH_NORM_NONE && norm != SPH_NORM_LN;
            assert_int_equal(trainer_new(&trainer, &setup), refuse ? SPH_EARG : 0);
            if (refuse)
                assert_true(strstr(sph_error(), "batch: 1 row") || strstr(sph_error(), "micro: "));
            trainer_free(trainer);
            problem_close(&p);
            sph_net_free(net);
        }
}

static void wrong_options_are_refused_by_name(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 10, 0);
    sph_train_opts good = few_epochs(1);
    struct {
        const char *word;
        sph_train_opts opts;
    } wrong[] = {
        {"lr", good},      {"lr", good},           {"epochs", good},        {"momentum", good},
        {"clip", good},    {"weight_decay", good}, {"norm_momentum", good}, {"label_smoothing", good},
        {"threads", good}, {"schedule", good},     {"monitor", good},       {"loss", good}};
    wrong[0].opts.lr = 0;
    wrong[1].opts.lr = NAN;
    wrong[2].opts.epochs = 0;
    wrong[3].opts.momentum = 1;
    wrong[4].opts.clip = -1;
    wrong[5].opts.weight_decay = -0.1;
    wrong[6].opts.norm_momentum = 0;
    wrong[7].opts.label_smoothing = 1;
    wrong[8].opts.threads = 0;
    wrong[9].opts.schedule = "steep";
    wrong[10].opts.monitor = "val_loss";
    wrong[11].opts.loss = SPH_LOSS_CE;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trainer *trainer = NULL;
        struct trainer_setup setup = {.net = net, .opts = &wrong[i].opts, .train = &p.train};
        assert_int_equal(trainer_new(&trainer, &setup), SPH_EARG);
        if (strncmp(sph_error(), wrong[i].word, strlen(wrong[i].word)))
            fail_msg("'%s' does not begin with %s", sph_error(), wrong[i].word);
    }
    struct source nothing = memory_source(&p.table, 0);
    struct trainer *trainer = NULL;
    struct trainer_setup setup = {.net = net, .opts = &good, .train = &nothing};
    assert_int_equal(trainer_new(&trainer, &setup), SPH_EARG);
    assert_non_null(strstr(sph_error(), "no rows"));
    problem_close(&p);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_schedule_falls_when_its_epochs_are_finished),
        cmocka_unit_test(plateau_schedule_counts_epochs_without_a_real_improvement),
        cmocka_unit_test(cosine_schedule_and_warmup_multiply),
        cmocka_unit_test(wrong_schedules_are_refused),
        cmocka_unit_test(optimizers_follow_loops_written_by_hand),
        cmocka_unit_test(weight_decay_touches_weights_lengths_and_scales_only),
        cmocka_unit_test(top_k_counts_ties_against_the_truth),
        cmocka_unit_test(a_score_that_is_no_number_misses),
        cmocka_unit_test(errors_are_those_of_all_rows_in_the_targets_units),
        cmocka_unit_test(binary_accuracy_counts_signs_of_the_logit),
        cmocka_unit_test(training_lowers_the_loss_under_every_method),
        cmocka_unit_test(one_step_is_the_gradient_times_the_rate),
        cmocka_unit_test(rates_follow_the_schedule_step_by_step),
        cmocka_unit_test(same_seed_same_bits_other_seed_others),
        cmocka_unit_test(micro_batches_train_like_batches),
        cmocka_unit_test(early_stopping_waits_and_gives_back_the_best_weights),
        cmocka_unit_test(accuracy_is_monitored_upwards),
        cmocka_unit_test(a_stopped_run_goes_on_with_the_same_bits),
        cmocka_unit_test(a_huge_rate_ends_as_diverged_and_says_where),
        cmocka_unit_test(observers_see_finite_weights_only),
        cmocka_unit_test(a_last_row_joins_the_batch_before_under_batch_statistics),
        cmocka_unit_test(single_rows_are_refused_under_batch_statistics),
        cmocka_unit_test(wrong_options_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
