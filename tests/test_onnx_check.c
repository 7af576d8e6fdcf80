/* SPDX-License-Identifier: MIT
 *
 * Graphs whose values are read in several places and under several names become the right net or are refused, and a net that is
 * not the graph is found out. That the graph's interpreter agrees with onnxruntime is tests/cli/onnx_runtime.sh's business. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "import_net.h"
#include "net/net.h"
#include "layer.h"
#include "random_net.h"
#include "skip.h"

#if __has_include("onnx.pb-c.h")
#include "fault.h"
#include "store/model.h"
#include "store/onnx.h"
#include "store/onnx_build.h"
#include "store/onnx_check.h"
#include "store/onnx_run.h"

static char path[64], other[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_onnx_check.%d.onnx", (int)getpid());
    snprintf(other, sizeof other, "test_onnx_check.%d.safetensors", (int)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(path);
    remove(other);
    return 0;
}

/* ---------------------------------------------------------------- graphs by hand */

static struct onnx_build build;

static void begin(size_t features)
{
    onnx_begin(&build, 13);
    onnx_input(&build, "x", ONNX_FLOAT, &features, 1);
}

static void begin_image(size_t channels, size_t height, size_t width)
{
    onnx_begin(&build, 13);
    onnx_input(&build, "x", ONNX_FLOAT, (size_t[]){channels, height, width}, 3);
}

static const char *numbers(const char *name, size_t rows, size_t columns, const double *values)
{
    return onnx_floats(&build, name, values, (size_t[]){rows, columns}, 2);
}

static const char *layer(const char *out, const char *in)
{
    static const double identity[] = {1, 0, 0, 1};
    return onnx_node(&build, "MatMul", out, in, numbers(onnx_text(&build, "%s.w", out), 2, 2, identity),
                     NULL);
}

static const char *constant(const char *name, double value)
{
    return onnx_floats(&build, name, &value, (size_t[]){1}, 1);
}

static void finish(const char *out, size_t width)
{
    onnx_output(&build, out, ONNX_FLOAT, &width, 1);
    if (onnx_write(&build, path) < 0)
        fail_msg("%s", sph_error());
    onnx_free(&build);
}

/* The same value under another name. */
enum { ALIASES = 6 };
static const char *alias(size_t kind, const char *out, const char *in)
{
    static const char *const ops[ALIASES] = {"Identity", "Dropout", "Cast", "Flatten", "Reshape", "Identity"};
    const int64_t shape[] = {-1, 2};
    if (kind == ALIASES - 1)
        in = onnx_node(&build, "Identity", onnx_text(&build, "%s.before", out), in, NULL);
    const char *to = kind == 4 ? onnx_ints(&build, onnx_text(&build, "%s.shape", out), shape, 2) : NULL;
    onnx_node(&build, ops[kind], out, in, to, NULL);
    if (kind == 2)
        onnx_set_int(&build, "to", ONNX_FLOAT);
    return out;
}

static sph_net *taken(void)
{
    sph_net *net = NULL;
    if (import_net(&net, path, NULL) < 0)
        fail_msg("%s", sph_error());
    return net;
}

static void refused(const char *node)
{
    sph_net *net = NULL;
    assert_fails(import_net(&net, path, NULL), SPH_EFORMAT, .key = node, .path = path);
}

static void gives(sph_net *net, const double x[2], const double y[2])
{
    double got[2];
    assert_int_equal(sph_net_forward(net, x, 1, got), 0);
    if (got[0] != y[0] || got[1] != y[1])
        fail_msg("(%g, %g), expected (%g, %g)", got[0], got[1], y[0], y[1]);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- names */

static void a_relu_behind_another_name_leaves_the_layer_as_others_read_it(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < ALIASES; kind++)
        for (int first = 0; first < 2; first++) {
            begin(2);
            const char *h = layer("h", "x"), *plain = first ? layer("k", h) : NULL;
            const char *r = onnx_node(&build, "Relu", "r", alias(kind, "a", h), NULL);
            onnx_node(&build, "Add", "y", r, first ? plain : layer("k", h), NULL);
            finish("y", 2);
            gives(taken(), (double[]){-2, 1}, (double[]){-2, 2});
        }
}

