/* SPDX-License-Identifier: MIT
 *
 * Nets as ONNX graphs. That onnxruntime computes the same is tests/cli/onnx_runtime.sh's business. */
#include "import_net.h"
#include "onnx_nets.h"

#include <unistd.h>

#include "bad_list.h"
#include "fault.h"
#include "file/file.h"
#include "layer.h"
#include "skip.h"
#include "store/model.h"
#include "store/tool.h"
#include "train/losses.h"

static char path[64], other[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_onnx.%d.onnx", (int)getpid());
    snprintf(other, sizeof other, "test_onnx.%d.safetensors", (int)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(path);
    remove(other);
    return 0;
}

static int has_onnx(void)
{
    return !strstr(sph_features(), "onnx: none");
}

static void what_cannot_be_exported_is_refused(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    char name[96];
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, SPH_F32), 0);
    assert_fails(sph_net_export(net, path, &(sph_export_opts){.size = sizeof(sph_export_opts)}), SPH_EARG,
                 .key = "net", .path = path);
    sph_net_free(net);
    net = onnx_net(2, name);
    assert_fails(sph_net_export(net, path, &(sph_export_opts){.size = sizeof(sph_export_opts), .opset = 11}),
                 SPH_EARG, .key = "opset");
    assert_fails(sph_net_export(net, path, &(sph_export_opts){.size = sizeof(sph_export_opts), .opset = 23}),
                 SPH_EARG, .key = "opset");
    sph_tensor t;
    assert_int_equal(sph_net_tensor(net, 0, &t), 0);
    double *values = calloc(t.count, sizeof *values);
    values[0] = NAN;
    assert_int_equal(sph_net_set(net, t.name, values, t.count), 0);
    free(values);
    assert_fails(sph_net_export(net, path, &(sph_export_opts){.size = sizeof(sph_export_opts)}), SPH_EARG,
                 .key = "layers.0", .path = path);
    assert_int_equal(access(path, F_OK), -1);
    sph_net_free(net);
}

