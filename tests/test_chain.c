/* SPDX-License-Identifier: MIT
 *
 * Files of dense layers without a description: which order they are taken in, that a conversion is
 * the same function, and what is refused. */
#include "same_function.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/file.h"
#include "file/file_sys.h"
#include "base/memory.h"
#include "fault.h"
#include "fault_system.h"
#include "net/net.h"
#include "store/chain.h"
#include "spherelu.h"
#include "temporaries.h"

/* ---------------------------------------------------------------- files */

static char folder[] = "/tmp/spherelu-chain-XXXXXX";
static char in_path[64], out_path[64], back_path[64];

static int clean(void **state)
{
    (void)state;
    sys.at = 0;
    fault_off();
    unlink(in_path);
    unlink(out_path);
    unlink(back_path);
    temporaries_in(folder, "", 1);
    return 0;
}

static const char *const leaves[SPH_PARAM_COUNT][3] = {
    {"weight", "bias", NULL}, {"v", "g", "bias"}, {"theta", "lambda", "r"}, {"u", "lambda", "r"}};

/* The tensors of a net as a file without a description, layer l's called paths[l]; biases: 0 leaves them out.
 */
static void write_plain(const sph_net *net, const char *const *paths, enum st_dtype dtype, int biases)
{
    struct st_item items[32] = {0};
    char names[32][160];
    double *numbers[32];
    size_t count = 0;
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const char *path = net->layers[tensor->layer].path, *leaf = tensor->view.name + strlen(path) + 1;
        if (!biases && (!strcmp(leaf, "bias") || !strcmp(leaf, "lambda")))
            continue;
        snprintf(names[count], sizeof *names, "%s.%s", paths[tensor->layer], leaf);
        numbers[count] = calloc(tensor->view.count, sizeof(double));
        net_read_tensor(net, tensor, numbers[count]);
        if (dtype == ST_F32)
            for (size_t k = 0; k < tensor->view.count; k++)
                ((float *)numbers[count])[k] = (float)numbers[count][k];
        items[count] =
            (struct st_item){names[count], dtype, tensor->view.shape, tensor->view.ndim, numbers[count]};
        count++;
    }
    assert_int_equal(safetensors_write(in_path, items, count, &(struct st_meta){"format", "pt"}, 1), 0);
    for (size_t i = 0; i < count; i++)
        free(numbers[i]);
}

static const char *const sequential[] = {"0", "2", "4", "10"};

static sph_net *opened(const char *path)
{
    sph_net *net = NULL;
    if (sph_net_open(&net, path) < 0)
        fail_msg("%s: %s", path, sph_error());
    return net;
}

static void convert(const char *in, const char *out, sph_param to, const char *order)
{
    sph_converted result;
    if (sph_convert(in, out, &(sph_convert_opts){.to = to}, &result) < 0)
        fail_msg("to %d: %s", (int)to, sph_error());
    sph_net_free(result.net);
    assert_int_equal(result.members, 0);
    assert_string_equal(result.order, order);
    sph_net *net = opened(out);
    assert_int_equal(result.layers, sph_net_layers(net));
    sph_net_free(net);
}

static void converting_fails(sph_param to, int code, const char *key)
{
    assert_fails(sph_convert(in_path, out_path, &(sph_convert_opts){.to = to}, NULL), code, .key = key,
                 .path = in_path);
    assert_false(file_exists(out_path));
    assert_int_equal(temporaries_in(folder, "", 0), 0);
}

/* ---------------------------------------------------------------- the same function */

static void check_leaves(const char *path, sph_param param, int biases)
{
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, path), 0);
    assert_string_equal(safetensors_metadata(&file, "format"), "pt");
    for (size_t t = 0; t < 3 && leaves[param][t]; t++) {
        char name[32];
        snprintf(name, sizeof name, "2.%s", leaves[param][t]);
        int bias = !strcmp(leaves[param][t], "bias") || !strcmp(leaves[param][t], "lambda");
        int angles = !strcmp(leaves[param][t], "theta") && safetensors_find(&file, "2.sign");
        assert_int_equal(safetensors_find(&file, name) != NULL, !angles && (!bias || biases));
    }
    assert_non_null(safetensors_find(&file, "10.weight"));
    safetensors_close(&file);
}

