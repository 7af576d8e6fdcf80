/* SPDX-License-Identifier: MIT
 *
 * The command bench lives in two programs: the tool starts the other one (bench_start.c), which links the
 * library's internals and measures (bench/main.c). Both have the command's row. */
#ifndef SPHERELU_CLI_BENCH_H
#define SPHERELU_CLI_BENCH_H

#include "cli.h"

#define BENCH_PROGRAM "spherelu-bench"

int bench_run(const struct args *args);

#endif
