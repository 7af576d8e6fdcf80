/* SPDX-License-Identifier: MIT
 *
 * Graphs by the interpreter that imports are compared with, for tests/onnx_interpreter.py: each line of the input is the path of a
 * graph and a number of rows; its input lies in PATH.x, f64, and PATH.K.y takes its K-th output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "spherelu.h"
#include "store/onnx_run.h"

static int interpret(const char *path, size_t rows)
{
    char name[1100];
    struct onnx_file file;
    int err = onnx_open(&file, path);
    size_t outputs = err < 0 ? 0 : file.graph->n_output;
    struct onnx_numbers *values = calloc(outputs + 1, sizeof *values);
    const char **names = calloc(outputs + 1, sizeof *names);
    double *x = NULL, work = 0;
    snprintf(name, sizeof name, "%s.x", path);
    FILE *in = fopen(name, "rb");
    if (err || !values || !names || !in || fseek(in, 0, SEEK_END))
        goto out;
    size_t bytes = (size_t)ftell(in);
    rewind(in);
    x = malloc(bytes);
    if (!x || fread(x, 1, bytes, in) != bytes)
        goto out;
    for (size_t k = 0; k < outputs; k++)
        names[k] = file.graph->output[k]->name;
    err = onnx_run(&file, x, rows, names, outputs, 1e12, &work, values);
    for (size_t k = 0; k < outputs && !err; k++) {
        snprintf(name, sizeof name, "%s.%zu.y", path, k);
        FILE *out = fopen(name, "wb");
        if (!out || fwrite(values[k].values, sizeof(double), values[k].count, out) != values[k].count ||
            fclose(out))
            err = -1;
        mem_free(values[k].values);
    }
out:
    if (err)
        printf("%s\n", sph_error());
    if (in)
        fclose(in);
    free(x);
    free(names);
    free(values);
    onnx_close(&file);
    return err;
}

int main(void)
{
    char path[1024];
    size_t rows;
    int failed = 0;
    while (scanf("%1023s %zu", path, &rows) == 2)
        failed |= interpret(path, rows) != 0;
    return failed;
}
