/* SPDX-License-Identifier: MIT
 *
 * torchvision's resnets from files under its names: they are recognised, give PyTorch's logits
 * (golden/logits.csv), keep them through every conversion, and go back under the same names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault.h"
#include "net/net.h"
#include "net/zoo.h"
#include "store/model.h"
#include "store/safetensors.h"
#include "store/tool.h"
#include "store/torchvision.h"
#include "failure.h"
#include "layer.h"
#include "spherelu.h"

enum { CLASSES = 10, IMAGE = 64, IMAGES = 2, TENSORS = 400 };

static char folder[] = "/tmp/spherelu-torchvision-XXXXXX";
static char state_path[64], there_path[64], back_path[64];

static struct kind {
    const char *name;
    int (*make)(sph_net **out, const sph_image_net *spec);
    double golden[IMAGES * CLASSES];
    size_t read;
} kinds[] = {{"resnet18", sph_net_resnet18, {0}, 0}, {"resnet50", sph_net_resnet50, {0}, 0}};

static const char *const param_words[] = {"sp", "wn", "gmp", "sphere"};

/* ---------------------------------------------------------------- a state, as golden/make_golden_conv.py
 * draws it */

static double spread(uint64_t *state, double half)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double unit = (double)(*state >> 11) * 0x1p-53;
    return (2.0 * unit - 1.0) * half;
}

struct state {
    struct st_item item[TENSORS];
    char name[TENSORS][128];
    size_t shape[TENSORS][4];
    size_t count;
    uint64_t random;
};

static void *add(struct state *state, const char *path, const char *leaf, enum st_dtype dtype,
                 const size_t *shape, size_t ndim)
{
    size_t i = state->count++, count = 1;
    assert_true(i < TENSORS);
    snprintf(state->name[i], sizeof *state->name, "%s.%s", path, leaf);
    for (size_t d = 0; d < ndim; d++)
        count *= state->shape[i][d] = shape[d];
    void *data = calloc(count, st_dtype_size(dtype));
    assert_non_null(data);
    state->item[i] = (struct st_item){state->name[i], dtype, state->shape[i], ndim, data};
    return data;
}

static void draw(struct state *state, const char *path, const char *leaf, const size_t *shape, size_t ndim,
                 double middle)
{
    float *values = add(state, path, leaf, ST_F32, shape, ndim);
    size_t count = 1;
    for (size_t d = 0; d < ndim; d++)
        count *= shape[d];
    double half = ndim > 1 ? sqrt(3.0 / (double)(count / shape[0])) : 0.25;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(middle + spread(&state->random, half));
}

static void draw_conv(struct state *state, const char *conv, const char *bn, size_t m, size_t cin,
                      size_t kernel)
{
    draw(state, conv, "weight", (size_t[]){m, cin, kernel, kernel}, 4, 0);
    draw(state, bn, "weight", &m, 1, 1);
    draw(state, bn, "bias", &m, 1, 0);
    draw(state, bn, "running_mean", &m, 1, 0);
    draw(state, bn, "running_var", &m, 1, 1);
    *(int64_t *)add(state, bn, "num_batches_tracked", ST_I64, NULL, 0) = 7;
}

