/* SPDX-License-Identifier: MIT
 *
 * A graph with a residual addition, built node by node: h = relu layer, h + branch(h), output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <spherelu.h>

enum { ROWS = 600, WIDTH = 24 };

static int build(sph_net **out)
{
    sph_net *net = NULL;
    int err = sph_net_new(&net, SPH_F32);
    if (err < 0)
        return err;
    sph_layer stem = {.size = sizeof(sph_layer),
                      .path = "stem",
                      .units = WIDTH,
                      .param = SPH_PARAM_GMP,
                      .act = SPH_ACT_RELU};
    sph_layer inner = {.size = sizeof(sph_layer),
                       .path = "branch.0",
                       .units = WIDTH,
                       .param = SPH_PARAM_GMP,
                       .act = SPH_ACT_RELU};
    /* The last layer of a branch has no activation: r (u^T x + lambda). */
    sph_layer last = {.size = sizeof(sph_layer),
                      .path = "branch.1",
                      .units = WIDTH,
                      .param = SPH_PARAM_GMP,
                      .init = SPH_INIT_GLOROT};
    sph_layer head = {
        .size = sizeof(sph_layer), .path = "head", .units = 1}; /* zeroes mean: a plain linear layer */

    /* Every call returns the new node's number, or a negative error. */
    int x, h, b, sum, y;
    if ((x = sph_net_input(net, 2)) >= 0 && (h = sph_net_dense(net, x, &stem)) >= 0 &&
        (b = sph_net_dense(net, h, &inner)) >= 0 && (b = sph_net_dense(net, b, &last)) >= 0 &&
        (sum = sph_net_add(net, h, b)) >= 0 && (y = sph_net_dense(net, sum, &head)) >= 0 &&
        sph_net_ready(net, y, 3) == 0) {
        *out = net;
        return 0;
    }
    sph_net_free(net);
    return SPH_EARG;
}

/* What does not fit is refused where it is built, with a line that says why. */
static int refuses_unequal_widths(void)
{
    sph_net *net = NULL;
    if (sph_net_new(&net, SPH_F32) < 0)
        return 0;
    int x = sph_net_input(net, 2);
    int h = sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .units = 5, .act = SPH_ACT_RELU});
    int sum = sph_net_add(net, x, h);
    printf("%s\n", sph_error());
    sph_net_free(net);
    return sum == SPH_EARG && strstr(sph_error(), "2 features");
}

int main(void)
{
    static double x[ROWS * 2], y[ROWS];
    double square = 0, mean = 0;
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = sin(12.9898 * (double)i);
        x[2 * i + 1] = sin(78.233 * (double)i);
        y[i] = x[2 * i] * x[2 * i + 1];
        mean += y[i] / ROWS;
        square += y[i] * y[i] / ROWS;
    }
    double deviation = sqrt(square - mean * mean);

    sph_net *net = NULL;
    sph_data *data = NULL;
    sph_split split = {0};
    sph_result result;
    int err, bad = !refuses_unequal_widths();
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    opts.lr = 0.01;
    opts.batch = 64;
    opts.epochs = 100;
    if ((err = build(&net)) < 0 ||
        (err = sph_data_from_arrays(&data, x, y, ROWS, 2, 1, SPH_TASK_REGRESSION, NULL)) < 0 ||
        (err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 0)) < 0 ||
        (err = sph_train(net, data, &split, &opts, NULL, 0, &result)) < 0)
        goto out;
    for (size_t k = 0; k < sph_net_layers(net); k++) {
        size_t inputs;
        const sph_layer *layer = sph_net_layer(net, k, &inputs);
        printf("%-9s %zu -> %zu\n", layer->path, inputs, layer->units);
    }
    printf("x1 x2: standard deviation %.3f, test rmse %.3f\n", deviation, result.test.value[1]);
    bad |= !(result.test.value[1] < deviation / 4);
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
    return err < 0 || bad;
}
