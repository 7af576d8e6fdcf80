/* SPDX-License-Identifier: MIT
 *
 * Keras 2.15's losses on the papers' small problems (tests/golden/make_keras.py), step by step: every constant of
 * the authors' code is an option here, and with all of them set training follows theirs. In f64 all the way; in
 * f32 for as long as our own f32 and f64 are together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/zoo.h"
#include "skip.h"
#include "spherelu.h"

enum { STEPS = 100, IMAGE_STEPS = 5, LOSSES_MAX = STEPS + 1, IMAGES = 8, SIDE = 16, MOST = 1 << 14 };

/* Rounding of the first weights moves no f64 loss of Keras by more than 4e-12 (golden/README.md). */
static const double bar64 = 1e-9, bar32 = 1e-4;

struct method {
    const char *name;
    sph_param param;
    sph_norm norm;
};

static const struct method methods[] = {
    {"sp", SPH_PARAM_SP, SPH_NORM_NONE},   {"sp+bn", SPH_PARAM_SP, SPH_NORM_BN},
    {"wn", SPH_PARAM_WN, SPH_NORM_NONE},   {"wn+mbn", SPH_PARAM_WN, SPH_NORM_MBN},
    {"gmp", SPH_PARAM_GMP, SPH_NORM_NONE}, {"gmp+imn", SPH_PARAM_GMP, SPH_NORM_IMN},
};

/* A problem: its data, its hidden units, and where the generator of its first weights begins. */
static const struct problem {
    const char *name;
    uint64_t seed;
    size_t hidden, batch;
    sph_loss loss;
    sph_standardize standardize;
} problems[] = {
    {"levy", 21, 100, 0, SPH_LOSS_MAE, SPH_STANDARDIZE_OFF},
    {"banana", 22, 10, 128, SPH_LOSS_BCE, SPH_STANDARDIZE_FEATURES},
    {"boston", 23, 100, 0, SPH_LOSS_MAE, SPH_STANDARDIZE_FEATURES},
    {"vgg6", 24, 0, 0, SPH_LOSS_CE, SPH_STANDARDIZE_OFF},
};

struct trajectory {
    char name[64];
    const struct problem *problem;
    const struct method *method;
    double golden[LOSSES_MAX];
    size_t count;
};

static struct trajectory trajectories[32];
static size_t trajectory_count;

/* ---------------------------------------------------------------- first values */

static double spread(uint64_t *state, double half)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (2.0 * ((double)(*state >> 11) * 0x1p-53) - 1.0) * half;
}

static void put(sph_net *net, size_t layer, const char *tensor, const double *values, size_t count)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%zu.%s", layer, tensor);
    if (sph_net_set(net, name, values, count) < 0)
        fail_msg("%s: %s", name, sph_error());
}

static int has_tensor(const sph_net *net, size_t layer, const char *tensor)
{
    char name[64];
    sph_tensor found;
    snprintf(name, sizeof name, "layers.%zu.%s", layer, tensor);
    for (size_t i = 0; i < sph_net_tensors(net); i++)
        if (!sph_net_tensor(net, i, &found) && !strcmp(found.name, name))
            return 1;
    return 0;
}

/* theta (n-1) of w (n), and its length. */
static double angles(size_t n, const double *w, double *theta)
{
    double square = w[n - 1] * w[n - 1];
    for (size_t i = n - 1; i-- > 0;) {
        theta[i] = i + 2 == n ? atan2(w[n - 1], w[i]) : atan2(sqrt(square), w[i]);
        square += w[i] * w[i];
    }
    return sqrt(square);
}

/* Input i of the n in (kh, kw, cin) order, where w (n) is in (cin, kh, kw) order. */
static size_t input_of(size_t i, size_t n, size_t area)
{
    return i % (n / area) * area + i / (n / area);
}

/* The layer's first values from w (m, n), as every parameterization takes them; biases 0. */
static void put_layer(sph_net *net, size_t layer, const double *w, size_t m, size_t n, size_t area)
{
    static double theta[MOST], length[256], zero[256], sign[256], row[1024];
    assert_true(m * n <= MOST && m <= 256 && n <= 1024);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++)
            row[i] = w[j * n + input_of(i, n, area)];
        int gmp = has_tensor(net, layer, "lambda");
        if (gmp && n > 1)
            row[n - 1] = fabs(row[n - 1]); /* half a sphere */
        sign[j] = row[0] < 0 ? -1 : 1;
        length[j] = angles(n, row, gmp ? &theta[j * (n - 1)] : theta);
    }
    if (has_tensor(net, layer, "weight"))
        put(net, layer, "weight", w, m * n);
    if (has_tensor(net, layer, "v")) {
        put(net, layer, "v", w, m * n);
        put(net, layer, "g", length, m);
    }
    if (has_tensor(net, layer, "r")) {
        if (n > 1)
            put(net, layer, "theta", theta, m * (n - 1));
        else
            put(net, layer, "sign", sign, m);
        put(net, layer, "r", length, m);
        put(net, layer, "lambda", zero, m);
    }
    if (has_tensor(net, layer, "bias"))
        put(net, layer, "bias", zero, m);
}