static void a_relu_behind_another_name_alone_is_the_layer_s_own(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < ALIASES; kind++) {
        begin(2);
        const char *h = layer("h", "x");
        onnx_node(&build, "Relu", "y", alias(kind, "a", h), NULL);
        finish("y", 2);
        sph_net *net = taken();
        assert_int_equal(net->node_count, 2); /* the input and one layer */
        gives(net, (double[]){-2, 1}, (double[]){0, 1});
    }
}

static void constants_behind_another_name_are_not_folded_into_what_others_read(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < ALIASES; kind++)
        for (int input = 0; input < 2; input++) {
            begin(2);
            const char *h = input ? "x" : layer("h", "x");
            const char *m = onnx_node(&build, "Mul", "m", alias(kind, "a", h), constant("three", 3), NULL);
            onnx_node(&build, "Add", "y", layer("p", m), layer("q", h), NULL);
            finish("y", 2);
            refused("m");
        }
}

static void an_image_is_read_flat_and_as_an_image(void **state)
{
    (void)state;
    const double w[] = {1, 0, 0, 0, 0, 0, 0, 1}, k[] = {2};
    begin_image(1, 2, 2);
    const char *c =
        onnx_node(&build, "Conv", "c", "x", onnx_floats(&build, "k", k, (size_t[]){1, 1, 1, 1}, 4), NULL);
    const char *f = onnx_node(&build, "Flatten", "f", c, NULL);
    const char *p = onnx_node(&build, "GlobalAveragePool", "p", c, NULL);
    const char *flat = onnx_node(&build, "Flatten", "flat", p, NULL);
    const char *d = onnx_node(&build, "Gemm", "d", f, numbers("w", 2, 4, w), NULL);
    onnx_set_int(&build, "transB", 1);
    const char *e = onnx_node(&build, "MatMul", "e", flat, numbers("v", 1, 2, (double[]){1, 10}), NULL);
    onnx_node(&build, "Add", "y", d, e, NULL);
    finish("y", 2);
    sph_net *net = taken();
    double got[2];
    assert_int_equal(sph_net_forward(net, (double[]){1, 2, 3, 4}, 1, got), 0);
    assert_true(got[0] == 2 + 5 && got[1] == 8 + 50);
    sph_net_free(net);
}

static void a_vector_and_an_image_are_not_added(void **state)
{
    (void)state;
    const double k[] = {1, 2};
    begin_image(1, 1, 1);
    const char *c =
        onnx_node(&build, "Conv", "c", "x", onnx_floats(&build, "k", k, (size_t[]){2, 1, 1, 1}, 4), NULL);
    onnx_node(&build, "Add", "y", c, onnx_node(&build, "Flatten", "f", c, NULL), NULL);
    finish("y", 2);
    refused("y");
}

static void missing_cells_are_filled_for_all_or_not_at_all(void **state)
{
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++) {
        begin(2);
        const char *missing = onnx_node(&build, "IsNaN", "missing", "x", NULL);
        const char *x = scaled ? onnx_node(&build, "Sub", "c", "x", constant("one", 1), NULL) : "x";
        const char *filled = onnx_node(&build, "Where", "filled", missing, constant("zero", 0), x, NULL);
        const char *h = layer("h", filled);
        onnx_node(&build, "Add", "y", h, scaled ? layer("k", filled) : layer("k", "x"), NULL);
        finish("y", 2);
        refused("filled");
    }
}

static void what_a_node_gives_beside_its_result_is_not_its_result(void **state)
{
    (void)state;
    begin_image(2, 3, 3);
    onnx_node(&build, "MaxPool", "p", "x", NULL);
    onnx_set_ints(&build, "kernel_shape", (size_t[]){3, 3}, 2);
    char *both[] = {(char *)"p", (char *)"where"};
    build.node->output = both;
    build.node->n_output = 2;
    onnx_node(&build, "Flatten", "f", "where", NULL);
    layer("y", "f");
    finish("y", 2);
    refused("f");
}

