/* SPDX-License-Identifier: MIT
 *
 * Watch a training from outside: by how much does the boundary of a unit turn in one step?
 *
 * The loop knows nothing of logs or plots; an observer is called after each step with a view of it and may
 * ask to stop. This one reads the first layer's weights and keeps the largest change of direction. The
 * library's own observer, a tracker, stands before it and says the same for every layer. GmP and SP are
 * watched at the same large rate. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <spherelu.h>

enum { UNITS = 20, STEPS = 300 };

struct watch {
    sph_tracker *tracker;
    double tracked;      /* largest turn of a unit, as the tracker sees it */
    double w[UNITS * 2]; /* (units, inputs) after the step before */
    double largest;      /* turn of a unit in a step, in radians  */
    int starts, steps, ends;
};

/* The angle between two weights; accurate near 0 and near pi, unlike acos. */
static double angle(const double *a, const double *b)
{
    double cross = a[0] * b[1] - a[1] * b[0], dot = a[0] * b[0] + a[1] * b[1];
    return fabs(atan2(cross, dot));
}

static int on_start(void *self, const sph_view *view)
{
    struct watch *watch = self;
    watch->starts++;
    return sph_net_weight(view->net, 0, watch->w, NULL,
                          NULL); /* negative: the training fails with its message */
}

static int on_step(void *self, const sph_view *view)
{
    struct watch *watch = self;
    double w[UNITS * 2];
    int err = sph_net_weight(view->net, 0, w, NULL, NULL);
    if (err < 0)
        return err;
    for (int j = 0; j < UNITS; j++)
        watch->largest = fmax(watch->largest, angle(watch->w + 2 * j, w + 2 * j));
    memcpy(watch->w, w, sizeof w);
    sph_motion motion;
    if ((err = sph_tracker_layer(watch->tracker, 0, &motion)) < 0)
        return err;
    watch->tracked = fmax(watch->tracked, motion.turn.max);
    watch->steps++;
    return view->step >= STEPS; /* not 0: stop after this step */
}

static int on_end(void *self, const sph_view *view)
{
    struct watch *watch = self;
    (void)view;
    watch->ends++;
    return 0;
}

static int observe(sph_param param, double lr, const sph_data *data, const sph_split *split,
                   struct watch *watch)
{
    sph_net *net = NULL;
    sph_result result;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){UNITS},
                    .depth = 1,
                    .param = param,
                    .act = SPH_ACT_RELU};
    sph_train_opts opts;
    sph_train_defaults(&opts, sph_data_task(data));
    sph_observer observers[2] = {{0}, {.self = watch, .start = on_start, .step = on_step, .end = on_end}};
    opts.lr = lr;
    opts.batch = 128;
    opts.epochs = 10000;
    int err = sph_net_mlp(&net, &spec);
    if (!err)
        err = sph_tracker_new(&watch->tracker, net);
    if (!err) {
        sph_tracker_observer(watch->tracker, &observers[0]);
        err = sph_train(net, data, split, &opts, observers, 2, &result);
    }
    if (!err)
        printf("%-4s %llu steps, largest turn of a unit in one step: %6.2f degrees\n",
               param == SPH_PARAM_GMP ? "GmP" : "SP", (unsigned long long)result.steps,
               watch->largest * 180 / 3.14159265358979323846);
    if (!err)
        err = !(result.stopped && result.steps == STEPS && watch->steps == STEPS && watch->starts == 1 &&
                watch->ends == 1 && fabs(watch->tracked - watch->largest) < 1e-6);
    sph_tracker_free(watch->tracker);
    sph_net_free(net);
    return err;
}

int main(void)
{
    const double lr = 0.1;
    sph_data *data = NULL;
    sph_split split = {0};
    struct watch gmp = {.largest = 0}, sp = {.largest = 0};
    int err;
    if ((err = sph_data_open(&data, "crescents", NULL)) < 0 ||
        (err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0, 0)) < 0 ||
        (err = observe(SPH_PARAM_GMP, lr, data, &split, &gmp)) ||
        (err = observe(SPH_PARAM_SP, lr, data, &split, &sp)))
        goto out;
    /* Two inputs have one angle, and Adam moves no number by more than lr (1 - beta1) / sqrt(1 - beta2) in a
     * step. */
    double bound = lr * 0.1 / sqrt(0.001) * (1 + 1e-5);
    printf("GmP cannot turn by more than %.2f degrees at this rate; SP has no such bound\n",
           bound * 180 / 3.14159265358979323846);
    err = !(gmp.largest <= bound && sp.largest > gmp.largest);
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_split_free(&split);
    sph_data_free(data);
    return err != 0;
}