static void draw_layer(sph_net *net, size_t layer, uint64_t *state, size_t m, size_t n, size_t area)
{
    static double w[MOST];
    double half = sqrt(6.0 / (double)(n + m));
    assert_true(m * n <= MOST);
    for (size_t i = 0; i < m * n; i++)
        w[i] = spread(state, half);
    put_layer(net, layer, w, m, n, area);
}

/* ---------------------------------------------------------------- data */

static sph_data *open_table(const struct problem *problem, sph_split *split)
{
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.by_numpy = !strcmp(problem->name, "levy");
    opts.rows = !strcmp(problem->name, "banana") ? 1000 : 0;
    sph_data *data = NULL;
    if (sph_data_open(&data, problem->name, &opts) < 0 && !opts.by_numpy)
        skip_because("%s is not on this machine", problem->name);
    if (!data || sph_split_make(split, data, SPH_SPLIT_SKLEARN, 0.2, 0, 0) < 0)
        fail_msg("%s: %s", problem->name, sph_error());
    return data;
}

static sph_data *make_images(uint64_t *state, sph_split *split)
{
    static double x[IMAGES * 3 * SIDE * SIDE], y[IMAGES];
    static uint32_t all[IMAGES];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = spread(state, 0.5);
    for (uint32_t i = 0; i < IMAGES; i++) {
        y[i] = i;
        all[i] = i;
    }
    sph_data *data = NULL;
    if (sph_data_from_arrays(&data, x, y, IMAGES, 3 * SIDE * SIDE, 1, SPH_TASK_CLASSES, NULL) < 0)
        fail_msg("%s", sph_error());
    *split = (sph_split){.train = all, .train_rows = IMAGES};
    return data;
}

/* ---------------------------------------------------------------- training */

struct losses {
    double value[LOSSES_MAX];
    size_t seen, most;
};

static int record(void *self, const sph_view *view)
{
    struct losses *losses = self;
    losses->value[losses->seen++] = view->loss;
    return losses->seen == losses->most;
}

/* The constants of the authors' code. */
static const sph_details details = {.norm_epsilon = 1e-3,
                                    .imn_at = SPH_IMN_AT_OUTPUT,
                                    .mbn_bias = SPH_MBN_BIAS_NONE,
                                    .angle_order = SPH_ANGLES_HWC};

static void reference_opts(const struct trajectory *of, sph_train_opts *out)
{
    int images = !of->problem->hidden;
    sph_train_defaults(out, SPH_TASK_REGRESSION);
    sph_train_optimizer(out, images ? SPH_OPTIMIZER_SGD : SPH_OPTIMIZER_ADAM);
    out->adam_form = SPH_ADAM_KERAS;
    out->epsilon = 1e-7;
    out->momentum = (double)0.9f;
    out->norm_momentum = (double)0.01f; /* Keras 2.15 rounds both to f32, as it does the betas */
    out->norm_variance = SPH_VARIANCE_BIASED;
    out->lr = of->method->param == SPH_PARAM_GMP ? 0.1 : 0.01;
    out->loss = of->problem->loss;
    out->standardize = of->problem->standardize;
    out->batch = of->problem->batch;
    out->epochs = STEPS + 1;
    out->patience = 0;
}

/* The mean absolute error or cross-entropy of the test part, as the net evaluates. */
static double test_loss(sph_net *net, const sph_data *data, const sph_split *split, sph_loss loss)
{
    size_t features = sph_data_features(data);
    double sum = 0;
    for (size_t i = 0; i < split->test_rows; i++) {
        size_t row = split->test[i];
        double z, y = sph_data_y(data)[row];
        if (sph_net_forward(net, sph_data_x(data) + row * features, 1, &z) < 0)
            fail_msg("%s", sph_error());
        sum += loss == SPH_LOSS_MAE ? fabs(z - y) : fmax(z, 0) - z * y + log1p(exp(-fabs(z)));
    }
    return sum / (double)split->test_rows;
}

