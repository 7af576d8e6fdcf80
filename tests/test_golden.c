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

static void run_opts(sph_train_opts *out, const struct trajectory *trajectory)
{
    const struct run *run = trajectory->run;
    int adam = !strcmp(run->optimizer, "adam");
    golden_opts(out);
    out->loss = !strcmp(run->loss, "mse") ? SPH_LOSS_MSE : SPH_LOSS_MAE;
    out->optimizer = adam ? SPH_OPTIMIZER_ADAM : SPH_OPTIMIZER_SGD;
    out->lr = adam && trajectory->method->param == SPH_PARAM_GMP ? 0.1 : 0.01;
}

static void follows_pytorch(void **state)
{
    struct trajectory *trajectory = *state;
    const struct method *method = trajectory->method;
    const struct run *run = trajectory->run;
    assert_int_equal(trajectory->read, LOSSES);
    sph_train_opts opts;
    run_opts(&opts, trajectory);
    struct golden_losses ours;
    golden_train(!strcmp(run->dtype, "f64") ? SPH_F64 : SPH_F32, method->param, method->norm, &opts, &ours);
    golden_compare(trajectory->golden, &ours, run->bar);
}

/* The train_loss of epoch e is PyTorch's loss before update e, and what the net keeps of the best epoch is what PyTorch has
 * after that update, whose loss is the next of the trajectory: `best = min(losses)`, the state copied behind `step()`. Nets
 * that score as they train only. */
static void the_best_epoch_keeps_the_weights_pytorch_has_at_its_end(void **state)
{
    static const size_t epochs[] = {1, 2, 7, 40, 71, 100};
    size_t compared = 0, before_the_last = 0;
    (void)state;
    for (size_t i = 0; i < METHODS * RUNS; i++) {
        const struct trajectory *t = &trajectories[i];
        sph_norm norm = t->method->norm;
        if (strcmp(t->run->dtype, "f64") != 0 ||
            (norm != SPH_NORM_NONE && norm != SPH_NORM_LN && norm != SPH_NORM_GN))
            continue;
        for (size_t k = 0; k < sizeof epochs / sizeof *epochs; k++, compared++) {
            sph_train_opts opts;
            sph_result result;
            struct golden_losses ours;
            size_t best = 0;
            run_opts(&opts, t);
            opts.epochs = epochs[k];
            opts.patience = LOSSES;
            golden_fit(SPH_F64, t->method->param, norm, &opts, &ours, &result);
            for (size_t e = 0; e < epochs[k]; e++)
                best = t->golden[e] < t->golden[best] ? e : best;
            assert_int_equal(result.best_epoch, best + 1);
            before_the_last += best + 1 < epochs[k];
            double expected = t->golden[best + 1], got = result.train.value[0];
            if (!(fabs(got - expected) <= t->run->bar * expected))
                fail_msg("%s, %zu epochs: the loss of the net is %.17g, PyTorch's after epoch %zu %.17g",
                         t->name, epochs[k], got, best + 1, expected);
        }
    }
    assert_int_equal(compared, 7 * 4 * 6);
    assert_true(before_the_last > 10);
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
    static struct CMUnitTest tests[METHODS * RUNS + 1];
    for (size_t i = 0; i < METHODS * RUNS; i++) {
        struct trajectory *trajectory = &trajectories[i];
        trajectory->method = &methods[i / RUNS];
        trajectory->run = &runs[i % RUNS];
        snprintf(trajectory->name, sizeof trajectory->name, "%s %s %s %s follows PyTorch",
                 trajectory->method->name, trajectory->run->optimizer, trajectory->run->loss,
                 trajectory->run->dtype);
        tests[i] = (struct CMUnitTest){trajectory->name, follows_pytorch, NULL, NULL, trajectory};
    }
    tests[METHODS * RUNS] =
        (struct CMUnitTest)cmocka_unit_test(the_best_epoch_keeps_the_weights_pytorch_has_at_its_end);
    if (read_golden(SPH_TESTS_DIR "/golden/trajectories.csv") < 0)
        return 1;
    make_problem();
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
