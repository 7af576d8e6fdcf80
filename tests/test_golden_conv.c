/* SPDX-License-Identifier: MIT
 *
 * Image nets follow PyTorch (tests/golden): 20 steps of a narrow vgg6 and a narrow residual net, 6 of a narrow
 * mobile, and the logits of torchvision's resnets, through the public API alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layer.h"
#include "net/zoo.h"
#include "spherelu.h"

enum { ROWS = 8, CHANNELS = 3, CLASSES = 10, LOSSES = 21 };
static const uint64_t seed = 5;

static const struct method {
    const char *name;
    sph_param param;
    sph_norm norm;
} methods[] = {
    {"sp", SPH_PARAM_SP, SPH_NORM_NONE},    {"sp+bn", SPH_PARAM_SP, SPH_NORM_BN},
    {"gmp", SPH_PARAM_GMP, SPH_NORM_NONE},  {"gmp+imn", SPH_PARAM_GMP, SPH_NORM_IMN},
    {"wn+mbn", SPH_PARAM_WN, SPH_NORM_MBN}, {"wn+gn", SPH_PARAM_WN, SPH_NORM_GN},
    {"gmp+gn", SPH_PARAM_GMP, SPH_NORM_GN}, {"wn", SPH_PARAM_WN, SPH_NORM_NONE},
};
enum { GROUPS = 8 }; /* of gn */

static sph_net *make_vgg6(const struct method *method, sph_dtype dtype),
    *make_residual(const struct method *method, sph_dtype dtype),
    *make_mobile(const struct method *method, sph_dtype dtype);

static const struct network {
    const char *name;
    sph_net *(*make)(const struct method *method, sph_dtype dtype);
    size_t side, losses;
    int he; /* the convs' numbers are drawn by He's rule, not by Glorot's */
    double lr, lr_bn;
    size_t losses_bn_f32; /* under bn f32 parts from f64, PyTorch's too */
    int methods[8];       /* numbers, -1 behind the last */
} networks[] = {
    {"vgg6", make_vgg6, 16, 21, 0, 0.05, 0.05, 21, {0, 1, 2, 3, 4, 5, 6, -1}},
    {"residual", make_residual, 16, 21, 0, 0.05, 0.05, 21, {0, 1, 2, 3, 4, 5, 6, -1}},
    {"mobile", make_mobile, 32, 7, 1, 0.05, 0.001, 3, {1, 2, 3, 7, -1}},
};
enum { NETWORKS = sizeof networks / sizeof *networks, RUNS = (7 + 7 + 4) * SPH_DTYPE_COUNT };

/* PyTorch's f64 losses move by 4e-15 when the initial weights are rounded differently, its own f32 losses lie
 * within 3e-5 of them (golden/README.md): the first bar leaves room for another order of summation only, the
 * second for a kink that f32 crosses a step earlier. */
static const double bars[SPH_DTYPE_COUNT] = {[SPH_F32] = 1e-3, [SPH_F64] = 1e-9};

struct trajectory {
    char name[64];
    const struct network *network;
    const struct method *method;
    sph_dtype dtype;
    double golden[LOSSES], ours[LOSSES];
    size_t read, seen;
};
static struct trajectory trajectories[RUNS];

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

static sph_net *make_zoo(int (*make)(sph_net **out, const sph_image_net *spec), size_t side,
                         const struct method *method, sph_dtype dtype)
{
    sph_net *net = NULL;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .dtype = dtype,
                          .channels = CHANNELS,
                          .height = side,
                          .width = side,
                          .classes = CLASSES,
                          .scale = 1.0 / 16,
                          .param = method->param,
                          .norm = method->norm,
                          .act = SPH_ACT_RELU,
                          .norm_groups = method->norm == SPH_NORM_GN ? GROUPS : 0};
    if (make(&net, &spec) < 0)
        fail_msg("%s", sph_error());
    return net;
}

static sph_net *make_vgg6(const struct method *method, sph_dtype dtype)
{
    return make_zoo(sph_net_vgg6, 16, method, dtype);
}

static sph_net *make_mobile(const struct method *method, sph_dtype dtype)
{
    return make_zoo(sph_net_mobile, 32, method, dtype);
}