static void train(const struct trajectory *of, sph_dtype dtype, struct losses *out)
{
    const struct problem *problem = of->problem;
    const struct method *method = of->method;
    uint64_t state = problem->seed;
    int images = !problem->hidden;
    sph_split split = {0};
    sph_data *data = images ? make_images(&state, &split) : open_table(problem, &split);
    sph_net *net = NULL;
    int err;
    if (images) {
        err = sph_net_vgg6(&net, &(sph_image_net){.size = sizeof(sph_image_net),
                                                  .dtype = dtype,
                                                  .channels = 3,
                                                  .height = SIDE,
                                                  .width = SIDE,
                                                  .classes = IMAGES,
                                                  .scale = 1.0 / 16,
                                                  .param = method->param,
                                                  .norm = method->norm,
                                                  .act = SPH_ACT_RELU,
                                                  .details = details,
                                                  .wn_output = 1});
    } else {
        err = sph_net_mlp(&net, &(sph_mlp){.size = sizeof(sph_mlp),
                                           .dtype = dtype,
                                           .inputs = sph_data_features(data),
                                           .outputs = 1,
                                           .hidden = &problem->hidden,
                                           .depth = 1,
                                           .param = method->param,
                                           .norm = method->norm,
                                           .act = SPH_ACT_RELU,
                                           .details = details,
                                           .wn_output = 1});
    }
    if (err < 0)
        fail_msg("%s", sph_error());
    for (size_t l = 0; l < sph_net_layers(net); l++) {
        size_t n, kernel = sph_net_layer(net, l, &n)->kernel;
        draw_layer(net, l, &state, sph_net_layer(net, l, NULL)->units, n, kernel ? kernel * kernel : 1);
    }
    sph_train_opts opts;
    reference_opts(of, &opts);
    *out = (struct losses){.most = images ? IMAGE_STEPS : STEPS};
    sph_observer observer = {.self = out, .step = record};
    if (sph_train(net, data, &split, &opts, &observer, 1, NULL) < 0)
        fail_msg("sph_train: %s", sph_error());
    assert_int_equal(out->seen, out->most);
    if (!images)
        out->value[out->seen++] = test_loss(net, data, &split, problem->loss);
    if (!images)
        sph_split_free(&split);
    sph_data_free(data);
    sph_net_free(net);
}

static double gap(double ours, double theirs)
{
    return fabs(ours - theirs) / fabs(theirs);
}

static void follow(const struct trajectory *of, const struct losses *ours, size_t steps, double bar)
{
    double worst = 0;
    size_t where = 0;
    for (size_t t = 0; t < steps; t++) {
        double here = gap(ours->value[t], of->golden[t]);
        if (here > worst || isnan(here)) {
            worst = here;
            where = t;
        }
    }
    print_message("           largest relative deviation of %zu losses %.1e at step %zu\n", steps, worst,
                  where);
    if (!(worst <= bar))
        fail_msg("step %zu: loss %.17g, Keras' %.17g, relative deviation %.2e, allowed %.0e", where,
                 ours->value[where], of->golden[where], worst, bar);
}

static void follows_keras(void **state)
{
    const struct trajectory *of = *state;
    struct losses wide, narrow;
    train(of, SPH_F64, &wide);
    assert_int_equal(wide.seen, of->count);
    follow(of, &wide, wide.seen, bar64);
    train(of, SPH_F32, &narrow);
    size_t together = 0;
    while (together < wide.seen && gap(narrow.value[together], wide.value[together]) <= bar32 / 2)
        together++;
    assert_true(together >= 5);
    follow(of, &narrow, together, bar32);
}

/* ---------------------------------------------------------------- the committed losses */

static struct trajectory *find(const char *problem, const char *method)
{
    char name[sizeof trajectories->name];
    snprintf(name, sizeof name, "%s %s follows Keras", problem, method);
    for (size_t i = 0; i < trajectory_count; i++)
        if (!strcmp(trajectories[i].name, name))
            return &trajectories[i];
    struct trajectory *fresh = &trajectories[trajectory_count];
    if (trajectory_count == sizeof trajectories / sizeof *trajectories)
        return NULL;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (!strcmp(problems[i].name, problem))
            fresh->problem = &problems[i];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(methods[i].name, method))
            fresh->method = &methods[i];
    if (!fresh->problem || !fresh->method)
        return NULL;
    memcpy(fresh->name, name, sizeof name);
    trajectory_count++;
    return fresh;
}

static int read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[128] = "";
    int bad = !file || !fgets(line, sizeof line, file) || strcmp(line, "problem,method,step,value\n") != 0;
    while (!bad && fgets(line, sizeof line, file)) {
        char problem[16], method[16];
        size_t step;
        double value;
        struct trajectory *of = NULL;
        bad = sscanf(line, "%15[^,],%15[^,],%zu,%lf", problem, method, &step, &value) != 4 ||
              !(of = find(problem, method)) || step != of->count || step >= LOSSES_MAX;
        if (!bad)
            of->golden[of->count++] = value;
    }
    if (bad)
        fprintf(stderr, "%s: unexpected line: %s\n", path, line);
    if (file)
        fclose(file);
    return bad ? -1 : 0;
}

int main(void)
{
    static struct CMUnitTest tests[sizeof trajectories / sizeof *trajectories];
    if (read_golden(SPH_TESTS_DIR "/golden/trajectories_keras.csv") < 0)
        return 1;
    if (trajectory_count != 18) {
        fprintf(stderr, "%zu trajectories, expected 18\n", trajectory_count);
        return 1;
    }
    for (size_t i = 0; i < trajectory_count; i++)
        tests[i] = (struct CMUnitTest){trajectories[i].name, follows_keras, NULL, NULL, &trajectories[i]};
    return _cmocka_run_group_tests("golden keras", tests, trajectory_count, NULL, NULL);
}