static void a_last_minus_sign_is_kept(void **state)
{
    (void)state;
    begin(2);
    onnx_node(&build, "Neg", "y", layer("h", "x"), NULL);
    finish("y", 2);
    gives(taken(), (double[]){-2, 1}, (double[]){2, -1});
}

/* ---------------------------------------------------------------- several nets */

static void two_nets(const char *op, int second_is_head)
{
    begin(2);
    const char *a = onnx_node(&build, "Softmax", "p", layer("a", "x"), NULL);
    const char *b = layer("b", onnx_node(&build, "Relu", "r", layer("b0", "x"), NULL));
    onnx_node(&build, op, "y", a, second_is_head ? onnx_node(&build, "Softmax", "q", b, NULL) : b, NULL);
    finish("y", 2);
}

static void what_is_no_mean_of_equal_nets_is_refused(void **state)
{
    (void)state;
    sph_imported result;
    size_t count;
    remove(other);
    for (int head = 0; head < 2; head++) {
        two_nets("Add", head);
        assert_fails(import_file(path, other, &count, &result), SPH_EFORMAT, .key = "members", .path = path);
    }
    /* of one shape, and their sum is given */
    begin(2);
    const char *a = onnx_node(&build, "Softmax", "p", layer("a", "x"), NULL);
    onnx_node(&build, "Add", "y", a, onnx_node(&build, "Softmax", "q", layer("b", "x"), NULL), NULL);
    finish("y", 2);
    assert_fails(import_file(path, other, &count, &result), SPH_EFORMAT, .key = "y", .path = path);
    assert_int_equal(access(other, F_OK), -1);
}

static sph_net *small_net(uint64_t seed)
{
    sph_net *net = NULL;
    sph_layer hidden = {.size = sizeof(sph_layer), .units = 5, .param = SPH_PARAM_GMP, .act = SPH_ACT_RELU},
              last = {.size = sizeof(sph_layer), .units = 3};
    assert_int_equal(sph_net_new(&net, SPH_F32), 0);
    int node = sph_net_dense(net, sph_net_dense(net, sph_net_input(net, 4), &hidden), &last);
    assert_int_equal(sph_net_ready(net, node, seed), 0);
    return net;
}

static void save_ensemble(enum loss_link link, size_t count)
{
    static char *const labels[] = {(char *)"a", (char *)"b", (char *)"c"};
    sph_net *nets[4];
    for (size_t k = 0; k < count; k++)
        nets[k] = small_net(k + 1);
    const struct onnx_face face = {
        .link = link, .labels = link == LOSS_SOFTMAX ? labels : NULL, .classes = 3};
    if (onnx_save(nets, count, path, &(sph_export_opts){.size = sizeof(sph_export_opts)}, &face) < 0)
        fail_msg("%s", sph_error());
    for (size_t k = 0; k < count; k++)
        sph_net_free(nets[k]);
}

static void each_member_of_an_ensemble_is_the_net_it_was(void **state)
{
    (void)state;
    const enum loss_link links[] = {LOSS_AS_IT_IS, LOSS_EXP, LOSS_SOFTMAX};
    for (size_t l = 0; l < 3; l++) {
        sph_imported result;
        sph_net **nets;
        size_t count;
        save_ensemble(links[l], 4);
        if (import_file(path, other, &count, &result) < 0)
            fail_msg("%s", sph_error());
        assert_int_equal(count, 4);
        assert_true(result.rows > 1);
        assert_int_equal(model_open_members(&nets, &count, NULL, other), 0);
        assert_int_equal(count, 4);
        for (size_t k = 0; k < count; k++) {
            const double x[] = {0.3, -1, 2, 0.7};
            double was[3], is[3];
            sph_net *before = small_net(k + 1);
            assert_int_equal(sph_net_forward(before, x, 1, was), 0);
            assert_int_equal(sph_net_forward(nets[k], x, 1, is), 0);
            for (size_t j = 0; j < 3; j++)
                assert_true(fabs(was[j] - is[j]) <= 1e-6 * fmax(1, fabs(was[j])));
            sph_net_free(before);
        }
        model_free_members(nets, count);
    }
}

