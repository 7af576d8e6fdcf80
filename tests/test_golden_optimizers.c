/* SPDX-License-Identifier: MIT
 *
 * 100 steps under each of the optimizers that tests/test_golden.c has not follow PyTorch's losses
 * (tests/golden/make_golden_optimizers.py), through the public API alone. */
#include <stdlib.h>
#include <string.h>

#include "golden_problem.h"

/* PyTorch's f64 losses move by at most 3e-14 when the initial weights are rounded differently, its f32 ones lie
 * within 2e-5 of them (golden/README.md). */
static const struct run {
    const char *label;
    sph_optimizer optimizer;
    double lr, momentum, weight_decay, natural;
} runs[] = {
    {"rmsprop", SPH_OPTIMIZER_RMSPROP, 0.003, 0, 0, 0},
    {"rmsprop+momentum", SPH_OPTIMIZER_RMSPROP, 0.0003, 0.9, 0, 0},
    {"lion", SPH_OPTIMIZER_LION, 0.002, 0, 0.1, 0},
    {"sgd+natural", SPH_OPTIMIZER_SGD, 0.01, 0.9, 0, 0.01},
    {"adam+natural", SPH_OPTIMIZER_ADAM, 0.01, 0, 0, 0.01},
    {"rmsprop+natural", SPH_OPTIMIZER_RMSPROP, 0.003, 0, 0, 0.01},
};

static const struct {
    const char *word;
    sph_param param;
} params[] = {{"sp", SPH_PARAM_SP}, {"gmp", SPH_PARAM_GMP}, {"sphere", SPH_PARAM_SPHERE}};

enum { RUNS = sizeof runs / sizeof *runs, PARAMS = sizeof params / sizeof *params };

struct trajectory {
    const struct run *run;
    sph_param param;
    sph_dtype dtype;
    char name[80];
    double golden[LOSSES];
    size_t read;
};

enum { MOST = 2 * RUNS * PARAMS };
static struct trajectory trajectories[MOST];
static size_t count;

static void follows_pytorch(void **state)
{
    const struct trajectory *t = *state;
    assert_int_equal(t->read, LOSSES);
    sph_train_opts opts;
    golden_opts(&opts);
    sph_train_optimizer(&opts, t->run->optimizer); /* betas and epsilon are its own */
    opts.lr = t->run->lr;
    opts.momentum = t->run->momentum;
    opts.weight_decay = t->run->weight_decay;
    opts.natural = t->run->natural;
    struct golden_losses ours;
    golden_train(t->dtype, t->param, SPH_NORM_NONE, &opts, &ours);
    golden_compare(t->golden, &ours, t->dtype == SPH_F64 ? 1e-9 : 1e-4);
}

/* The trajectory that a line of the file belongs to: a new one at step 0. NULL: none. */
static struct trajectory *trajectory_of(const char *label, const char *param, const char *dtype, size_t step)
{
    char name[80];
    snprintf(name, sizeof name, "%s %s %s follows PyTorch", param, label, dtype);
    if (step)
        return count && !strcmp(trajectories[count - 1].name, name) ? &trajectories[count - 1] : NULL;
    for (size_t r = 0; r < RUNS; r++)
        for (size_t p = 0; p < PARAMS && count < MOST; p++)
            if (!strcmp(runs[r].label, label) && !strcmp(params[p].word, param)) {
                struct trajectory *t = &trajectories[count++];
                t->run = &runs[r];
                t->param = params[p].param;
                t->dtype = !strcmp(dtype, "f64") ? SPH_F64 : SPH_F32;
                snprintf(t->name, sizeof t->name, "%s", name);
                return t;
            }
    return NULL;
}

static int read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return -1;
    }
    char line[256];
    int bad = !fgets(line, sizeof line, file) || strcmp(line, "optimizer,param,dtype,step,value\n") != 0;
    while (!bad && fgets(line, sizeof line, file)) {
        char label[24], param[16], dtype[8];
        size_t step;
        double value;
        bad = sscanf(line, "%23[^,],%15[^,],%7[^,],%zu,%lf", label, param, dtype, &step, &value) != 5;
        struct trajectory *t = bad ? NULL : trajectory_of(label, param, dtype, step);
        if ((bad = !t || step >= LOSSES || step != t->read))
            break;
        t->golden[t->read++] = value;
    }
    if (bad)
        fprintf(stderr, "%s: unexpected line: %s", path, line);
    fclose(file);
    return bad ? -1 : 0;
}

int main(void)
{
    static struct CMUnitTest tests[MOST];
    if (read_golden(SPH_TESTS_DIR "/golden/trajectories_optimizers.csv") < 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){trajectories[i].name, follows_pytorch, NULL, NULL, &trajectories[i]};
    make_problem();
    return _cmocka_run_group_tests("golden_optimizers", tests, count, NULL, NULL);
}
