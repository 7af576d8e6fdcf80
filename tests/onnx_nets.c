/* SPDX-License-Identifier: MIT
 *
 *   onnx_nets DIR
 *
 * For tests/onnx_runtime.py: each net of onnx_nets.h as DIR/K.onnx, and what it makes of some rows, DIR/K.x and DIR/K.y in
 * f64. Stdout has a line for each: K, its name, rows, inputs, outputs. bn is kept in every third, opsets go round. */
#define ONNX_NETS_CLIP 1
#include "onnx_nets.h"
#include "store/tool.h"

enum { ROWS = 3 };

static void write_numbers(const char *path, const double *values, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(values, sizeof *values, count, file) != count || fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    char name[96], path[4096];
    if (argc != 2)
        return 2;
    for (size_t k = 0; k < ONNX_NETS; k++) {
        sph_net *net = onnx_net(k, name);
        size_t inputs = sph_net_inputs(net), outputs = sph_net_outputs(net);
        double *x = calloc(ROWS * inputs, sizeof *x), *y = calloc(ROWS * outputs, sizeof *y);
        onnx_rows(k, x, ROWS * inputs);
        sph_export_opts opts = {.size = sizeof(sph_export_opts),
                                .opset = 12 + (int)(k % 11),
                                .flags = k % 3 ? 0 : SPH_EXPORT_KEEP_BN};
        snprintf(path, sizeof path, "%s/%zu.onnx", argv[1], k);
        if (sph_net_forward(net, x, ROWS, y) < 0 || sph_net_export(net, path, &opts) < 0) {
            fprintf(stderr, "%s: %s\n", name, sph_error());
            return 1;
        }
        snprintf(path, sizeof path, "%s/%zu.x", argv[1], k);
        write_numbers(path, x, ROWS * inputs);
        snprintf(path, sizeof path, "%s/%zu.y", argv[1], k);
        write_numbers(path, y, ROWS * outputs);
        printf("%zu\t%s\t%d\t%zu\t%zu\n", k, name, ROWS, inputs, outputs);
        free(x);
        free(y);
        sph_net_free(net);
    }
    return 0;
}
