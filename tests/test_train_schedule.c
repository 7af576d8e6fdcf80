/* SPDX-License-Identifier: MIT
 *
 * Schedules and optimizers, each against numbers computed by hand. */
#include "train_problem.h"

#include "train/optimizer.h"
#include "train/schedule.h"

/* ---------------------------------------------------------------- schedules */

struct plan_of_rates {
    struct schedule schedule;
    double state[SCHEDULE_STATE];
};

static struct plan_of_rates parsed(const char *text, double warmup)
{
    struct plan_of_rates out;
    assert_int_equal(schedule_parse(&out.schedule, text, warmup), 0);
    schedule_begin(out.state);
    return out;
}

static double factor(const struct plan_of_rates *s, size_t epoch, uint64_t step, uint64_t steps,
                     size_t per_epoch)
{
    return schedule_factor(&s->schedule, s->state, epoch, step, steps, per_epoch);
}

static void end_epoch(struct plan_of_rates *s, double value)
{
    schedule_epoch(&s->schedule, s->state, value);
}

static void step_schedule_falls_when_its_epochs_are_finished(void **state)
{
    (void)state;
    struct plan_of_rates s = parsed("step:30,60,80:0.1", 0);
    static const struct {
        size_t epoch;
        double rate;
    } want[] = {{0, 1}, {29, 1}, {30, 0.1}, {59, 0.1}, {60, 0.01}, {79, 0.01}, {80, 0.001}, {99, 0.001}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        near(factor(&s, want[i].epoch, want[i].epoch * 7, 700, 7), want[i].rate, 1e-17);
}

static void plateau_schedule_counts_epochs_without_a_real_improvement(void **state)
{
    (void)state;
    struct plan_of_rates s = parsed("plateau:3:0.5:0.1", 0);
    /* 0.95 and 0.91 are better than 1 by less than min_delta; 0.85 is a new best; patience starts over after
     * a fall */
    static const double value[] = {1, 0.95, 0.91, 0.85, 0.8, 0.76, 0.76, 0.9, 0.9, 0.9, 0.9, NAN, NAN, NAN};
    static const double want[] = {1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        end_epoch(&s, value[i]);
        near(factor(&s, i, i, 100, 1), want[i], 0);
    }
    struct plan_of_rates any = parsed("plateau:2:0.1", 0); /* min_delta 0: any improvement counts */
    for (int i = 0; i < 10; i++)
        end_epoch(&any, 1 - 1e-9 * i);
    near(factor(&any, 10, 10, 100, 1), 1, 0);
    end_epoch(&any, 1);
    end_epoch(&any, 1);
    near(factor(&any, 12, 12, 100, 1), 0.1, 0);
}

static void cosine_schedule_and_warmup_multiply(void **state)
{
    (void)state;
    struct plan_of_rates cosine = parsed("cosine", 0);
    near(factor(&cosine, 0, 0, 100, 10), 1, 0);
    near(factor(&cosine, 2, 25, 100, 10), 0.5 * (1 + sqrt(0.5)), 1e-15);
    near(factor(&cosine, 5, 50, 100, 10), 0.5, 1e-15);
    near(factor(&cosine, 10, 100, 100, 10), 0, 1e-15);
    struct plan_of_rates ramp = parsed("none", 0.5); /* half an epoch of 10 steps: 1/5, 2/5 ... 5/5, 1 */
    for (uint64_t step = 0; step < 10; step++)
        near(factor(&ramp, 0, step, 10, 10), step < 5 ? 0.2 * (double)(step + 1) : 1, 1e-15);
    struct plan_of_rates both = parsed("cosine", 1);
    near(factor(&both, 0, 4, 100, 10), 0.5 * (0.5 * (1 + cos(0.04 * acos(-1)))), 1e-15);
    struct plan_of_rates none = parsed(NULL, 0);
    near(factor(&none, 3, 4, 100, 10), 1, 0);
}

static void only_a_schedule_that_falls_to_nothing_ends_low(void **state)
{
    (void)state;
    static const char *const texts[SPH_SCHEDULE_COUNT] = {
        [SPH_SCHEDULE_NONE] = "none",
        [SPH_SCHEDULE_STEP] = "step:3:0.1",
        [SPH_SCHEDULE_PLATEAU] = "plateau:3:0.1:0",
        [SPH_SCHEDULE_COSINE] = "cosine",
    };
    for (int i = 0; i < SPH_SCHEDULE_COUNT; i++) {
        struct plan_of_rates s = parsed(texts[i], 0);
        assert_int_equal(s.schedule.kind, i);
        assert_int_equal(schedule_ends_low(&s.schedule), factor(&s, 100, 100, 100, 1) < 1e-9);
    }
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
        assert_fails(schedule_parse(&s, wrong[i], 0), SPH_EARG, .key = "schedule");
    }
    struct schedule s;
    assert_int_equal(schedule_parse(&s, "none", -1), SPH_EARG);
    assert_fails(schedule_parse(&s, "none", NAN), SPH_EARG, .key = "warmup");
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
    if (o->optimizer == SPH_OPTIMIZER_ADAMW || o->optimizer == SPH_OPTIMIZER_LION)
        n->p -= lr * decay * n->p;
    else
        g += decay * n->p;
    if (o->optimizer == SPH_OPTIMIZER_SGD) {
        n->first = o->momentum * n->first + g;
        n->p -= lr * (o->nesterov ? g + o->momentum * n->first : n->first);
        return;
    }
    if (o->optimizer == SPH_OPTIMIZER_RMSPROP) {
        n->second = o->beta2 * n->second + (1 - o->beta2) * g * g;
        n->first = o->momentum * n->first + g / (sqrt(n->second) + o->epsilon);
        n->p -= lr * n->first;
        return;
    }
    if (o->optimizer == SPH_OPTIMIZER_LION) {
        double mixed = o->beta1 * n->first + (1 - o->beta1) * g;
        n->first = o->beta2 * n->first + (1 - o->beta2) * g;
        n->p -= lr * (double)((mixed > 0) - (mixed < 0));
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
            double factor = group == SPH_GROUP_R ? opts.lr_r : group == SPH_GROUP_THETA ? opts.lr_theta : 1;
            move_by_hand(&hand[i], &opts, lr * factor,
                         opts.decay_groups & 1u << group ? opts.weight_decay : 0,
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
                    sph_train_opts opts;
                    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
                    opts.weight_decay = decay ? 0.3 : 0;
                    opts.clip = clip ? 3 : 0;
                    opts.lr_r = 0.25;
                    opts.lr_theta = 2;
                    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
                        for (int form = 0; form < 3; form++) {
                            sph_train_optimizer(&opts, (sph_optimizer)optimizer);
                            opts.momentum = form < 2 ? 0.9 : 0;
                            opts.nesterov = form == 1;
                            follow_by_hand(opts, (sph_dtype)dtype, (enum kernel_choice)choice);
                        }
                }
}

/* What an optimizer reads is said in its row, and nothing else changes a bit of what it does. */
static void optimizers_read_what_their_rows_say(void **state)
{
    (void)state;
    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++) {
        const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)optimizer);
        double after[OPTIMIZER_OPTIONS + 1][64];
        for (int changed = 0; changed <= OPTIMIZER_OPTIONS; changed++) {
            sph_train_opts opts;
            sph_train_defaults(&opts, SPH_TASK_REGRESSION);
            sph_train_optimizer(&opts, (sph_optimizer)optimizer);
            opts.momentum = changed == OPTIMIZER_MOMENTUM ? 0.7 : 0.5;
            opts.nesterov = changed == OPTIMIZER_NESTEROV;
            opts.beta1 = changed == OPTIMIZER_BETA1 ? 0.1 : opts.beta1;
            opts.beta2 = changed == OPTIMIZER_BETA2 ? 0.2 : opts.beta2;
            opts.epsilon = changed == OPTIMIZER_EPSILON ? 0.3 : opts.epsilon;
            opts.adam_form = changed == OPTIMIZER_FORM ? SPH_ADAM_KERAS : SPH_ADAM_TORCH;
            sph_net *net = net_of_all_groups(SPH_F64, KERNELS_FASTEST);
            struct weights *weights = NULL;
            struct optimizer step;
            assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
            assert_int_equal(optimizer_new(&step, weights, &opts), 0);
            struct rng rng = rng_stream(43, RNG_NOISE, 0);
            for (uint64_t t = 1; t <= 20; t++) {
                for (size_t i = 0; i < net->learned; i++)
                    ((double *)weights->learned_grad)[i] = between(&rng, -1, 1);
                optimizer_step(&step, weights, 0.01, t);
            }
            memcpy(after[changed], net->params, sizeof after[changed]);
            optimizer_free(&step);
            weights_free(weights);
            sph_net_free(net);
        }
        for (int option = 0; option < OPTIMIZER_OPTIONS; option++)
            assert_int_equal(memcmp(after[option], after[OPTIMIZER_OPTIONS], sizeof after[option]) != 0,
                             ops->reads[option]);
    }
}

/* Without a gradient only decay moves numbers: plain weights, wn's g, r; nothing else unless a group asks. */
static void weight_decay_touches_weights_lengths_and_scales_only(void **state)
{
    (void)state;
    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
        for (int asked = 0; asked < 2; asked++) {
            sph_train_opts opts;
            sph_train_defaults(&opts, SPH_TASK_REGRESSION);
            opts.optimizer = (sph_optimizer)optimizer;
            opts.weight_decay = 0.1;
            if (asked)
                opts.decay_groups |= 1u << SPH_GROUP_THETA;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_schedule_falls_when_its_epochs_are_finished),
        cmocka_unit_test(plateau_schedule_counts_epochs_without_a_real_improvement),
        cmocka_unit_test(cosine_schedule_and_warmup_multiply),
        cmocka_unit_test(only_a_schedule_that_falls_to_nothing_ends_low),
        cmocka_unit_test(wrong_schedules_are_refused),
        cmocka_unit_test(optimizers_follow_loops_written_by_hand),
        cmocka_unit_test(optimizers_read_what_their_rows_say),
        cmocka_unit_test(weight_decay_touches_weights_lengths_and_scales_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