/* Every pair, random signs of r, one input or several, with and without biases. */
static void converted_chains_keep_their_function(void **state)
{
    (void)state;
    uint64_t seed = 0;
    for (int from = 0; from < SPH_PARAM_COUNT; from++)
        for (int to = 0; to < SPH_PARAM_COUNT; to++)
            for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
                for (size_t inputs = 1; inputs <= 9; inputs += 4) {
                    struct random_spec spec = {.seed = ++seed,
                                               .dtype = (sph_dtype)dtype,
                                               .param = (sph_param)from,
                                               .act = SPH_ACT_RELU,
                                               .inputs = inputs,
                                               .depth = 3};
                    int biases = seed % 3 != 0;
                    sph_net *net = random_net(&spec);
                    write_plain(net, sequential, dtype ? ST_F64 : ST_F32, biases);
                    sph_net_free(net);
                    net = opened(in_path); /* biases that are not there are 0 */
                    convert(in_path, out_path, (sph_param)to, "0, 2, 4, 10");
                    check_leaves(out_path, (sph_param)to, biases);
                    sph_net *there = opened(out_path);
                    for (size_t l = 0; l < 3; l++)
                        assert_int_equal(sph_net_layer(there, l, NULL)->param, to);
                    assert_int_equal(sph_net_layer(there, 3, NULL)->param, SPH_PARAM_SP);
                    assert_int_equal(sph_net_dtype(there), dtype);
                    check_same(net, there);
                    convert(out_path, back_path, (sph_param)from, "0, 2, 4, 10");
                    check_leaves(back_path, (sph_param)from, biases);
                    sph_net *back = opened(back_path);
                    check_same(net, back);
                    sph_net_free(back);
                    sph_net_free(there);
                    sph_net_free(net);
                }
}

/* A chain of mixed rows, the last one too: what has a radius follows, wn stays. */
static void rows_may_differ(void **state)
{
    (void)state;
    for (int last = 0; last < SPH_PARAM_COUNT; last++)
        for (int to = 0; to < SPH_PARAM_COUNT; to++) {
            sph_net *net = NULL;
            assert_int_equal(sph_net_new(&net, SPH_F64), 0);
            int x = sph_net_input(net, 3);
            for (int p = 0; p < SPH_PARAM_COUNT; p++)
                x = sph_net_dense(
                    net, x, &(sph_layer){.units = 4, .param = (sph_param)((p + 1) % 4), .act = SPH_ACT_RELU});
            x = sph_net_dense(net, x, &(sph_layer){.units = 2, .param = (sph_param)last});
            assert_int_equal(sph_net_ready(net, x, 1), 0);
            randomize(net, (uint64_t)(10 * last + to), 0);
            write_plain(net, (const char *const[]){"a1", "a2", "a3", "a4", "a5"}, ST_F64, 1);
            convert(in_path, out_path, (sph_param)to, "a1, a2, a3, a4, a5");
            sph_net *there = opened(out_path);
            sph_param expected = to == SPH_PARAM_SP             ? SPH_PARAM_SP
                                 : !has_radius((sph_param)last) ? (sph_param)last
                                 : has_radius((sph_param)to)    ? (sph_param)to
                                                                : SPH_PARAM_SP;
            assert_int_equal(sph_net_layer(there, 4, NULL)->param, expected);
            check_same(net, there);
            sph_net_free(there);
            sph_net_free(net);
        }
}

static void what_stays_the_same_keeps_its_bits(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++) {
        struct random_spec spec = {.seed = 3,
                                   .dtype = SPH_F64,
                                   .param = (sph_param)param,
                                   .act = SPH_ACT_RELU,
                                   .inputs = 4,
                                   .depth = 3};
        sph_net *net = random_net(&spec);
        write_plain(net, sequential, ST_F64, 1);
        convert(in_path, out_path, (sph_param)param, "0, 2, 4, 10");
        sph_net *there = opened(out_path);
        assert_memory_equal(net->params, there->params, net->learned * sizeof(double));
        sph_net_free(there);
        sph_net_free(net);
    }
}

/* ---------------------------------------------------------------- dtypes */

static const float two[4] = {1, 2, 3, 4};
static const uint16_t bf16[4] = {0x3f80, 0x4000, 0x4040, 0x4080}, f16[4] = {0x3c00, 0x4000, 0x4200, 0x4400};
static const size_t square[2] = {2, 2};