static int conv(sph_net *net, int from, const struct method *method, size_t units, size_t kernel,
                size_t stride, sph_act act)
{
    sph_layer layer = {.size = sizeof(sph_layer),
                       .units = units,
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
    int x = conv(net, sph_net_image(net, CHANNELS, 16, 16), method, 8, 3, 1, SPH_ACT_RELU);
    int branch = conv(net, conv(net, x, method, 8, 3, 1, SPH_ACT_RELU), method, 8, 3, 1, SPH_ACT_IDENTITY);
    x = sph_net_act(net, sph_net_add(net, branch, x), SPH_ACT_RELU);
    branch = conv(net, conv(net, x, method, 16, 3, 2, SPH_ACT_RELU), method, 16, 3, 1, SPH_ACT_IDENTITY);
    x = sph_net_add(net, branch, conv(net, x, method, 16, 1, 2, SPH_ACT_IDENTITY));
    x = sph_net_global_pool(net, sph_net_act(net, x, SPH_ACT_RELU));
    x = sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .units = CLASSES});
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
    const struct network *network = t->network;
    sph_net *net = network->make(t->method, t->dtype);
    uint64_t state = seed;
    size_t inputs = sph_net_inputs(net);
    assert_int_equal(inputs, CHANNELS * network->side * network->side);
    double *x = numbers(ROWS * inputs), classes[ROWS];
    for (size_t i = 0; i < ROWS * inputs; i++)
        x[i] = spread(&state, 1.7);
    for (size_t i = 0; i < ROWS; i++)
        classes[i] = (double)(i * (CLASSES - 1) / (ROWS - 1));
    for (size_t l = 0; l < sph_net_layers(net); l++) {
        size_t n = 0;
        const sph_layer *layer = sph_net_layer(net, l, &n);
        size_t area = layer->kernel ? layer->kernel * layer->kernel : 1, m = layer->units;
        size_t outputs = network->he && layer->kernel ? 0 : m * area;
        double *w = numbers(m * n), *b = numbers(m), half = sqrt(6.0 / (double)(n + outputs));
        for (size_t i = 0; i < m * n; i++)
            w[i] = spread(&state, half);
        for (size_t j = 0; j < m; j++)
            b[j] = spread(&state, 0.1);
        set_conv(net, layer->path, layer->kernel ? t->method : &methods[0], m, n, w, b);
        free(w);
        free(b);
    }

    sph_data *data = NULL;
    if (sph_data_from_arrays(&data, x, classes, ROWS, inputs, 1, SPH_TASK_CLASSES, NULL) < 0)
        fail_msg("sph_data_from_arrays: %s", sph_error());
    uint32_t all[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        all[i] = i;
    sph_split split = {.train = all, .train_rows = ROWS};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_CLASSES);
    opts.loss = SPH_LOSS_CE;
    opts.optimizer = SPH_OPTIMIZER_SGD;
    opts.lr = t->method->norm == SPH_NORM_BN ? network->lr_bn : network->lr;
    opts.momentum = 0.9;
    opts.batch = 0;
    opts.epochs = network->losses;
    opts.schedule = "none";
    opts.patience = 0;
    opts.standardize = SPH_STANDARDIZE_OFF;
    opts.threads = 1;
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
    size_t losses = t->network->losses, where = 0;
    assert_int_equal(t->read, losses);
    train(t);
    assert_int_equal(t->seen, losses);
    double worst = 0;
    if (t->dtype == SPH_F32 && t->method->norm == SPH_NORM_BN)
        losses = t->network->losses_bn_f32;
    for (size_t i = 0; i < losses && !isnan(worst); i++) {
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
        sph_image_net spec = {.size = sizeof(sph_image_net),
                              .dtype = (sph_dtype)dtype,
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
        if (strcmp(t->network->name, net) != 0 || strcmp(t->method->name, method) != 0)
            continue;
        if (step >= t->network->losses || step != t->read)
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
    static struct CMUnitTest small[RUNS];
    const struct CMUnitTest large[] = {
        {"resnet18 gives torchvision's logits", gives_torchvisions_logits, NULL, NULL, &logits[0]},
        {"resnet50 gives torchvision's logits", gives_torchvisions_logits, NULL, NULL, &logits[1]},
    };
    size_t run = 0;
    for (const struct network *network = networks; network < networks + NETWORKS; network++)
        for (const int *method = network->methods; *method >= 0; method++)
            for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++, run++) {
                struct trajectory *t = &trajectories[run];
                t->network = network;
                t->method = &methods[*method];
                t->dtype = (sph_dtype)dtype;
                snprintf(t->name, sizeof t->name, "%s %s %s follows PyTorch", network->name, t->method->name,
                         t->dtype == SPH_F64 ? "f64" : "f32");
                small[run] = (struct CMUnitTest){t->name, follows_pytorch, NULL, NULL, t};
            }
    assert_int_equal(run, RUNS);
    if (read_csv(SPH_TESTS_DIR "/golden/trajectories_conv.csv", "net,method,step,value\n", take_loss) < 0 ||
        read_csv(SPH_TESTS_DIR "/golden/logits.csv", "net,row,class,value\n", take_logit) < 0)
        return 1;
    int failed = cmocka_run_group_tests_name("golden conv", small, NULL, NULL);
    if (quick_step(2) == 1) /* they take most of the time */
        failed += cmocka_run_group_tests_name("golden logits", large, NULL, NULL);
    return failed;
}