static void an_export_survives_every_failed_allocation(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    char name[96], *first = NULL, *again = NULL;
    size_t length = 0, same = 0;
    sph_net *net = onnx_net(7, name);
    const sph_export_opts opts = {.size = sizeof(sph_export_opts), .flags = SPH_EXPORT_KEEP_BN};
    assert_int_equal(sph_net_export(net, path, &opts), 0);
    assert_int_equal(file_read(&first, &length, path), 0);
    size_t held = mem_held(), step = quick_step(7);
    for (size_t failures = 0;; failures += step) {
        fault_after(failures);
        int err = sph_net_export(net, path, &opts);
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
        assert_int_equal(mem_held(), held);
        assert_int_equal(file_read(&again, &same, path), 0); /* the old one stands */
        assert_int_equal(same, length);
        assert_memory_equal(again, first, length);
        mem_free(again);
    }
    mem_free(first);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- there and back */

enum { ROWS = 3 };

/* The largest difference of two nets on some rows, over the largest output. */
static double difference(size_t number, sph_net *a, sph_net *b)
{
    size_t n = sph_net_inputs(a), outputs = sph_net_outputs(a);
    assert_int_equal(sph_net_inputs(b), n);
    assert_int_equal(sph_net_outputs(b), outputs);
    double *x = calloc(ROWS * n, sizeof *x), *y = calloc(2 * ROWS * outputs, sizeof *y), off = 0, largest = 1;
    onnx_rows(number, x, ROWS * n);
    assert_int_equal(sph_net_forward(a, x, ROWS, y), 0);
    assert_int_equal(sph_net_forward(b, x, ROWS, y + ROWS * outputs), 0);
    for (size_t i = 0; i < ROWS * outputs; i++) {
        off = fmax(off, fabs(y[i] - y[ROWS * outputs + i]));
        largest = fmax(largest, fabs(y[i]));
    }
    free(x);
    free(y);
    return off / largest;
}

/* What import does not read is refused by the node's name: norms of a sample, srelu, means taken off behind an activation. */
static int is_refusal(void)
{
    return sph_failure()->code == SPH_EFORMAT && *sph_failure()->key;
}

static void what_is_exported_comes_back_as_the_same_function(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    size_t back_again = 0, refused = 0;
    for (size_t k = 0; k < ONNX_NETS; k += quick_step(13)) {
        char name[96];
        sph_net *net = onnx_net(k, name), *back = NULL, *saved = NULL;
        assert_int_equal(sph_net_export(net, path,
                                        &(sph_export_opts){.size = sizeof(sph_export_opts),
                                                           .flags = k % 2 ? SPH_EXPORT_KEEP_BN : 0}),
                         0);
        if (import_net(&back, path, NULL) < 0) {
            if (!is_refusal())
                fail_msg("%s: %s", name, sph_error());
            refused++;
        } else {
            assert_int_equal(sph_net_save(back, other), 0);
            assert_int_equal(sph_net_open(&saved, other), 0);
            double off = difference(k, net, saved);
            if (!(off <= 1e-5))
                fail_msg("%s: off by %g", name, off);
            back_again++;
        }
        sph_net_free(saved);
        sph_net_free(back);
        sph_net_free(net);
    }
    print_message("%zu came back, %zu were refused\n", back_again, refused);
    assert_true(back_again > refused / 2);
}

static void an_import_survives_every_failed_allocation(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    char name[96];
    sph_net *net = onnx_net(ONNX_RANDOM + SPH_NORM_BN, name), *back = NULL; /* vgg6 */
    assert_int_equal(
        sph_net_export(net, path,
                       &(sph_export_opts){.size = sizeof(sph_export_opts), .flags = SPH_EXPORT_KEEP_BN}),
        0);
    sph_net_free(net);
    size_t held = mem_held();
    for (size_t failures = 0;; failures += quick_step(6) * sample_step(7)) {
        fault_after(failures);
        int err = import_net(&back, path, NULL);
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
        assert_int_equal(mem_held(), held);
    }
    sph_net_free(back);
}

/* ---------------------------------------------------------------- files of other tools */

static const char *const foreign[] = {"torch_mlp",      "torch_resnet18",  "torch_resnet18_bn",
                                      "sklearn_binary", "sklearn_classes", "sklearn_values"};

static void nets_of_torch_and_sklearn_compute_the_same_here(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    for (size_t f = 0; f < sizeof foreign / sizeof *foreign; f++) {
        char file[1024], what[16];
        size_t rows = 0;
        sph_net *net = NULL;
        snprintf(file, sizeof file, "%s/golden/onnx/%s.onnx", SPH_TESTS_DIR, foreign[f]);
        if (import_net(&net, file, NULL) < 0)
            fail_msg("%s", sph_error());
        snprintf(file, sizeof file, "%s/golden/onnx/%s.txt", SPH_TESTS_DIR, foreign[f]);
        FILE *expected = fopen(file, "r");
        assert_non_null(expected);
        assert_int_equal(fscanf(expected, "%15s %zu", what, &rows), 2);
        size_t n = sph_net_inputs(net), outputs = sph_net_outputs(net);
        double *x = calloc(rows * n, sizeof *x), *y = calloc(rows * outputs, sizeof *y);
        for (size_t i = 0; i < rows * n; i++)
            x[i] = (float)((double)(i * 37 % 101) / 50 - 1);
        assert_int_equal(sph_net_forward(net, x, rows, y), 0);
        for (size_t i = 0; i < rows; i++)
            loss_predict(!strcmp(what, "logistic")  ? LOSS_LOGISTIC
                         : !strcmp(what, "softmax") ? LOSS_SOFTMAX
                                                    : LOSS_AS_IT_IS,
                         outputs, y + i * outputs);
        for (size_t i = 0; i < rows * outputs; i++) {
            double value;
            assert_int_equal(fscanf(expected, "%lf", &value), 1);
            if (fabs(value - y[i]) > 1e-5 * fmax(1, fabs(value)))
                fail_msg("%s: %.9g, expected %.9g", foreign[f], y[i], value);
        }
        fclose(expected);
        free(x);
        free(y);
        sph_net_free(net);
    }
}

static void layers_are_called_as_in_torch(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    sph_net *net = NULL;
    for (size_t f = 1; f < 3; f++) {
        char file[1024];
        snprintf(file, sizeof file, "%s/golden/onnx/%s.onnx", SPH_TESTS_DIR, foreign[f]);
        assert_int_equal(import_net(&net, file, NULL), 0);
        assert_non_null(net_find_tensor(net, "layer1.0.conv2.weight"));
        assert_non_null(net_find_tensor(net, "layer2.0.downsample.0.weight"));
        assert_non_null(net_find_tensor(net, "fc.bias"));
        if (f == 2) /* with bn it is torchvision's net */
            assert_int_equal(sph_net_save_as(net, other, SPH_NAMES_TORCHVISION), 0);
        sph_net_free(net);
    }
}

static void what_is_broken_is_named(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    size_t held = mem_held();
    struct bad_list list = bad_list("onnx");
    for (char *column[5], file[1024]; bad_list_next(&list, column, 5);) {
        snprintf(file, sizeof file, "%s/bad/onnx/%s", SPH_TESTS_DIR, column[0]);
        sph_net *net = NULL;
        bad_list_check(&list, import_net(&net, file, NULL), column, 5, file);
        sph_net_free(net);
        assert_int_equal(mem_held(), held);
    }
    bad_list_end(&list, 50);
}

/* Every beginning of a file, and every byte of it changed: refused, or a net, and nothing is left behind. */
static void no_byte_can_break_the_reader(void **state)
{
    (void)state;
    if (!has_onnx())
        skip_because("this build has no protobuf-c");
    char file[1024], *bytes = NULL;
    size_t length = 0, held = mem_held();
    snprintf(file, sizeof file, "%s/golden/onnx/sklearn_classes.onnx", SPH_TESTS_DIR);
    assert_int_equal(file_read(&bytes, &length, file), 0);
    for (size_t i = 0; i < 2 * length; i += quick_step(9)) {
        sph_net *net = NULL;
        FILE *out = fopen(path, "wb");
        char kept = bytes[i % length];
        bytes[i % length] = (char)(kept ^ (1 << i % 8));
        assert_int_equal(fwrite(bytes, 1, i < length ? i : length, out), i < length ? i : length);
        fclose(out);
        bytes[i % length] = kept;
        if (import_net(&net, path, NULL) == 0)
            sph_net_free(net);
    }
    mem_free(bytes);
    assert_int_equal(mem_held(), held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_exported_is_refused),
        cmocka_unit_test(an_export_survives_every_failed_allocation),
        cmocka_unit_test(what_is_exported_comes_back_as_the_same_function),
        cmocka_unit_test(an_import_survives_every_failed_allocation),
        cmocka_unit_test(nets_of_torch_and_sklearn_compute_the_same_here),
        cmocka_unit_test(layers_are_called_as_in_torch),
        cmocka_unit_test(what_is_broken_is_named),
        cmocka_unit_test(no_byte_can_break_the_reader),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