static void an_import_of_several_survives_every_failed_allocation(void **state)
{
    (void)state;
    sph_imported result = {0};
    size_t count;
    save_ensemble(LOSS_SOFTMAX, 2);
    remove(other);
    size_t held = mem_held();
    for (size_t failures = 0;; failures += quick_step(7)) {
        fault_after(failures);
        int err = import_file(path, other, &count, &result);
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
        assert_int_equal(mem_held(), held);
        assert_int_equal(access(other, F_OK), -1);
    }
}

/* ---------------------------------------------------------------- nets that are not the graph */

/* Two layers, bn, standardisation with missing cells. */
static void bent_graph(void)
{
    const double w[] = {1, -0.5, 0.3, 0.8, -1.2, 0.4}, v[] = {0.7, -1, 0.5, 1, 0.2, -0.3},
                 four[] = {1.5, 0.2, -0.1, 0.9}, var[] = {0.5, 1, 2};
    begin(2);
    const char *missing = onnx_node(&build, "IsNaN", "missing", "x", NULL);
    const char *x = onnx_node(&build, "Where", "filled", missing,
                              onnx_floats(&build, "fill", (double[]){0.5, -2}, (size_t[]){2}, 1), "x", NULL);
    x = onnx_node(&build, "Sub", "centred", x, onnx_floats(&build, "mean", four, (size_t[]){2}, 1), NULL);
    x = onnx_node(&build, "Div", "scaled", x, onnx_floats(&build, "scale", var, (size_t[]){2}, 1), NULL);
    const char *h = onnx_node(&build, "MatMul", "h", x, numbers("w", 2, 3, w), NULL);
    h = onnx_node(&build, "BatchNormalization", "n", h, onnx_floats(&build, "s", four, (size_t[]){3}, 1),
                  onnx_floats(&build, "b", v, (size_t[]){3}, 1),
                  onnx_floats(&build, "m", w, (size_t[]){3}, 1),
                  onnx_floats(&build, "var", var, (size_t[]){3}, 1), NULL);
    h = onnx_node(&build, "LeakyRelu", "r", h, NULL);
    onnx_node(&build, "MatMul", "y", h, numbers("v", 3, 2, v), NULL);
    finish("y", 2);
}

static int agrees(sph_net *net)
{
    struct onnx_file file;
    const char *const value[] = {"y"};
    const struct onnx_claim claim = {.nets = &net, .count = 1, .value = value, .outputs = 1};
    size_t rows;
    assert_int_equal(onnx_open(&file, path), 0);
    int err = onnx_check(&file, &claim, &rows);
    onnx_close(&file);
    assert_true(err == SPH_EFORMAT ? !strcmp(sph_failure()->key, "y") : err == 0 && rows > 5);
    return !err;
}

static void a_net_with_any_other_number_is_found_out(void **state)
{
    (void)state;
    bent_graph();
    sph_net *net = taken();
    assert_true(agrees(net));
    size_t changed = 0;
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor t;
        double values[16];
        assert_int_equal(sph_net_tensor(net, i, &t), 0);
        assert_int_equal(sph_net_get(net, t.name, values, t.count), 0);
        for (size_t k = 0; k < t.count; k++, changed++) {
            double was = values[k];
            values[k] += 0.001 * fmax(1, fabs(was));
            assert_int_equal(sph_net_set(net, t.name, values, t.count), 0);
            if (agrees(net))
                fail_msg("%s[%zu] of %g may be %g", t.name, k, was, values[k]);
            values[k] = was;
        }
        assert_int_equal(sph_net_set(net, t.name, values, t.count), 0);
    }
    double *const scaling[] = {net->scaling.x_mean, net->scaling.x_scale, net->scaling.x_fill};
    for (size_t s = 0; s < 3; s++)
        for (size_t k = 0; k < 2; k++, changed++) {
            scaling[s][k] += 0.01;
            assert_false(agrees(net));
            scaling[s][k] -= 0.01;
        }
    assert_true(agrees(net));
    assert_true(changed > 25);
    sph_net_free(net);
}