static void halves_become_f32(void **state)
{
    (void)state;
    struct st_item items[] = {{"0.weight", ST_BF16, square, 2, bf16},
                              {"0.bias", ST_F16, square, 1, f16},
                              {"1.weight", ST_F16, square, 2, f16}};
    assert_int_equal(safetensors_write(in_path, items, 3, NULL, 0), 0);
    convert(in_path, out_path, SPH_PARAM_WN, "0, 1");
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, out_path), 0);
    static const char *const names[] = {"0.v", "0.bias", "1.weight"};
    for (size_t i = 0; i < 3; i++) {
        const struct st_tensor *tensor = safetensors_find(&file, names[i]);
        assert_int_equal(tensor->dtype, ST_F32);
        assert_memory_equal(tensor->data, two, tensor->bytes);
    }
    safetensors_close(&file);
    items[2].dtype = ST_I16;
    assert_int_equal(safetensors_write(in_path, items, 3, NULL, 0), 0);
    unlink(out_path);
    converting_fails(SPH_PARAM_WN, SPH_EFORMAT, "1.weight");
}

/* ---------------------------------------------------------------- order */

static void order_is(const char *const *names, size_t count, const char *expected)
{
    struct st_item items[8];
    struct safetensors file;
    struct chain chain;
    char order[64];
    for (size_t i = 0; i < count; i++)
        items[i] = (struct st_item){names[i], ST_F32, square, 2, two};
    assert_int_equal(safetensors_write(in_path, items, count, NULL, 0), 0);
    assert_int_equal(safetensors_open(&file, in_path), 0);
    assert_int_equal(chain_read(&chain, &file), 0);
    chain_order(&chain, order, sizeof order);
    assert_string_equal(order, expected);
    chain_free(&chain);
    safetensors_close(&file);
}

static void numbers_in_names_count_as_numbers(void **state)
{
    (void)state;
    /* as Python's safetensors writes them, and in any order */
    order_is((const char *const[]){"0.weight", "10.weight", "2.weight"}, 3, "0, 2, 10");
    order_is((const char *const[]){"net.9.fc.weight", "net.10.fc.weight", "net.1.fc.weight"}, 3,
             "net.1.fc, net.9.fc, net.10.fc");
    order_is((const char *const[]){"fc1.weight", "fc10.weight", "fc2.weight", "out.weight"}, 4,
             "fc1, fc2, fc10, out");
    /* words say nothing about order: the file's */
    order_is((const char *const[]){"input.weight", "hidden.weight", "output.weight"}, 3,
             "input, hidden, output");
    order_is((const char *const[]){"weight"}, 1, "");
}

static void shapes_overrule_names(void **state)
{
    (void)state;
    struct st_item items[] = {{"a.weight", ST_F32, (const size_t[]){1, 2}, 2, two},
                              {"b.weight", ST_F32, (const size_t[]){1, 1}, 2, two},
                              {"c.weight", ST_F32, (const size_t[]){2, 1}, 2, two}};
    assert_int_equal(safetensors_write(in_path, items, 3, NULL, 0), 0);
    convert(in_path, out_path, SPH_PARAM_GMP, "a, b, c");
    unlink(out_path);
    struct st_item others[] = {items[2], items[0], items[1]};
    others[0].name = "9.weight", others[1].name = "1.weight", others[2].name = "2.weight";
    assert_int_equal(safetensors_write(in_path, others, 3, NULL, 0), 0);
    convert(in_path, out_path, SPH_PARAM_GMP, "1, 2, 9"); /* 2-1-1-2 */
    unlink(out_path);
    others[1].name = "3.weight"; /* by number 2, 3, 9: 1-1, 2-1: no. In the file 9, 3, 2: 1-2-1-1 */
    assert_int_equal(safetensors_write(in_path, others, 3, NULL, 0), 0);
    convert(in_path, out_path, SPH_PARAM_GMP, "9, 3, 2");
    unlink(out_path);
    items[0].name = "weight"; /* one layer without a path */
    assert_int_equal(safetensors_write(in_path, items, 1, NULL, 0), 0);
    convert(in_path, out_path, SPH_PARAM_GMP, "");
}