/* torchvision's ResNet: two convs a block, or three of which the last has four times the units. */
static struct state *draw_state(int deep, size_t width, size_t classes)
{
    static const size_t depth[2][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
    struct state *state = calloc(1, sizeof *state);
    assert_non_null(state);
    state->random = 5;
    draw_conv(state, "conv1", "bn1", width, 3, 7);
    size_t inputs = width;
    for (size_t stage = 0; stage < 4; stage++)
        for (size_t i = 0; i < depth[deep][stage]; i++) {
            size_t m = width << stage, out = deep ? 4 * m : m;
            char conv[96], bn[96];
            for (size_t c = 1; c <= (deep ? 3u : 2u); c++) {
                snprintf(conv, sizeof conv, "layer%zu.%zu.conv%zu", stage + 1, i, c);
                snprintf(bn, sizeof bn, "layer%zu.%zu.bn%zu", stage + 1, i, c);
                draw_conv(state, conv, bn, c == 3 ? out : m, c == 1 ? inputs : m, deep && c != 2 ? 1 : 3);
            }
            if (!i && (stage || deep)) {
                snprintf(conv, sizeof conv, "layer%zu.0.downsample.0", stage + 1);
                snprintf(bn, sizeof bn, "layer%zu.0.downsample.1", stage + 1);
                draw_conv(state, conv, bn, out, inputs, 1);
            }
            inputs = out;
        }
    draw(state, "fc", "weight", (size_t[]){classes, inputs}, 2, 0);
    draw(state, "fc", "bias", &classes, 1, 0);
    return state;
}

static void free_state(struct state *state)
{
    for (size_t i = 0; i < state->count; i++)
        free((void *)(uintptr_t)state->item[i].data);
    free(state);
}

static void write_state(const struct state *state)
{
    assert_int_equal(
        safetensors_write(state_path, state->item, state->count, &(struct st_meta){"format", "pt"}, 1), 0);
}

/* ---------------------------------------------------------------- logits */

/* What a file's tensors make of the golden images, in a net of that parameterization and of their size. */
static void check_logits(const struct kind *kind, const char *path, sph_param param, sph_norm norm,
                         const double *x, const char *what)
{
    sph_net *net = NULL;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .channels = 3,
                          .height = IMAGE,
                          .width = IMAGE,
                          .classes = CLASSES,
                          .param = param,
                          .norm = norm,
                          .act = SPH_ACT_RELU,
                          .init = SPH_INIT_GLOROT}; /* the cheapest: it is overwritten */
    double y[IMAGES * CLASSES], worst = 0;
    assert_int_equal(kind->make(&net, &spec), 0);
    if (sph_net_load_tensors(net, path) < 0)
        fail_msg("%s: %s", what, sph_error());
    assert_int_equal(sph_net_forward(net, x, IMAGES, y), 0);
    for (size_t i = 0; i < IMAGES * CLASSES; i++)
        worst = fmax(worst, isnan(y[i]) ? INFINITY : fabs(y[i] - kind->golden[i]));
    print_message("           %s %s: largest deviation of a logit %.1e\n", kind->name, what, worst);
    if (!(worst <= 1e-4))
        fail_msg("%s: a logit is off by %g", what, worst);
    sph_net_free(net);
}

static void convert(const char *in, const char *out, sph_param to, int flags, sph_names names)
{
    sph_converted result;
    sph_convert_opts opts = {.to = to, .flags = flags | SPH_CONVERT_STRICT, .names = names};
    if (sph_convert(in, out, &opts, &result) < 0)
        fail_msg("%s to %s: %s", in, param_words[to], sph_error());
    assert_non_null(result.net);
    assert_false(result.dropped);
    assert_int_equal(result.learned, sph_net_learned(result.net));
    sph_net_free(result.net);
}

/* Same names, dtypes and shapes, in the same order; counts are 0 again. */
static void check_names(const struct state *state)
{
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, back_path), 0);
    assert_int_equal(file.count, state->count);
    assert_null(safetensors_metadata(&file, "spherelu"));
    for (size_t i = 0; i < file.count; i++) {
        const struct st_item *item = &state->item[i];
        assert_string_equal(file.tensor[i].name, item->name);
        assert_int_equal(file.tensor[i].dtype, item->dtype);
        assert_int_equal(file.tensor[i].ndim, item->ndim);
        assert_memory_equal(file.tensor[i].shape, item->shape, item->ndim * sizeof *item->shape);
        if (item->dtype == ST_I64)
            assert_memory_equal(file.tensor[i].data, (char[8]){0}, 8);
    }
    safetensors_close(&file);
}

static void keeps_pytorchs_logits(void **context)
{
    const struct kind *kind = *context;
    static const struct {
        sph_param to;
        int flags;
        sph_norm norm;
    } ways[] = {{SPH_PARAM_GMP, 0, SPH_NORM_NONE},
                {SPH_PARAM_GMP, SPH_CONVERT_KEEP_BN, SPH_NORM_BN},
                {SPH_PARAM_WN, 0, SPH_NORM_BN},
                {SPH_PARAM_SPHERE, 0, SPH_NORM_NONE},
                {SPH_PARAM_SPHERE, SPH_CONVERT_KEEP_BN, SPH_NORM_BN}};
    int deep = kind->make == sph_net_resnet50;
    struct state *state = draw_state(deep, 64, CLASSES);
    double *x = calloc(IMAGES * 3 * IMAGE * IMAGE, sizeof *x);
    assert_int_equal(kind->read, IMAGES * CLASSES);
    for (size_t i = 0; i < IMAGES * 3 * IMAGE * IMAGE; i++)
        x[i] = spread(&state->random, 1.7);
    write_state(state);
    check_logits(kind, state_path, SPH_PARAM_SP, SPH_NORM_BN, x, "as it is");
    const char *sanitizer = getenv("SPH_SAN");
    size_t all = deep ? 2 : sizeof ways / sizeof *ways;
    if ((sanitizer && *sanitizer) || !layer_is("long"))
        all = deep ? 0 : 2; /* the same code; minutes under a sanitizer */
    for (size_t i = 0; i < all; i++) {
        char what[64];
        snprintf(what, sizeof what, "to %s%s", param_words[ways[i].to],
                 ways[i].norm == SPH_NORM_BN ? " with bn" : ", bn folded");
        convert(state_path, there_path, ways[i].to, ways[i].flags, SPH_NAMES_SPHERELU);
        check_logits(kind, there_path, ways[i].to, ways[i].norm, x, what);
        int same = ways[i].norm == SPH_NORM_BN;
        convert(there_path, back_path, SPH_PARAM_SP, 0, same ? SPH_NAMES_TORCHVISION : SPH_NAMES_SPHERELU);
        check_logits(kind, back_path, SPH_PARAM_SP, ways[i].norm, x, "and back");
        if (same)
            check_names(state);
    }
    free(x);
    free_state(state);
}

