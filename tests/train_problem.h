/* SPDX-License-Identifier: MIT
 *
 * What the tests of training share: a number near another, a small problem with a net that learns it, and an
 * observer that writes down what it sees. Include it first: it brings cmocka. */
#ifndef SPH_TESTS_TRAIN_PROBLEM_H
#define SPH_TESTS_TRAIN_PROBLEM_H

#include "support.h"

#include "train/trainer.h"

static __attribute__((unused)) void near(double got, double want, double bar)
{
    if (!(fabs(got - want) <= bar))
        fail_msg("%.17g, expected %.17g", got, want);
}

/* y = sin of a sum of three features, with noise of its own. */
struct problem {
    struct memory_table table, val_table;
    struct source train, val;
    double *x, *y;
};

static __attribute__((unused)) void problem_open(struct problem *p, const sph_net *net, size_t rows,
                                                 size_t val_rows)
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

static __attribute__((unused)) void problem_close(struct problem *p)
{
    free(p->x), free(p->y);
}

static __attribute__((unused)) sph_train_opts few_epochs(size_t epochs)
{
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    opts.epochs = epochs;
    opts.patience = 0;
    opts.lr = 0.01;
    return opts;
}

static __attribute__((unused)) struct trainer *trainer_for(sph_net *net, const sph_train_opts *opts,
                                                           struct problem *p, int with_val)
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

static __attribute__((unused)) int diary_start(void *self, const sph_view *view)
{
    struct diary *diary = self;
    assert_int_equal(view->step, diary->steps);
    diary->starts++;
    return 0;
}

static __attribute__((unused)) int diary_step(void *self, const sph_view *view)
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

static __attribute__((unused)) int diary_epoch(void *self, const sph_view *view)
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

static __attribute__((unused)) int diary_end(void *self, const sph_view *view)
{
    (void)view;
    ((struct diary *)self)->ends++;
    return 0;
}

static __attribute__((unused)) sph_observer diary_observer(struct diary *diary)
{
    return (sph_observer){diary, diary_start, diary_step, diary_epoch, diary_end};
}

static __attribute__((unused)) sph_net *learner(sph_dtype dtype, sph_param param, sph_norm norm)
{
    return stack(dtype, KERNELS_FASTEST, 3, 16, 2, 1, param, norm, SPH_ACT_RELU, 12);
}

#endif
