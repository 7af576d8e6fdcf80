/* SPDX-License-Identifier: MIT
 *
 * Image nets follow PyTorch (tests/golden): 20 steps of a narrow vgg6 and a narrow residual net, and the
 * logits of torchvision's resnets, through the public API alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quick.h"
#include "spherelu.h"

enum {
    ROWS = 8,
    CHANNELS = 3,
    SIDE = 16,
    CLASSES = 10,
    INPUTS = CHANNELS * SIDE * SIDE,
    LOSSES = 21,
    LAYERS = 7
};
static const uint64_t seed = 5;

static const struct method {
    const char *name;
    sph_param param;
    sph_norm norm;
} methods[] = {
    {"sp", SPH_PARAM_SP, SPH_NORM_NONE},    {"sp+bn", SPH_PARAM_SP, SPH_NORM_BN},
    {"gmp", SPH_PARAM_GMP, SPH_NORM_NONE},  {"gmp+imn", SPH_PARAM_GMP, SPH_NORM_IMN},
    {"wn+mbn", SPH_PARAM_WN, SPH_NORM_MBN}, {"wn+gn", SPH_PARAM_WN, SPH_NORM_GN},
    {"gmp+gn", SPH_PARAM_GMP, SPH_NORM_GN},
};
enum { GROUPS = 8 }; /* of gn */
enum { METHODS = sizeof methods / sizeof *methods };

/* units, inputs, kernel of each layer in the order of its numbers; kernel 0: dense */
struct drawn {
    size_t units, inputs, kernel;
};
static const struct drawn drawn[2][LAYERS] = {
    {{8, 3, 3}, {8, 8, 3}, {16, 8, 3}, {16, 16, 3}, {32, 16, 3}, {32, 32, 3}, {10, 32, 0}},
    {{8, 3, 3}, {8, 8, 3}, {8, 8, 3}, {16, 8, 3}, {16, 16, 3}, {16, 8, 1}, {10, 16, 0}},
};
static const char *const net_name[2] = {"vgg6", "residual"};

/* PyTorch's f64 losses move by 4e-15 when the initial weights are rounded differently, its own f32 losses lie
 * within 3e-5 of them (golden/README.md): the first bar leaves room for another order of summation only, the
 * second for a kink that f32 crosses a step earlier. */
static const double bars[SPH_DTYPE_COUNT] = {[SPH_F32] = 1e-3, [SPH_F64] = 1e-9};

struct trajectory {
    char name[64];
    int residual;
    const struct method *method;
    sph_dtype dtype;
    double golden[LOSSES], ours[LOSSES];
    size_t read, seen;
};
static struct trajectory trajectories[2 * METHODS * SPH_DTYPE_COUNT];

static struct logits {
    const char *name;
    int (*make)(sph_net **out, const sph_image_net *spec);
    double golden[2 * CLASSES];
    size_t read;
} logits[] = {{"resnet18", sph_net_resnet18, {0}, 0}, {"resnet50", sph_net_resnet50, {0}, 0}};

/* ---------------------------------------------------------------- numbers, as golden/make_golden_conv.py
 * draws them */

static double spread(uint64_t *state, double half)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double unit = (double)(*state >> 11) * 0x1p-53;
    return (2.0 * unit - 1.0) * half;
}

static double *numbers(size_t count)
{
    double *values = calloc(count, sizeof *values);
    assert_non_null(values);
    return values;
}

static void set(sph_net *net, const char *path, const char *tensor, const double *values, size_t count)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", path, tensor);
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

static void set_conv(sph_net *net, const char *path, const struct method *method, size_t m, size_t n,
                     const double *w, const double *b)
{
    double *length = numbers(m), *lambda = numbers(m), *theta = numbers(m * (n - 1));
    for (size_t j = 0; j < m; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += w[j * n + i] * w[j * n + i];
        length[j] = sqrt(square);
        lambda[j] = b[j] / length[j];
        angles(n, w + j * n, theta + j * (n - 1));
    }
    if (method->param == SPH_PARAM_GMP) {
        set(net, path, "theta", theta, m * (n - 1));
        set(net, path, "lambda", lambda, m);
        set(net, path, "r", length, m);
    } else if (method->param == SPH_PARAM_WN) {
        set(net, path, "v", w, m * n);
        set(net, path, "g", length, m);
    } else {
        set(net, path, "weight", w, m * n);
    }
    if (method->param != SPH_PARAM_GMP && method->norm != SPH_NORM_BN)
        set(net, path, "bias", b, m);
    free(length);
    free(lambda);
    free(theta);
}