/* ---------------------------------------------------------------- what is recognised */

static sph_net *opened(void)
{
    sph_net *net = NULL;
    if (sph_net_open(&net, state_path) < 0)
        fail_msg("%s", sph_error());
    return net;
}

/* Narrow ones, so that no allocation is large; nothing in the file says so. */
static void names_and_shapes_give_the_network(void **context)
{
    (void)context;
    for (int deep = 0; deep < 2; deep++)
        for (size_t width = 1; width <= 5; width += 4) {
            struct state *state = draw_state(deep, width, 3 + width);
            write_state(state);
            sph_net *net = opened();
            assert_int_equal(sph_net_layers(net), deep ? 54 : 21);
            assert_int_equal(sph_net_outputs(net), 3 + width);
            assert_int_equal(sph_net_inputs(net), 3 * 224 * 224);
            assert_int_equal(sph_net_dtype(net), SPH_F32);
            double mean[5];
            assert_int_equal(sph_net_get(net, "layer1.0.conv2.norm.mean", mean, width), 0);
            for (size_t i = 0; i < state->count; i++)
                if (!strcmp(state->item[i].name, "layer1.0.bn2.running_mean"))
                    for (size_t j = 0; j < width; j++)
                        assert_true(mean[j] == (double)((const float *)state->item[i].data)[j]);
            assert_int_equal(sph_net_save_as(net, back_path, SPH_NAMES_TORCHVISION), 0);
            check_names(state);
            sph_net_free(net);
            free_state(state);
        }
}

/* A net of rounded widths comes back too. */
static void rounded_widths_come_back(void **context)
{
    (void)context;
    static const double scales[] = {0.05, 0.1, 0.11, 0.137};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        sph_image_net spec = {.size = sizeof(sph_image_net),
                              .dtype = SPH_F64,
                              .channels = 1,
                              .height = 224,
                              .width = 224,
                              .classes = 2,
                              .scale = scales[i],
                              .norm = SPH_NORM_BN,
                              .act = SPH_ACT_RELU};
        sph_net *net = NULL;
        assert_int_equal(sph_net_resnet18(&net, &spec), 0);
        assert_int_equal(sph_net_save_as(net, state_path, SPH_NAMES_TORCHVISION), 0);
        sph_net *back = opened();
        assert_int_equal(sph_net_dtype(back), SPH_F64);
        assert_int_equal(back->learned, net->learned);
        assert_memory_equal(back->params, net->params, net->learned * sizeof(double));
        assert_memory_equal(back->state, net->state, net->state_len * sizeof(double));
        sph_net_free(back);
        sph_net_free(net);
    }
}

static struct st_item *find(struct state *state, const char *name)
{
    for (size_t i = 0; i < state->count; i++)
        if (!strcmp(state->item[i].name, name))
            return &state->item[i];
    fail_msg("no %s", name);
    return NULL;
}

static void opening_fails(struct state *state, const char *key)
{
    sph_net *net = NULL;
    write_state(state);
    assert_fails(sph_net_open(&net, state_path), SPH_EFORMAT, .key = key, .path = state_path);
    assert_null(net);
}