static void a_graph_that_is_too_large_is_not_compared(void **state)
{
    (void)state;
    sph_imported result;
    sph_net *net = NULL;
    double most = onnx_check_most;
    bent_graph();
    onnx_check_most = 10;
    assert_int_equal(import_net(&net, path, &result), 0);
    onnx_check_most = most;
    assert_int_equal(result.rows, 0);
    sph_net_free(net);
    assert_int_equal(import_net(&net, path, &result), 0);
    assert_true(result.rows > 5);
    sph_net_free(net);
}

static void what_f32_cannot_hold_is_refused(void **state)
{
    (void)state;
    const double large[] = {1e30, 0, 0, 1e30};
    begin(2);
    const char *h = onnx_node(&build, "MatMul", "h", "x", numbers("w", 2, 2, large), NULL);
    onnx_node(&build, "Mul", "y", h, constant("more", 1e30), NULL);
    finish("y", 2);
    refused("layers.0.weight");
}

/* ---------------------------------------------------------------- random graphs */

struct draft {
    char op[24], out[24], in[2][24];
    size_t inputs;
    int placed;
};

/* Values of two features: layers, activations, other names, factors, shifts and sums, each of any value so far. */
static size_t draft_graph(struct rng *rng, struct draft *draft, size_t count)
{
    static const char *const ops[] = {"MatMul",   "MatMul",  "Relu",    "LeakyRelu", "Elu",
                                      "Identity", "Dropout", "Flatten", "Reshape",   "Cast",
                                      "Mul",      "AddC",    "Add",     "Add"};
    for (size_t i = 0; i < count; i++) {
        struct draft *d = &draft[i];
        snprintf(d->op, sizeof d->op, "%s", i + 1 == count ? "MatMul" : ops[(size_t)(14 * rng_unit(rng))]);
        snprintf(d->out, sizeof d->out, "v%zu", i + 1);
        d->inputs = strcmp(d->op, "Add") ? 1 : 2;
        for (size_t k = 0; k < d->inputs; k++) {
            size_t newest = rng_unit(rng) < 0.6 ? i : (size_t)((double)(i + 1) * rng_unit(rng));
            snprintf(d->in[k], sizeof d->in[k], newest ? "v%zu" : "x", newest);
        }
    }
    return count;
}

static int is_ready(const struct draft *draft, size_t count, const struct draft *of)
{
    size_t ready = 0;
    for (size_t k = 0; k < of->inputs; k++) {
        int found = !strcmp(of->in[k], "x");
        for (size_t i = 0; i < count; i++)
            found |= draft[i].placed && !strcmp(draft[i].out, of->in[k]);
        ready += (size_t)found;
    }
    return ready == of->inputs;
}

static void place(struct rng *rng, const struct draft *d)
{
    double values[4];
    const int64_t shape[] = {0, -1};
    for (size_t i = 0; i < 4; i++)
        values[i] = rng_normal(rng);
    const char *in = onnx_text(&build, "%s", d->in[0]), *out = onnx_text(&build, "%s", d->out), *with = NULL;
    const char *op = !strcmp(d->op, "AddC") ? "Add" : onnx_text(&build, "%s", d->op);
    if (!strcmp(d->op, "MatMul"))
        with = numbers(onnx_text(&build, "%s.w", out), 2, 2, values);
    else if (!strcmp(d->op, "Mul") || !strcmp(d->op, "AddC"))
        with = onnx_floats(&build, onnx_text(&build, "%s.c", out), values, (size_t[]){2}, 1);
    else if (!strcmp(d->op, "Reshape"))
        with = onnx_ints(&build, onnx_text(&build, "%s.to", out), shape, 2);
    else if (d->inputs == 2)
        with = onnx_text(&build, "%s", d->in[1]);
    onnx_node(&build, op, out, in, with, NULL);
    if (!strcmp(op, "Cast"))
        onnx_set_int(&build, "to", ONNX_FLOAT);
}