/* ---------------------------------------------------------------- the nets */

static sph_net *make_vgg6(const struct method *method, sph_dtype dtype)
{
    sph_net *net = NULL;
    sph_image_net spec = {.dtype = dtype,
                          .channels = CHANNELS,
                          .height = SIDE,
                          .width = SIDE,
                          .classes = CLASSES,
                          .scale = 1.0 / 16,
                          .param = method->param,
                          .norm = method->norm,
                          .act = SPH_ACT_RELU,
                          .norm_groups = method->norm == SPH_NORM_GN ? GROUPS : 0};
    if (sph_net_vgg6(&net, &spec) < 0)
        fail_msg("%s", sph_error());
    return net;
}

static int conv(sph_net *net, int from, const struct method *method, size_t units, size_t kernel,
                size_t stride, sph_act act)
{
    sph_layer layer = {.units = units,
                       .param = method->param,
                       .norm = from || method->norm != SPH_NORM_IMN ? method->norm : SPH_NORM_NONE,
                       .act = act,
                       .norm_groups = method->norm == SPH_NORM_GN ? GROUPS : 0,
                       .kernel = kernel,
                       .stride = stride,
                       .pad = kernel / 2};
    int node = sph_net_conv(net, from, &layer);
    if (node < 0)
        fail_msg("%s", sph_error());
    return node;
}

/* Two basic blocks, the second at half the size. */
static sph_net *make_residual(const struct method *method, sph_dtype dtype)
{
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, dtype), 0);
    int x = conv(net, sph_net_image(net, CHANNELS, SIDE, SIDE), method, 8, 3, 1, SPH_ACT_RELU);
    int branch = conv(net, conv(net, x, method, 8, 3, 1, SPH_ACT_RELU), method, 8, 3, 1, SPH_ACT_IDENTITY);
    x = sph_net_act(net, sph_net_add(net, branch, x), SPH_ACT_RELU);
    branch = conv(net, conv(net, x, method, 16, 3, 2, SPH_ACT_RELU), method, 16, 3, 1, SPH_ACT_IDENTITY);
    x = sph_net_add(net, branch, conv(net, x, method, 16, 1, 2, SPH_ACT_IDENTITY));
    x = sph_net_global_pool(net, sph_net_act(net, x, SPH_ACT_RELU));
    x = sph_net_dense(net, x, &(sph_layer){.units = CLASSES});
    assert_int_equal(sph_net_ready(net, x, 1), 0);
    return net;
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

static void train(struct trajectory *t)
{
    sph_net *net = (t->residual ? make_residual : make_vgg6)(t->method, t->dtype);
    uint64_t state = seed;
    double *x = numbers(ROWS * INPUTS), classes[ROWS];
    for (size_t i = 0; i < ROWS * INPUTS; i++)
        x[i] = spread(&state, 1.7);
    for (size_t i = 0; i < ROWS; i++)
        classes[i] = (double)(i * (CLASSES - 1) / (ROWS - 1));
    for (size_t l = 0; l < LAYERS; l++) {
        const struct drawn *d = &drawn[t->residual][l];
        size_t area = d->kernel ? d->kernel * d->kernel : 1, n = d->inputs * area, m = d->units;
        double *w = numbers(m * n), *b = numbers(m), half = sqrt(6.0 / (double)(n + m * area));
        for (size_t i = 0; i < m * n; i++)
            w[i] = spread(&state, half);
        for (size_t j = 0; j < m; j++)
            b[j] = spread(&state, 0.1);
        char path[32];
        snprintf(path, sizeof path, "layers.%zu", l);
        set_conv(net, path, d->kernel ? t->method : &methods[0], m, n, w, b);
        free(w);
        free(b);
    }

    sph_data *data = NULL;
    if (sph_data_from_arrays(&data, x, classes, ROWS, INPUTS, 1, SPH_TASK_CLASSES) < 0)
        fail_msg("sph_data_from_arrays: %s", sph_error());
    uint32_t all[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        all[i] = i;
    sph_split split = {.train = all, .train_rows = ROWS};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_CLASSES);
    opts.loss = SPH_LOSS_CE;
    opts.optimizer = SPH_OPTIMIZER_SGD;
    opts.lr = 0.05;
    opts.momentum = 0.9;
    opts.batch = 0;
    opts.epochs = LOSSES;
    opts.schedule = "none";
    opts.patience = 0;
    opts.standardize = SPH_STANDARDIZE_OFF;
    opts.threads = 1;
    for (int group = 0; group < SPH_GROUP_COUNT; group++)
        opts.group_lr[group] = 1;
    sph_observer observer = {.self = t, .step = record};
    sph_result result;
    if (sph_train(net, data, &split, &opts, &observer, 1, &result) < 0)
        fail_msg("sph_train: %s", sph_error());
    sph_data_free(data);
    sph_net_free(net);
    free(x);
}