/* A unit without weights, whose constant the next layer takes: it gets the bias that its file does not have. */
static void a_constant_goes_into_the_next_layer(void **state)
{
    (void)state;
    const float zeros[4] = {0, 0, 3, 4};
    struct st_item items[] = {{"0.weight", ST_F32, square, 2, zeros},
                              {"0.bias", ST_F32, square, 1, two},
                              {"1.weight", ST_F32, square, 2, two}};
    for (int to = 0; to < SPH_PARAM_COUNT; to++) {
        struct safetensors file;
        assert_int_equal(safetensors_write(in_path, items, 3, NULL, 0), 0);
        convert(in_path, out_path, (sph_param)to, "0, 1");
        sph_net *net = opened(in_path), *there = opened(out_path);
        check_same(net, there);
        sph_net_free(net);
        sph_net_free(there);
        assert_int_equal(safetensors_open(&file, out_path), 0);
        assert_int_equal(safetensors_find(&file, "1.bias") != NULL, has_radius((sph_param)to));
        safetensors_close(&file);
    }
}

/* ---------------------------------------------------------------- refusals */

static void put(const struct st_item *items, size_t count)
{
    assert_int_equal(safetensors_write(in_path, items, count, NULL, 0), 0);
}

static void what_is_no_chain_is_named(void **state)
{
    (void)state;
    const float wrong[4] = {1, NAN, 3, 4}, tiny[4] = {1e-30f, 0, 3, 4}, huge[2] = {3e38f, 1};
    struct st_item items[4] = {{"0.weight", ST_F32, square, 2, two},
                               {"0.bias", ST_F32, square, 1, two},
                               {"1.weight", ST_F32, square, 2, two},
                               {"1.gain", ST_F32, square, 1, two}};
    put(items, 4);
    converting_fails(SPH_PARAM_GMP, SPH_EFORMAT, NULL);
    items[3].name = "1.v";
    items[3].ndim = 2;
    put(items, 4);
    converting_fails(SPH_PARAM_GMP, SPH_EFORMAT, "1.v");
    items[3].name = "1.sign";
    items[3].ndim = 1;
    put(items, 4);
    converting_fails(SPH_PARAM_GMP, SPH_EFORMAT, "1.sign");
    items[3].name = "1.bias";
    items[3].shape = (const size_t[]){1};
    put(items, 4);
    converting_fails(SPH_PARAM_GMP, SPH_EFORMAT, "1.bias");
    items[2].shape = (const size_t[]){1, 4};
    items[3].ndim = 1;
    put(items, 4);
    converting_fails(SPH_PARAM_GMP, SPH_EFORMAT, "1");
    items[2].shape = (const size_t[]){2, 2, 1, 1};
    items[2].ndim = 4;
    put(items, 3);
    converting_fails(SPH_PARAM_GMP, SPH_EFORMAT, "1.weight");
    items[2].shape = square;
    items[2].ndim = 2;

    items[0].data = wrong;
    put(items, 3);
    converting_fails(SPH_PARAM_SPHERE, SPH_EFORMAT, "0.weight");
    items[0].data = tiny;
    items[1].data = huge;
    put(items, 3);
    converting_fails(SPH_PARAM_SPHERE, SPH_EFORMAT, "0 unit 0");
    assert_fails(sph_convert(in_path, out_path,
                             &(sph_convert_opts){.to = SPH_PARAM_SP, .names = SPH_NAMES_TORCHVISION}, NULL),
                 SPH_EFORMAT, .path = in_path);

    /* one-input units have signs of +-1 */
    struct st_item ones[] = {{"0.sign", ST_F32, square, 1, (const float[]){1, 2}},
                             {"0.r", ST_F32, square, 1, two},
                             {"1.weight", ST_F32, square, 2, two}};
    put(ones, 3);
    converting_fails(SPH_PARAM_SP, SPH_EFORMAT, "0.sign");
    struct st_item twice[] = {{"0.weight", ST_F32, square, 2, two},
                              {"0.u", ST_F32, square, 2, two},
                              {"0.r", ST_F32, square, 1, two}};
    put(twice, 3);
    converting_fails(SPH_PARAM_SP, SPH_EFORMAT, "0.weight");
}

/* ---------------------------------------------------------------- faults */

/* An old file stands where the new one will. */
static void prepare(void)
{
    struct random_spec spec = {
        .seed = 5, .dtype = SPH_F32, .param = SPH_PARAM_GMP, .act = SPH_ACT_RELU, .inputs = 4, .depth = 3};
    sph_net *net = random_net(&spec);
    write_plain(net, sequential, ST_F32, 1);
    sph_net_free(net);
    convert(in_path, back_path, SPH_PARAM_SP, "0, 2, 4, 10"); /* what the new one is */
    assert_int_equal(file_replace_with(out_path, "old", 3), 0);
}

