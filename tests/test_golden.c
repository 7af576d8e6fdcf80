/* SPDX-License-Identifier: MIT
 *
 * 100 steps of training follow PyTorch's losses (tests/golden), through the public API alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spherelu.h"

enum { ROWS = 200, INPUTS = 13, WIDE = 32, LAYERS = 3, LOSSES = 101, SEED = 96 };

static const size_t sizes[LAYERS + 1] = {INPUTS, WIDE, WIDE, 1};

static const struct method {
    const char *name;
    sph_param param;
    sph_norm norm;
} methods[] = {
    {"sp", SPH_PARAM_SP, SPH_NORM_NONE},      {"wn", SPH_PARAM_WN, SPH_NORM_NONE},
    {"gmp", SPH_PARAM_GMP, SPH_NORM_NONE},    {"sphere", SPH_PARAM_SPHERE, SPH_NORM_NONE},
    {"gmp+imn", SPH_PARAM_GMP, SPH_NORM_IMN}, {"sp+bn", SPH_PARAM_SP, SPH_NORM_BN},
    {"sp+ln", SPH_PARAM_SP, SPH_NORM_LN},     {"wn+mbn", SPH_PARAM_WN, SPH_NORM_MBN},
};

/* PyTorch's f32 losses lie within 2e-5 of its own f64 ones, and its f64 losses move by at most 4e-14 when the
 * initial weights are rounded differently (golden/README.md): both bars leave room for another order of
 * summation only. */
static const struct run {
    const char *optimizer, *loss, *dtype;
    double bar;
} runs[] = {
    {"adam", "mse", "f64", 1e-9}, {"sgd", "mse", "f64", 1e-9},  {"adam", "mse", "f32", 1e-4},
    {"sgd", "mse", "f32", 1e-4},  {"adam", "mae", "f64", 1e-9}, {"sgd", "mae", "f64", 1e-9},
};

enum { METHODS = sizeof methods / sizeof *methods, RUNS = sizeof runs / sizeof *runs };

struct trajectory {
    char name[64];
    const struct method *method;
    const struct run *run;
    double golden[LOSSES], ours[LOSSES];
    size_t read, seen;
};

static struct trajectory trajectories[METHODS * RUNS];

/* ---------------------------------------------------------------- the problem, as golden/make_golden.py has
 * it */

static double x[ROWS][INPUTS], y[ROWS];
static double weight[LAYERS][WIDE * WIDE], bias[LAYERS][WIDE]; /* (m, n) and (m) */

static double spread(uint64_t *state, double half)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double unit = (double)(*state >> 11) * 0x1p-53;
    return (2.0 * unit - 1.0) * half;
}

static void make_problem(void)
{
    uint64_t state = SEED;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < INPUTS; j++)
            x[i][j] = spread(&state, 1.7);
    for (size_t i = 0; i < ROWS; i++) {
        const double *r = x[i];
        y[i] = 0.5 * r[0] * r[1] + 0.25 * r[2] * r[2] - 0.5 * r[3] + 0.125 * r[4] * r[5] * r[6] + 0.25 * r[7];
    }
    for (size_t k = 0; k < LAYERS; k++) {
        size_t n = sizes[k], m = sizes[k + 1];
        double half = sqrt(6.0 / (double)(n + m));
        for (size_t i = 0; i < m * n; i++)
            weight[k][i] = spread(&state, half);
        for (size_t j = 0; j < m; j++)
            bias[k][j] = spread(&state, 0.1);
    }
}

/* ---------------------------------------------------------------- starting values */

static void set(sph_net *net, size_t layer, const char *tensor, const double *values, size_t count)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%zu.%s", layer, tensor);
    if (sph_net_set(net, name, values, count) < 0)
        fail_msg("%s: %s", name, sph_error());
}

/* theta (n-1) of w (n) */
static void angles(size_t n, const double *w, double *theta)
{
    double tail = w[n - 1] * w[n - 1];
    theta[n - 2] = atan2(w[n - 1], w[n - 2]);
    for (size_t i = n - 2; i-- > 0;) {
        tail += w[i + 1] * w[i + 1];
        theta[i] = atan2(sqrt(tail), w[i]);
    }
}

static void set_hidden(sph_net *net, size_t k, const struct method *method)
{
    size_t n = sizes[k], m = sizes[k + 1];
    double length[WIDE], lambda[WIDE], direction[WIDE * WIDE], theta[WIDE * WIDE];
    for (size_t j = 0; j < m; j++) {
        const double *w = &weight[k][j * n];
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += w[i] * w[i];
        length[j] = sqrt(square);
        lambda[j] = bias[k][j] / length[j];
        for (size_t i = 0; i < n; i++)
            direction[j * n + i] = w[i] / length[j];
        angles(n, w, &theta[j * (n - 1)]);
    }
    if (method->param == SPH_PARAM_GMP || method->param == SPH_PARAM_SPHERE) {
        if (method->param == SPH_PARAM_GMP)
            set(net, k, "theta", theta, m * (n - 1));
        else
            set(net, k, "u", direction, m * n);
        set(net, k, "lambda", lambda, m);
        set(net, k, "r", length, m);
        return;
    }
    if (method->param == SPH_PARAM_WN) {
        set(net, k, "v", weight[k], m * n);
        set(net, k, "g", length, m);
    } else {
        set(net, k, "weight", weight[k], m * n);
    }
    if (method->norm != SPH_NORM_BN)
        set(net, k, "bias", bias[k], m);
}

/* ---------------------------------------------------------------- training */