static void follows_pytorch(void **state)
{
    struct trajectory *t = *state;
    assert_int_equal(t->read, LOSSES);
    train(t);
    assert_int_equal(t->seen, LOSSES);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < LOSSES && !isnan(worst); i++) {
        double gap = fabs(t->ours[i] - t->golden[i]) / fabs(t->golden[i]);
        if (gap > worst || isnan(gap)) {
            worst = gap;
            where = i;
        }
    }
    print_message("           largest relative deviation %.1e at step %zu\n", worst, where);
    if (!(worst <= bars[t->dtype]))
        fail_msg("step %zu: loss %.17g, PyTorch's %.17g, relative deviation %.2e, allowed %.0e", where,
                 t->ours[where], t->golden[where], worst, bars[t->dtype]);
}

/* ---------------------------------------------------------------- torchvision's networks */

/* Numbers of a layer in the order of torchvision's state: weight, then scale, shift, mean, variance of its
 * bn, or bias. */
static void set_from_state(sph_net *net, size_t l, uint64_t *state)
{
    size_t n, m;
    const sph_layer *layer = sph_net_layer(net, l, &n);
    int bn = layer->norm == SPH_NORM_BN;
    m = layer->units;
    static const struct {
        const char *name;
        double middle;
    } vectors[] = {{"norm.scale", 1}, {"norm.shift", 0}, {"norm.mean", 0}, {"norm.var", 1}, {"bias", 0}};
    double *values = numbers(m * n), half = sqrt(3.0 / (double)n);
    for (size_t i = 0; i < m * n; i++)
        values[i] = spread(state, half);
    set(net, layer->path, "weight", values, m * n);
    for (size_t v = bn ? 0 : 4; v < (bn ? 4u : 5u); v++) {
        for (size_t j = 0; j < m; j++)
            values[j] = vectors[v].middle + spread(state, 0.25);
        set(net, layer->path, vectors[v].name, values, m);
    }
    free(values);
}

static void compare(sph_net *net, const double *x, const struct logits *logits_, double bar, const char *what)
{
    double y[2 * CLASSES], worst = 0;
    assert_int_equal(sph_net_forward(net, x, 2, y), 0);
    for (size_t i = 0; i < 2 * CLASSES; i++)
        worst = fmax(worst, isnan(y[i]) ? INFINITY : fabs(y[i] - logits_->golden[i]));
    print_message("           %s: largest deviation of a logit %.1e\n", what, worst);
    if (!(worst <= bar))
        fail_msg("%s: a logit is off by %g, allowed %g", what, worst, bar);
}

/* f64: only the order of summation differs. Converted nets go through angles of up to 4,608 coordinates. */
static void gives_torchvisions_logits(void **context)
{
    const struct logits *l = *context;
    enum { IMAGE = 64 };
    assert_int_equal(l->read, 2 * CLASSES);
    double *x = numbers(2 * 3 * IMAGE * IMAGE);
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        sph_net *net = NULL, *other = NULL;
        sph_image_net spec = {.dtype = (sph_dtype)dtype,
                              .channels = 3,
                              .height = IMAGE,
                              .width = IMAGE,
                              .classes = CLASSES,
                              .norm = SPH_NORM_BN,
                              .act = SPH_ACT_RELU};
        if (l->make(&net, &spec) < 0)
            fail_msg("%s", sph_error());
        uint64_t state = seed;
        for (size_t k = 0; k < sph_net_layers(net); k++)
            set_from_state(net, k, &state);
        for (size_t i = 0; i < 2 * 3 * IMAGE * IMAGE; i++)
            x[i] = spread(&state, 1.7);
        compare(net, x, l, dtype == SPH_F64 ? 1e-11 : 1e-4, dtype == SPH_F64 ? "f64" : "f32");
        if (l->make == sph_net_resnet18 && dtype == SPH_F64) {
            static const sph_param chain[] = {SPH_PARAM_GMP, SPH_PARAM_WN, SPH_PARAM_SPHERE, SPH_PARAM_SP};
            static const char *const words[] = {"to gmp", "to wn", "to sphere", "to sp"};
            for (size_t c = 0; c < 4; c++) {
                if (sph_net_convert(&other, net, chain[c], SPH_CONVERT_STRICT | SPH_CONVERT_KEEP_BN) < 0)
                    fail_msg("%s: %s", words[c], sph_error());
                sph_net_free(net);
                net = other;
                compare(net, x, l, 1e-10, words[c]);
            }
        }
        sph_net_free(net);
    }
    free(x);
}