static int is(const char *path, const char *bytes, size_t length)
{
    char *found = NULL;
    size_t size = 0;
    assert_int_equal(file_read(&found, &size, path), 0);
    int same = size == length && !memcmp(found, bytes, length);
    mem_free(found);
    return same;
}

static int attempt(void)
{
    return sph_convert(in_path, out_path, &(sph_convert_opts){.to = SPH_PARAM_SP}, NULL);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    prepare();
    int err = -1, calls = 0;
    for (; err; calls++) {
        sys.calls = 0;
        sys.at = calls + 1;
        sys.action = FAIL;
        err = attempt();
        int happened = sys.calls >= sys.at;
        sys.at = 0;
        if (!happened) {
            assert_int_equal(err, 0);
            break;
        }
        assert_fails(err, SPH_EIO, .path = out_path);
        assert_int_equal(temporaries_in(folder, "", 0), 0);
        if (!is(out_path, "old", 3)) { /* the sync of the folder, after the rename */
            assert_int_equal(file_replace_with(out_path, "old", 3), 0);
        }
    }
    assert_true(calls > 8);
    char *fresh = NULL;
    size_t length = 0;
    assert_int_equal(file_read(&fresh, &length, back_path), 0);
    assert_true(is(out_path, fresh, length));
    mem_free(fresh);
}

static void a_kill_leaves_the_old_file_or_the_new_one(void **state)
{
    (void)state;
    prepare();
    char *fresh = NULL;
    size_t length = 0;
    int old = 0, new = 0, ended = 0;
    assert_int_equal(file_read(&fresh, &length, back_path), 0);
    for (int at = 1; !ended; at++)
        for (int action = KILL_BEFORE; action <= KILL_AFTER; action++) {
            assert_int_equal(file_replace_with(out_path, "old", 3), 0);
            pid_t child = fork();
            if (!child) {
                sys.calls = 0;
                sys.at = at;
                sys.action = (enum action)action;
                /* one thread: a forked child has no others */
                _exit(sph_convert(in_path, out_path, &(sph_convert_opts){.to = SPH_PARAM_SP}, NULL) ? 1 : 0);
            }
            int status = 0;
            assert_int_equal(waitpid(child, &status, 0), child);
            ended |= WIFEXITED(status);
            if (WIFEXITED(status))
                assert_int_equal(WEXITSTATUS(status), 0);
            int is_old = is(out_path, "old", 3), is_new = is(out_path, fresh, length);
            assert_true(is_old || is_new);
            old += is_old;
            new += is_new;
        }
    assert_true(old > 8 && new > 1);
    assert_int_equal(attempt(), 0); /* a temporary that was left is no hindrance */
    assert_true(is(out_path, fresh, length));
    mem_free(fresh);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    prepare();
    size_t n = 0;
    int err = -1;
    for (; err; n++) {
        fault_after(n);
        err = attempt();
        int happened = fault_happened();
        fault_off();
        assert_int_equal(err, happened ? SPH_EMEMORY : 0);
        assert_int_equal(is(out_path, "old", 3), err != 0);
        assert_int_equal(temporaries_in(folder, "", 0), 0);
    }
    assert_true(n > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(converted_chains_keep_their_function, clean),
        cmocka_unit_test_teardown(rows_may_differ, clean),
        cmocka_unit_test_teardown(what_stays_the_same_keeps_its_bits, clean),
        cmocka_unit_test_teardown(halves_become_f32, clean),
        cmocka_unit_test_teardown(numbers_in_names_count_as_numbers, clean),
        cmocka_unit_test_teardown(shapes_overrule_names, clean),
        cmocka_unit_test_teardown(a_constant_goes_into_the_next_layer, clean),
        cmocka_unit_test_teardown(what_is_no_chain_is_named, clean),
        cmocka_unit_test_teardown(a_full_disk_leaves_the_old_file, clean),
        cmocka_unit_test_teardown(a_kill_leaves_the_old_file_or_the_new_one, clean),
        cmocka_unit_test_teardown(every_allocation_may_fail, clean),
    };
    if (!mkdtemp(folder))
        return 1;
    snprintf(in_path, sizeof in_path, "%s/in", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(back_path, sizeof back_path, "%s/back", folder);
    int failed = cmocka_run_group_tests_name("chain", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