static void what_is_no_resnet_is_named(void **context)
{
    (void)context;
    struct state *state = draw_state(0, 2, 4);
    struct st_item *item = find(state, "layer4.1.bn2.running_var"), whole = *item;
    *item = (struct st_item){"layer4.1.bn2.running_variance", ST_F32, whole.shape, 1, whole.data};
    opening_fails(state, "layer4.1.bn2.running_var");
    *item = whole;

    /* one tensor more: another depth, another net */
    size_t kept = state->count;
    draw(state, "layer1.2.conv1", "weight", (size_t[]){2, 2, 3, 3}, 4, 0);
    opening_fails(state, "layer1.2.conv1.weight");
    state->count = kept;
    free((void *)(uintptr_t)state->item[kept].data);

    item = find(state, "layer3.0.conv2.weight");
    whole = *item;
    item->shape = (const size_t[]){8, 2, 6, 6};
    opening_fails(state, "layer3.0.conv2.weight");
    item->shape = (const size_t[]){576};
    item->ndim = 1;
    opening_fails(state, "layer3.0.conv2.weight");
    *item = whole;

    item = find(state, "bn1.num_batches_tracked");
    whole = *item;
    *item = (struct st_item){"bn2.num_batches_tracked", ST_I64, whole.shape, 0, whole.data};
    opening_fails(state, "bn2.num_batches_tracked");
    *item = whole;

    item = find(state, "fc.bias");
    item->dtype = ST_I32;
    opening_fails(state, "fc.bias");
    item->dtype = ST_F32;
    ((float *)(uintptr_t)find(state, "bn1.running_var")->data)[1] = -1;
    opening_fails(state, "bn1.running_var");
    free_state(state);

    state = draw_state(0, 1, 2);
    find(state, "layer4.0.conv2.weight")->shape = (const size_t[]){2, 2, 4, 4};
    opening_fails(state, "layer4.0.conv2.weight");
    free_state(state);
}

/* As PyTorch's users change torchvision's network for CIFAR: conv1 3x3 of stride 1, no max pool. */
static void the_stem_of_small_images_goes_there_and_back(void **context)
{
    (void)context;
    enum { SIDE = 32, PIXELS = 3 * SIDE * SIDE, OUTPUTS = 2 };
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .channels = 3,
                          .height = SIDE,
                          .width = SIDE,
                          .classes = OUTPUTS,
                          .scale = 1.0 / 32,
                          .norm = SPH_NORM_BN,
                          .act = SPH_ACT_RELU,
                          .stem = SPH_STEM_SMALL};
    static double image[PIXELS];
    for (size_t i = 0; i < PIXELS; i++)
        image[i] = (double)(i * 7919 % 1000) / 500 - 1;
    for (int deep = 0; deep < 2; deep++) {
        sph_net *net = NULL, *back = NULL;
        double logits[OUTPUTS], again[OUTPUTS];
        assert_int_equal((deep ? sph_net_resnet50 : sph_net_resnet18)(&net, &spec), 0);
        assert_int_equal(sph_net_save_as(net, back_path, SPH_NAMES_TORCHVISION), 0);
        assert_int_equal(sph_net_open(&back, back_path), 0);
        assert_int_equal(sph_net_forward(net, image, 1, logits), 0);
        assert_int_equal(sph_net_forward(back, image, 1, again), 0);
        assert_memory_equal(logits, again, sizeof logits);
        assert_true(logits[0] != logits[1]);
        sph_net_free(back);
        sph_net_free(net);
    }
}