static void random_graph(uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 7);
    struct draft draft[12] = {{"", "", {"", ""}, 0, 0}};
    size_t count = draft_graph(&rng, draft, 3 + (size_t)(9 * rng_unit(&rng))), placed = 0;
    begin(2);
    while (placed < count) { /* any order in which a node comes behind what it reads */
        struct draft *d = &draft[(size_t)((double)count * rng_unit(&rng))];
        if (d->placed || !is_ready(draft, count, d))
            continue;
        place(&rng, d);
        d->placed = 1;
        placed++;
    }
    finish(draft[count - 1].out, 2);
}

/* The largest difference of graph and net on rows that the import did not see, over the largest number of both. */
static double difference(sph_net *net, uint64_t seed)
{
    enum { ROWS = 5 };
    struct rng rng = rng_stream(seed, RNG_NOISE, 8);
    struct onnx_file file;
    struct onnx_numbers out;
    double x[2 * ROWS], y[2 * ROWS], work = 0, off = 0, largest = 0;
    for (size_t i = 0; i < 2 * ROWS; i++)
        x[i] = 3 * rng_normal(&rng);
    assert_int_equal(onnx_open(&file, path), 0);
    const char *name = file.graph->output[0]->name;
    assert_int_equal(onnx_run(&file, x, ROWS, &name, 1, 1e9, &work, &out), 0);
    assert_int_equal(sph_net_forward(net, x, ROWS, y), 0);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        off = fmax(off, fabs(y[i] - out.values[i]));
        largest = fmax(largest, fmax(fabs(out.values[i]), 1e-3));
    }
    mem_free(out.values);
    onnx_close(&file);
    return off / largest;
}

static void random_graphs_with_shared_values_are_read_right_or_refused(void **state)
{
    (void)state;
    size_t taken_count = 0, refused_count = 0;
    for (uint64_t seed = 0; seed < 600; seed += quick_step(5)) {
        sph_net *net = NULL;
        random_graph(seed);
        if (import_net(&net, path, NULL) < 0) {
            if (!strstr(sph_error(), "node '") || strstr(sph_error(), "the import is wrong"))
                fail_msg("graph %llu: %s", (unsigned long long)seed, sph_error());
            refused_count++;
            continue;
        }
        double off = difference(net, seed);
        if (!(off <= 1e-4)) /* f32, and numbers in between may be larger than the last */
            fail_msg("graph %llu: off by %g", (unsigned long long)seed, off);
        taken_count++;
        sph_net_free(net);
    }
    print_message("%zu read, %zu refused\n", taken_count, refused_count);
    assert_true(taken_count > refused_count / 4 && refused_count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_relu_behind_another_name_leaves_the_layer_as_others_read_it),
        cmocka_unit_test(a_relu_behind_another_name_alone_is_the_layer_s_own),
        cmocka_unit_test(constants_behind_another_name_are_not_folded_into_what_others_read),
        cmocka_unit_test(an_image_is_read_flat_and_as_an_image),
        cmocka_unit_test(a_vector_and_an_image_are_not_added),
        cmocka_unit_test(missing_cells_are_filled_for_all_or_not_at_all),
        cmocka_unit_test(what_a_node_gives_beside_its_result_is_not_its_result),
        cmocka_unit_test(a_last_minus_sign_is_kept),
        cmocka_unit_test(what_is_no_mean_of_equal_nets_is_refused),
        cmocka_unit_test(each_member_of_an_ensemble_is_the_net_it_was),
        cmocka_unit_test(an_import_of_several_survives_every_failed_allocation),
        cmocka_unit_test(a_net_with_any_other_number_is_found_out),
        cmocka_unit_test(a_graph_that_is_too_large_is_not_compared),
        cmocka_unit_test(what_f32_cannot_hold_is_refused),
        cmocka_unit_test(random_graphs_with_shared_values_are_read_right_or_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

static void graphs_are_read(void **state)
{
    (void)state;
    skip_because("this build has no protobuf-c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