/* ---------------------------------------------------------------- the committed numbers */

/* Calls take for each line behind the header; returns -1 and says so where a line is not understood. */
static int read_csv(const char *path, const char *header, int (*take)(const char *line))
{
    FILE *file = fopen(path, "r");
    char line[256] = "nothing\n";
    int bad = !file || !fgets(line, sizeof line, file) || strcmp(line, header) != 0;
    while (!bad && fgets(line, sizeof line, file))
        bad = take(line) < 0;
    if (bad)
        fprintf(stderr, "%s: unexpected: %s", path, line);
    if (file)
        fclose(file);
    return bad ? -1 : 0;
}

static int take_loss(const char *line)
{
    char net[16], method[16];
    size_t step;
    double value;
    int taken = 0;
    if (sscanf(line, "%15[^,],%15[^,],%zu,%lf", net, method, &step, &value) != 4)
        return -1;
    for (size_t i = 0; i < sizeof trajectories / sizeof *trajectories; i++) {
        struct trajectory *t = &trajectories[i];
        if (strcmp(net_name[t->residual], net) != 0 || strcmp(t->method->name, method) != 0)
            continue;
        if (step >= LOSSES || step != t->read)
            return -1;
        t->golden[t->read++] = value;
        taken = 1;
    }
    return taken ? 0 : -1;
}

static int take_logit(const char *line)
{
    char net[16];
    size_t row, class;
    double value;
    if (sscanf(line, "%15[^,],%zu,%zu,%lf", net, &row, &class, &value) != 4)
        return -1;
    for (size_t i = 0; i < 2; i++)
        if (!strcmp(logits[i].name, net)) {
            if (logits[i].read >= 2 * CLASSES || logits[i].read != row * CLASSES + class)
                return -1;
            logits[i].golden[logits[i].read++] = value;
            return 0;
        }
    return -1;
}

int main(void)
{
    enum { RUNS = sizeof trajectories / sizeof *trajectories };
    static struct CMUnitTest small[RUNS];
    const struct CMUnitTest large[] = {
        {"resnet18 gives torchvision's logits", gives_torchvisions_logits, NULL, NULL, &logits[0]},
        {"resnet50 gives torchvision's logits", gives_torchvisions_logits, NULL, NULL, &logits[1]},
    };
    for (size_t i = 0; i < RUNS; i++) {
        struct trajectory *t = &trajectories[i];
        t->residual = i >= METHODS * SPH_DTYPE_COUNT;
        t->method = &methods[i / SPH_DTYPE_COUNT % METHODS];
        t->dtype = (sph_dtype)(i % SPH_DTYPE_COUNT);
        snprintf(t->name, sizeof t->name, "%s %s %s follows PyTorch", net_name[t->residual], t->method->name,
                 t->dtype == SPH_F64 ? "f64" : "f32");
        small[i] = (struct CMUnitTest){t->name, follows_pytorch, NULL, NULL, t};
    }
    if (read_csv(SPH_TESTS_DIR "/golden/trajectories_conv.csv", "net,method,step,value\n", take_loss) < 0 ||
        read_csv(SPH_TESTS_DIR "/golden/logits.csv", "net,row,class,value\n", take_logit) < 0)
        return 1;
    int failed = cmocka_run_group_tests_name("golden conv", small, NULL, NULL);
    if (quick_step(2) == 1) /* they take most of the time */
        failed += cmocka_run_group_tests_name("golden logits", large, NULL, NULL);
    return failed;
}