static void only_an_sp_resnet_with_bn_is_written_so(void **context)
{
    (void)context;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .channels = 3,
                          .height = 32,
                          .width = 32,
                          .classes = 2,
                          .scale = 1.0 / 32,
                          .norm = SPH_NORM_BN,
                          .act = SPH_ACT_RELU,
                          .stem = SPH_STEM_LARGE};
    sph_net *net = NULL, *other = NULL;
    assert_int_equal(sph_net_resnet18(&net, &spec), 0); /* of small images too */
    assert_int_equal(sph_net_save_as(net, back_path, SPH_NAMES_TORCHVISION), 0);
    assert_int_equal(unlink(back_path), 0);
    sph_net_free(net);
    assert_int_equal(sph_net_vgg6(&net, &spec), 0);
    assert_fails(sph_net_save_as(net, back_path, SPH_NAMES_TORCHVISION), SPH_EFORMAT, .key = "layer1.0.conv2",
                 .path = back_path);
    assert_fails(sph_net_save_as(net, back_path, (sph_names)7), SPH_EARG, .key = "names", .path = back_path);
    sph_net_free(net);

    assert_int_equal(sph_net_resnet18(&net, &spec), 0);
    assert_int_equal(sph_net_convert(&other, net, SPH_PARAM_WN, 0), 0);
    assert_fails(sph_net_save_as(other, back_path, SPH_NAMES_TORCHVISION), SPH_EFORMAT, .key = "conv1",
                 .path = back_path);
    sph_net_free(other);
    sph_net_free(net);

    spec.norm = SPH_NORM_NONE;
    assert_int_equal(sph_net_resnet50(&net, &spec), 0);
    assert_fails(sph_net_save_as(net, back_path, SPH_NAMES_TORCHVISION), SPH_EFORMAT, .key = "conv1",
                 .path = back_path);
    sph_net_free(net);

    spec.norm = SPH_NORM_BN;
    spec.act = SPH_ACT_LEAKY_RELU;
    assert_int_equal(sph_net_resnet18(&net, &spec), 0);
    assert_fails(sph_net_save_as(net, back_path, SPH_NAMES_TORCHVISION), SPH_EFORMAT, .path = back_path);
    sph_net_free(net);

    /* a sign that a max pool keeps from the next weights */
    spec.act = SPH_ACT_RELU;
    spec.param = SPH_PARAM_GMP;
    assert_int_equal(sph_net_resnet18(&net, &spec), 0);
    assert_int_equal(sph_net_set(net, "conv1.r", (double[]){1, -2}, 2), 0);
    assert_int_equal(sph_net_convert(&other, net, SPH_PARAM_SP, 0), 0);
    assert_fails(sph_net_save_as(other, back_path, SPH_NAMES_TORCHVISION), SPH_EFORMAT, .key = "conv1",
                 .path = back_path);
    sph_net_free(other);
    sph_net_free(net);
    assert_int_equal(access(back_path, F_OK), -1);
}

static void every_allocation_may_fail(void **context)
{
    (void)context;
    struct state *state = draw_state(0, 1, 2);
    write_state(state);
    free_state(state);
    size_t n = 0;
    int err = -1;
    for (; err; n++) {
        sph_convert_opts opts = {.to = SPH_PARAM_SP, .names = SPH_NAMES_TORCHVISION};
        fault_after(n);
        err = sph_convert(state_path, back_path, &opts, NULL);
        int happened = fault_happened();
        fault_off();
        if (happened)
            assert_int_equal(err, SPH_EMEMORY);
        else
            assert_int_equal(err, 0);
        assert_int_equal(access(back_path, F_OK), err ? -1 : 0);
    }
    assert_true(n > 100);
}

/* ---------------------------------------------------------------- the committed numbers */

static int read_logits(void)
{
    FILE *file = fopen(SPH_TESTS_DIR "/golden/logits.csv", "r");
    char line[256], net[16];
    size_t row, class;
    double value;
    int bad = !file || !fgets(line, sizeof line, file);
    while (!bad && fgets(line, sizeof line, file)) {
        bad = sscanf(line, "%15[^,],%zu,%zu,%lf", net, &row, &class, &value) != 4;
        for (size_t i = 0; i < 2 && !bad; i++)
            if (!strcmp(kinds[i].name, net) && kinds[i].read < IMAGES * CLASSES)
                kinds[i].golden[kinds[i].read++] = value;
    }
    if (file)
        fclose(file);
    return bad ? -1 : 0;
}

static int clean(void **context)
{
    (void)context;
    unlink(state_path);
    unlink(there_path);
    unlink(back_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"resnet18 keeps PyTorch's logits", keeps_pytorchs_logits, NULL, clean, &kinds[0]},
        {"resnet50 keeps PyTorch's logits", keeps_pytorchs_logits, NULL, clean, &kinds[1]},
        cmocka_unit_test_teardown(names_and_shapes_give_the_network, clean),
        cmocka_unit_test_teardown(rounded_widths_come_back, clean),
        cmocka_unit_test_teardown(what_is_no_resnet_is_named, clean),
        cmocka_unit_test_teardown(the_stem_of_small_images_goes_there_and_back, clean),
        cmocka_unit_test_teardown(only_an_sp_resnet_with_bn_is_written_so, clean),
        cmocka_unit_test_teardown(every_allocation_may_fail, clean),
    };
    if (read_logits() < 0 || !mkdtemp(folder))
        return 1;
    snprintf(state_path, sizeof state_path, "%s/state", folder);
    snprintf(there_path, sizeof there_path, "%s/there", folder);
    snprintf(back_path, sizeof back_path, "%s/back", folder);
    int failed = cmocka_run_group_tests_name("torchvision", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
