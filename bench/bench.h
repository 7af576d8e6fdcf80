/* SPDX-License-Identifier: MIT
 *
 * The measurements of `spherelu bench`, and a clock for training steps: it looks at the trainer from outside,
 * as any observer could. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "spherelu.h"

/* Stretches of whole steps, each of at least so many seconds; the first is the warm-up. */
struct stopwatch {
    double seconds;             /* of a stretch, at least                              */
    size_t left;                /* stretches to come                                   */
    int (*between)(void *self); /* or NULL: called before each stretch but the warm-up */
    void *self;
    double begin, best; /* best: seconds of a step */
    uint64_t since;     /* the step at which the stretch began */
};

/* What all of this measures by: the clock on the wall, or (processors > 0) the processor's time of the whole process, shared
 * out to so many. On a machine that others use too only that can be compared. */
void bench_clock(size_t processors);
double bench_seconds(void);

struct stopwatch stopwatch_start(double seconds, size_t repeats);

/* An observer's step over a struct stopwatch: stops the training after the last stretch. */
int stopwatch_step(void *self, const sph_view *view);

/* ---------------------------------------------------------------- measurements */

typedef struct bench_param_opts {
    sph_dtype dtype;
    sph_param param;
    size_t units, inputs, repeats;
    double natural; /* damping of natural directions; 0: not measured */
} bench_param_opts;

typedef struct bench_param_result {
    double forward_ns, backward_ns; /* of a weight */
    double natural_ns;              /* what natural directions add to the way back; NAN: nobody asked */
} bench_param_result;

typedef struct bench_mlp_opts {
    sph_dtype dtype;
    size_t rows, inputs;
    const size_t *hidden; /* (depth) */
    size_t depth;
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_optimizer optimizer;
    double natural; /* damping; 0: off */
    int threads;
    size_t repeats;
} bench_mlp_opts;

typedef struct bench_images_opts {
    sph_dtype dtype;
    sph_net_kind net; /* for images */
    size_t size;  /* height and width of the images, which have 3 channels; 0: what the net is usually for */
    size_t batch; /* 0: likewise */
    double scale; /* of all widths; 0: 1 */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_optimizer optimizer;
    sph_conv conv;
    sph_memory memory;
    int steps_only; /* conv_only is not measured */
    int threads;
    size_t repeats;
} bench_images_opts;

typedef struct bench_images_result {
    double images_per_second; /* of whole training steps */
    size_t size, batch;       /* as measured */

    /* Of the convolutions of a step alone, by bare oneDNN primitives in the layouts they like best, on one
     * thread; NAN where there are none (f64, or a build without oneDNN) or nobody asked. */
    double conv_only;
    size_t learned;    /* learned numbers of the net */
    double peak_bytes; /* most memory the process has held, before conv_only took some; NAN: not known */
} bench_images_result;

typedef struct bench_loader_opts {
    const char *data; /* a folder of pictures */
    size_t size;      /* that they are brought to */
    sph_decode decode;
    size_t workers, repeats;
} bench_loader_opts;

typedef struct bench_loader_result {
    double images_per_second; /* windows of the size, augmented as the papers say, by so many workers */
    double
        decode_only; /* the decoder alone, of files in memory, at the same part of their size, on one thread */
    double per_processor_second, decode_per_processor_second; /* likewise, of the time of processors */
    size_t images, size;
} bench_loader_result;

int bench_loader(const bench_loader_opts *opts, bench_loader_result *result);

/* Best of repeats after a warm-up. */
int bench_param(const bench_param_opts *opts, bench_param_result *result);
int bench_mlp(const bench_mlp_opts *opts, double *us_per_step);

/* The same steps, in turns without and with the recording of boundaries (as train --record boundaries does
 * between two moments) into files in dir, which are removed. */
int bench_record(const bench_mlp_opts *opts, const char *dir, double *us_per_step, double *us_recorded);
int bench_images(const bench_images_opts *opts, bench_images_result *result);

#endif
