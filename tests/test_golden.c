/* SPDX-License-Identifier: MIT
 *
 * 100 steps of training follow PyTorch's losses (tests/golden), through the public API alone. */
#include <stdlib.h>
#include <string.h>

#include "golden_problem.h"

static const struct method {
    const char *name;
    sph_param param;
    sph_norm norm;
} methods[] = {
    {"sp", SPH_PARAM_SP, SPH_NORM_NONE},      {"wn", SPH_PARAM_WN, SPH_NORM_NONE},
    {"gmp", SPH_PARAM_GMP, SPH_NORM_NONE},    {"sphere", SPH_PARAM_SPHERE, SPH_NORM_NONE},
    {"gmp+imn", SPH_PARAM_GMP, SPH_NORM_IMN}, {"sp+bn", SPH_PARAM_SP, SPH_NORM_BN},
    {"sp+ln", SPH_PARAM_SP, SPH_NORM_LN},     {"wn+mbn", SPH_PARAM_WN, SPH_NORM_MBN},
    {"wn+gn", SPH_PARAM_WN, SPH_NORM_GN},     {"sphere+gn", SPH_PARAM_SPHERE, SPH_NORM_GN},
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
    double golden[LOSSES];
    size_t read;
};

static struct trajectory trajectories[METHODS * RUNS];

static void follows_pytorch(void **state)
{
    struct trajectory *trajectory = *state;
    const struct method *method = trajectory->method;
    const struct run *run = trajectory->run;
    assert_int_equal(trajectory->read, LOSSES);
    int adam = !strcmp(run->optimizer, "adam");
    sph_train_opts opts;
    golden_opts(&opts);
    opts.loss = !strcmp(run->loss, "mse") ? SPH_LOSS_MSE : SPH_LOSS_MAE;
    opts.optimizer = adam ? SPH_OPTIMIZER_ADAM : SPH_OPTIMIZER_SGD;
    opts.lr = adam && method->param == SPH_PARAM_GMP ? 0.1 : 0.01;
    struct golden_losses ours;
    golden_train(!strcmp(run->dtype, "f64") ? SPH_F64 : SPH_F32, method->param, method->norm, &opts, &ours);
    golden_compare(trajectory->golden, &ours, run->bar);
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