static int record(void *self, const sph_view *view)
{
    struct trajectory *trajectory = self;
    if (trajectory->seen < LOSSES)
        trajectory->ours[trajectory->seen] = view->loss;
    trajectory->seen++;
    return 0;
}

static void train(struct trajectory *trajectory)
{
    const struct method *method = trajectory->method;
    const struct run *run = trajectory->run;
    int adam = !strcmp(run->optimizer, "adam");

    const size_t hidden[] = {WIDE, WIDE};
    sph_mlp spec = {.dtype = !strcmp(run->dtype, "f64") ? SPH_F64 : SPH_F32,
                    .inputs = INPUTS,
                    .outputs = 1,
                    .hidden = hidden,
                    .depth = 2,
                    .param = method->param,
                    .norm = method->norm,
                    .act = SPH_ACT_RELU,
                    .seed = 1};
    sph_net *net = NULL;
    if (sph_net_mlp(&net, &spec) < 0)
        fail_msg("sph_net_mlp: %s", sph_error());
    set_hidden(net, 0, method);
    set_hidden(net, 1, method);
    set(net, 2, "weight", weight[2], WIDE);
    set(net, 2, "bias", bias[2], 1);

    sph_data *data = NULL;
    if (sph_data_from_arrays(&data, &x[0][0], y, ROWS, INPUTS, 1, SPH_TASK_REGRESSION) < 0)
        fail_msg("sph_data_from_arrays: %s", sph_error());
    uint32_t all[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        all[i] = i;
    sph_split split = {.train = all, .train_rows = ROWS};

    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    opts.loss = !strcmp(run->loss, "mse") ? SPH_LOSS_MSE : SPH_LOSS_MAE;
    opts.optimizer = adam ? SPH_OPTIMIZER_ADAM : SPH_OPTIMIZER_SGD;
    opts.lr = adam && method->param == SPH_PARAM_GMP ? 0.1 : 0.01;
    opts.momentum = 0.9;
    opts.batch = 0;
    opts.epochs = LOSSES;
    opts.schedule = "none";
    opts.patience = 0;
    opts.standardize = SPH_STANDARDIZE_OFF;
    opts.threads = 1;
    for (int group = 0; group < SPH_GROUP_COUNT; group++)
        opts.group_lr[group] = 1;

    sph_observer observer = {.self = trajectory, .step = record};
    sph_result result;
    if (sph_train(net, data, &split, &opts, &observer, 1, &result) < 0)
        fail_msg("sph_train: %s", sph_error());
    sph_data_free(data);
    sph_net_free(net);
}

static void follows_pytorch(void **state)
{
    struct trajectory *trajectory = *state;
    assert_int_equal(trajectory->read, LOSSES);
    train(trajectory);
    assert_int_equal(trajectory->seen, LOSSES);

    double worst = 0;
    size_t where = 0;
    for (size_t t = 0; t < LOSSES; t++) {
        double gap = fabs(trajectory->ours[t] - trajectory->golden[t]) / fabs(trajectory->golden[t]);
        if (gap > worst || isnan(gap)) {
            worst = gap;
            where = t;
        }
        if (isnan(gap))
            break;
    }
    print_message("           largest relative deviation %.1e at step %zu\n", worst, where);
    if (!(worst <= trajectory->run->bar))
        fail_msg("step %zu: loss %.17g, PyTorch's %.17g, relative deviation %.2e, allowed %.0e", where,
                 trajectory->ours[where], trajectory->golden[where], worst, trajectory->run->bar);
}

/* ---------------------------------------------------------------- the committed losses */

static int read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return -1;
    }
    char line[256];
    int bad =
        !fgets(line, sizeof line, file) || strcmp(line, "method,optimizer,loss,dtype,step,value\n") != 0;
    while (!bad && fgets(line, sizeof line, file)) {
        char method[16], optimizer[8], loss[8], dtype[8], name[64];
        size_t step;
        double value;
        if (sscanf(line, "%15[^,],%7[^,],%7[^,],%7[^,],%zu,%lf", method, optimizer, loss, dtype, &step,
                   &value) != 6) {
            bad = 1;
            break;
        }
        snprintf(name, sizeof name, "%s %s %s %s follows PyTorch", method, optimizer, loss, dtype);
        size_t i = 0;
        while (i < METHODS * RUNS && strcmp(trajectories[i].name, name) != 0)
            i++;
        if (i == METHODS * RUNS || step >= LOSSES || step != trajectories[i].read) {
            bad = 1;
            break;
        }
        trajectories[i].golden[step] = value;
        trajectories[i].read++;
    }
    if (bad)
        fprintf(stderr, "%s: unexpected line: %s", path, line);
    fclose(file);
    return bad ? -1 : 0;
}

int main(void)
{
    static struct CMUnitTest tests[METHODS * RUNS];
    for (size_t i = 0; i < METHODS * RUNS; i++) {
        struct trajectory *trajectory = &trajectories[i];
        trajectory->method = &methods[i / RUNS];
        trajectory->run = &runs[i % RUNS];
        snprintf(trajectory->name, sizeof trajectory->name, "%s %s %s %s follows PyTorch",
                 trajectory->method->name, trajectory->run->optimizer, trajectory->run->loss,
                 trajectory->run->dtype);
        tests[i] = (struct CMUnitTest){trajectory->name, follows_pytorch, NULL, NULL, trajectory};
    }
    if (read_golden(SPH_TESTS_DIR "/golden/trajectories.csv") < 0)
        return 1;
    make_problem();
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
