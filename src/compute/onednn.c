/* SPDX-License-Identifier: MIT
 *
 * Convolutions by oneDNN. A pass is one primitive with memory objects of its own, whose data are set at each
 * call; a convolution is a handful of passes. */
#include "compute/onednn.h"

#include "base/error.h"

#ifdef SPH_ONEDNN

#include <assert.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "compute/onednn_compat.h"

/* ---------------------------------------------------------------- one thread
 * A primitive made for n threads must run on n. Ours are made for one and run on one, whatever OpenMP's
 * setting of this thread is: it is put back afterwards. By hand, as a build without OpenMP meets that of
 * oneDNN. */
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP

extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int threads);

static int alone(void)
{
    int threads = omp_get_max_threads();
    if (threads != 1)
        omp_set_num_threads(1);
    return threads;
}

static void together(int threads)
{
    if (threads != 1)
        omp_set_num_threads(threads);
}

#else

static int alone(void)
{
    return 1;
}

static void together(int threads)
{
    (void)threads;
}

#endif

/* ---------------------------------------------------------------- passes */

enum { DATA_MOST = 4 };

struct pass {
    dnnl_primitive_t primitive; /* NULL: not made */
    int count;                  /* of data; the scratchpad follows them */
    dnnl_exec_arg_t arg[DATA_MOST + 1];
    size_t bytes[DATA_MOST + 1];
};

enum {
    FORWARD,
    BACKWARD_DATA,
    BACKWARD_WEIGHTS,
    SRC_FOR_FORWARD, /* reorders of images, where the primitive wants them otherwise */
    SRC_FOR_WEIGHTS,
    WEIGHTS_FOR_FORWARD, /* reorders of weights */
    WEIGHTS_FOR_DATA,
    ADD_WEIGHTS, /* the one that accumulates */
    PASSES
};

struct onednn_conv {
    size_t ldw;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct pass pass[PASSES];
    float *zeros;                       /* (units), the bias where there is none */
    size_t weights_at, pad_at, scratch; /* bytes: images, weights and oneDNN's own follow each other */
    int winograd, reference;
    dnnl_status_t status; /* of the first call that failed, and with it all that came after */
};

static void pass_free(struct pass *pass)
{
    for (int i = 0; i <= DATA_MOST; i++)
        if (pass->arg[i].memory)
            dnnl_memory_destroy(pass->arg[i].memory);
    if (pass->primitive)
        dnnl_primitive_destroy(pass->primitive);
}

/* arg: oneDNN's names of the data, in the order in which pass_run takes them. */
static dnnl_status_t pass_new(struct pass *pass, dnnl_engine_t engine, const_dnnl_primitive_desc_t what,
                              int count, const int *arg)
{
    dnnl_status_t status = dnnl_primitive_create(&pass->primitive, what);
    pass->count = count;
    for (int i = 0; i <= count && !status; i++) {
        int name = i < count ? arg[i] : DNNL_ARG_SCRATCHPAD;
        layout_ref layout = dnnl_primitive_desc_query_md(what, dnnl_query_exec_arg_md, name);
        pass->arg[i].arg = name;
        pass->bytes[i] = dnnl_memory_desc_get_size(layout);
        status = dnnl_memory_create(&pass->arg[i].memory, layout, engine, DNNL_MEMORY_NONE);
    }
    return status;
}

static dnnl_status_t pass_run(struct pass *pass, dnnl_stream_t stream, const void *const *data, void *pad)
{
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i <= pass->count && !status; i++)
        status = dnnl_memory_set_data_handle(pass->arg[i].memory, i < pass->count ? (void *)data[i] : pad);
    if (!status)
        status = dnnl_primitive_execute(pass->primitive, stream, pass->count + 1, pass->arg);
    dnnl_status_t waited = dnnl_stream_wait(stream);
    return status ? status : waited;
}

static int failure_of(dnnl_status_t status)
{
    return status == dnnl_success ? 0
           : status == dnnl_out_of_memory
               ? sph_fail(SPH_EMEMORY, "out of memory: oneDNN convolution")
               : sph_fail(SPH_EIO, "oneDNN failed to compute a convolution (status %d)", (int)status);
}

/* ---------------------------------------------------------------- making */

struct maker {
    const struct onednn_conv_spec *spec;
    int own_layouts; /* images as spec->block says, not as each primitive likes */
    struct onednn_conv *conv;
    struct layout src, dst, weights, bias; /* what we have   */
    struct layout src_any, dst_any, weights_any;
    struct conv_moves moves;
    dnnl_primitive_attr_t attr, attr_sum;
    dnnl_primitive_desc_t forward;
    dnnl_alg_kind_t algorithm;
};

static size_t groups_of(const struct onednn_conv_spec *spec)
{
    return spec->groups ? spec->groups : 1;
}

static int maker_fail(const struct maker *m, const char *what, dnnl_status_t status)
{
    const struct window *w = &m->spec->window;
    if (status == dnnl_out_of_memory)
        return sph_fail(SPH_EMEMORY, "out of memory: oneDNN cannot allocate the %s", what);
    return sph_fail(SPH_EARG,
                    "oneDNN %s cannot make the %s of %zu images of %zu x %zu x %zu, %zu units in %zu groups, "
                    "kernel %zu x %zu, stride %zu, padding %zu: %s",
                    onednn_version(), what, m->spec->images, w->channels, w->height, w->width, m->spec->units,
                    groups_of(m->spec), w->kernel_height, w->kernel_width, w->stride, w->pad,
                    dnnl_status2str(status));
}

static dnnl_status_t make_attr(dnnl_primitive_attr_t *out, dnnl_status_t (*append)(dnnl_post_ops_t))
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(out);
    if (!status)
        status = dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user);
    if (append && !status)
        status = dnnl_post_ops_create(&ops);
    if (append && !status)
        status = append(ops);
    if (append && !status)
        status = dnnl_primitive_attr_set_post_ops(*out, ops);
    if (ops)
        dnnl_post_ops_destroy(ops);
    return status;
}

static int make_layouts(struct maker *m)
{
    const struct onednn_conv_spec *spec = m->spec;
    const struct window *w = &spec->window;
    dnnl_dim_t images = (dnnl_dim_t)spec->images, units = (dnnl_dim_t)spec->units;
    dnnl_dim_t kh = (dnnl_dim_t)w->kernel_height, kw = (dnnl_dim_t)w->kernel_width;
    dnnl_dim_t ldw = (dnnl_dim_t)m->conv->ldw, stride = (dnnl_dim_t)w->stride, pad = (dnnl_dim_t)w->pad;
    dnnl_format_tag_t blocks = spec->block == 16 ? dnnl_nChw16c : dnnl_nChw8c;
    const dnnl_dims_t src = {images, (dnnl_dim_t)w->channels, (dnnl_dim_t)w->height, (dnnl_dim_t)w->width};
    const dnnl_dims_t dst = {images, units, (dnnl_dim_t)w->out_height, (dnnl_dim_t)w->out_width};
    dnnl_dim_t groups = (dnnl_dim_t)groups_of(spec), inputs = (dnnl_dim_t)w->channels / groups;
    /* (groups, units, channels, kernel); without groups oneDNN wants the last four */
    const dnnl_dims_t grouped = {groups, units / groups, inputs, kh, kw}, alone = {units, inputs, kh, kw};
    const dnnl_dims_t grouped_strides = {units / groups, 1, kh * kw * ldw, kw * ldw, ldw},
                      strides = {1, kh * kw * ldw, kw * ldw, ldw}, bias = {units};
    int axes = groups > 1 ? 5 : 4;
    m->moves = (struct conv_moves){{stride, stride}, {pad, pad}};
    m->algorithm = spec->direct ? dnnl_convolution_direct : dnnl_convolution_auto;

    dnnl_status_t status = dnnl_engine_create(&m->conv->engine, dnnl_cpu, 0);
    if (!status)
        status = dnnl_stream_create(&m->conv->stream, m->conv->engine, dnnl_stream_default_flags);
    if (!status)
        status = layout_by_tag(&m->src, 4, src, blocks);
    if (!status)
        status = layout_by_tag(&m->src_any, 4, src, dnnl_format_tag_any);
    if (!status)
        status = layout_by_tag(&m->dst, 4, dst, blocks);
    if (!status)
        status = layout_by_tag(&m->dst_any, 4, dst, dnnl_format_tag_any);
    if (!status)
        status = layout_by_strides(&m->weights, axes, groups > 1 ? grouped : alone,
                                   groups > 1 ? grouped_strides : strides);
    if (!status)
        status = layout_by_tag(&m->weights_any, axes, groups > 1 ? grouped : alone, dnnl_format_tag_any);
    if (!status)
        status = layout_by_tag(&m->bias, 1, bias, dnnl_x);
    if (!status)
        status = make_attr(&m->attr, NULL);
    if (!status)
        status = make_attr(&m->attr_sum, append_sum);
    return status ? maker_fail(m, "convolution", status) : 0;
}

static layout_ref layout_in(const_dnnl_primitive_desc_t what, int arg)
{
    return dnnl_primitive_desc_query_md(what, dnnl_query_exec_arg_md, arg);
}

/* The layouts asked of a primitive. Images of fewer channels than a block are mostly padding in ours, and
 * oneDNN has faster kernels for them as they are: there the choice is its own. */
static layout_ref ask_src(const struct maker *m)
{
    int ours = m->own_layouts && m->spec->window.channels >= m->spec->block;
    return layout_of(ours ? &m->src : &m->src_any);
}

static layout_ref ask_dst(const struct maker *m)
{
    return layout_of(m->own_layouts ? &m->dst : &m->dst_any);
}

static int make_reorder(struct maker *m, int pass, const char *what, layout_ref from, layout_ref to,
                        const_dnnl_primitive_attr_t attr)
{
    static const int arg[] = {DNNL_ARG_FROM, DNNL_ARG_TO};
    dnnl_engine_t engine = m->conv->engine;
    dnnl_primitive_desc_t reorder = NULL;
    dnnl_status_t status = dnnl_reorder_primitive_desc_create(&reorder, from, engine, to, engine, attr);
    if (!status)
        status = pass_new(&m->conv->pass[pass], engine, reorder, 2, arg);
    if (reorder)
        dnnl_primitive_desc_destroy(reorder);
    return status ? maker_fail(m, what, status) : 0;
}

static int make_src_reorder(struct maker *m, int pass, const_dnnl_primitive_desc_t user)
{
    layout_ref want = layout_in(user, DNNL_ARG_SRC);
    if (dnnl_memory_desc_equal(layout_of(&m->src), want))
        return 0;
    return make_reorder(m, pass, "reorder of images", layout_of(&m->src), want, m->attr);
}

/* Notes by which code a pass is computed. */
static dnnl_status_t look_at(struct maker *m, const_dnnl_primitive_desc_t what)
{
    const char *name = "";
    dnnl_status_t status = dnnl_primitive_desc_query(what, dnnl_query_impl_info_str, 0, (void *)&name);
    m->conv->winograd |= what == m->forward && strstr(name, "wino") != NULL;
    m->conv->reference |= !strncmp(name, "ref", 3);
    return status;
}

static int make_forward(struct maker *m)
{
    static const int arg[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    dnnl_engine_t engine = m->conv->engine;
    int err = 0;
    dnnl_status_t status =
        describe_forward(&m->forward, engine, m->algorithm, ask_src(m), layout_of(&m->weights_any),
                         layout_of(&m->bias), ask_dst(m), &m->moves, m->attr);
    if (status == dnnl_unimplemented && m->algorithm != dnnl_convolution_direct) {
        m->algorithm = dnnl_convolution_direct;
        return make_forward(m);
    }
    if (!status)
        status = pass_new(&m->conv->pass[FORWARD], engine, m->forward, 4, arg);
    if (!status)
        status = look_at(m, m->forward);
    if (status)
        return maker_fail(m, "convolution", status);
    if (!m->own_layouts)
        return 0;

    if ((err = make_src_reorder(m, SRC_FOR_FORWARD, m->forward)) < 0)
        return err;
    return make_reorder(m, WEIGHTS_FOR_FORWARD, "reorder of weights", layout_of(&m->weights),
                        layout_in(m->forward, DNNL_ARG_WEIGHTS), m->attr);
}

static int make_backward_data(struct maker *m)
{
    static const int arg[] = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC};
    dnnl_primitive_desc_t what = NULL;
    int err = 0;
    dnnl_status_t status = describe_backward_data(
        &what, m->conv->engine, m->algorithm, layout_of(m->own_layouts ? &m->src : &m->src_any),
        layout_of(&m->weights_any), ask_dst(m), &m->moves, m->forward, m->attr);
    if (!status)
        status = look_at(m, what);
    if (!status)
        status = pass_new(&m->conv->pass[BACKWARD_DATA], m->conv->engine, what, 3, arg);
    if (status)
        err = maker_fail(m, "input gradient", status);
    else if (m->own_layouts)
        err = make_reorder(m, WEIGHTS_FOR_DATA, "reorder of weights", layout_of(&m->weights),
                           layout_in(what, DNNL_ARG_WEIGHTS), m->attr);
    if (what)
        dnnl_primitive_desc_destroy(what);
    return err;
}

static int make_backward_weights(struct maker *m)
{
    static const int arg[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS};
    dnnl_primitive_desc_t what = NULL;
    int err = 0;
    dnnl_status_t status =
        describe_backward_weights(&what, m->conv->engine, m->algorithm, ask_src(m),
                                  layout_of(&m->weights_any), ask_dst(m), &m->moves, m->forward, m->attr);
    if (!status)
        status = look_at(m, what);
    if (!status)
        status = pass_new(&m->conv->pass[BACKWARD_WEIGHTS], m->conv->engine, what, 3, arg);
    if (status)
        err = maker_fail(m, "weight gradient", status);
    else if (m->own_layouts && !(err = make_src_reorder(m, SRC_FOR_WEIGHTS, what)))
        err = make_reorder(m, ADD_WEIGHTS, "sum of weight gradients", layout_in(what, DNNL_ARG_DIFF_WEIGHTS),
                           layout_of(&m->weights), m->attr_sum);
    if (what)
        dnnl_primitive_desc_destroy(what);
    return err;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void lay_out_scratch(struct onednn_conv *conv)
{
    const struct pass *pass = conv->pass;
    size_t images = larger(pass[SRC_FOR_FORWARD].bytes[1], pass[SRC_FOR_WEIGHTS].bytes[1]);
    size_t weights = larger(pass[WEIGHTS_FOR_FORWARD].bytes[1],
                            larger(pass[WEIGHTS_FOR_DATA].bytes[1], pass[ADD_WEIGHTS].bytes[0]));
    size_t pad = 0;
    for (int i = 0; i < PASSES; i++)
        pad = larger(pad, pass[i].bytes[pass[i].count]);
    conv->weights_at = (images + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    conv->pad_at = conv->weights_at + (weights + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    conv->scratch = conv->pad_at + pad;
}

static void maker_free(struct maker *m)
{
    struct layout *const layouts[] = {&m->src,     &m->dst,     &m->weights,    &m->bias,
                                      &m->src_any, &m->dst_any, &m->weights_any};
    dnnl_primitive_attr_t const attrs[] = {m->attr, m->attr_sum};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        layout_free(layouts[i]);
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
        if (attrs[i])
            dnnl_primitive_attr_destroy(attrs[i]);
    if (m->forward)
        dnnl_primitive_desc_destroy(m->forward);
}

static int make(struct onednn_conv **out, const struct onednn_conv_spec *spec, int own_layouts)
{
    struct maker m = {.spec = spec, .own_layouts = own_layouts};
    int err = 0, threads = alone();
    *out = NULL;
    if (!(m.conv = mem_get(1, sizeof *m.conv)))
        goto out;
    m.conv->ldw = kernel_pad(spec->units);
    if (!(m.conv->zeros = mem_get(spec->units, sizeof *m.conv->zeros)))
        goto out;
    if ((err = make_layouts(&m)) < 0 || (err = make_forward(&m)) < 0)
        goto out;
    if (spec->train && (err = make_backward_weights(&m)) < 0)
        goto out;
    if (spec->train && spec->input_grad && (err = make_backward_data(&m)) < 0)
        goto out;
    lay_out_scratch(m.conv);
    *out = m.conv;
out:
    maker_free(&m);
    if (!*out) {
        onednn_conv_free(m.conv);
        err = err ? err : SPH_EMEMORY;
    }
    together(threads);
    return err;
}

/* ---------------------------------------------------------------- the face */

size_t onednn_block(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core ? 16 : 8;
}

const char *onednn_version(void)
{
    return SPH_ONEDNN;
}

int onednn_conv_new(struct onednn_conv **out, const struct onednn_conv_spec *spec)
{
    assert(spec->block == 8 || spec->block == 16);
    return make(out, spec, 1);
}

void onednn_conv_free(struct onednn_conv *conv)
{
    if (!conv)
        return;
    for (int i = 0; i < PASSES; i++)
        pass_free(&conv->pass[i]);
    if (conv->stream)
        dnnl_stream_destroy(conv->stream);
    if (conv->engine)
        dnnl_engine_destroy(conv->engine);
    mem_free(conv->zeros);
    mem_free(conv);
}

size_t onednn_conv_scratch(const struct onednn_conv *conv)
{
    return conv->scratch;
}

int onednn_conv_is_winograd(const struct onednn_conv *conv)
{
    return conv->winograd;
}

int onednn_conv_is_reference(const struct onednn_conv *conv)
{
    return conv->reference;
}

int onednn_conv_check(const struct onednn_conv *conv)
{
    return failure_of(conv->status);
}

static void run(struct onednn_conv *conv, int pass, const void *const *data, void *pad)
{
    if (!conv->status)
        conv->status = pass_run(&conv->pass[pass], conv->stream, data, pad);
}

/* from, brought to where a pass wants it; from itself where it lies right. */
static const void *reordered(struct onednn_conv *conv, int pass, const void *from, char *to, void *pad)
{
    if (!conv->pass[pass].primitive)
        return from;
    run(conv, pass, (const void *[DATA_MOST]){from, to}, pad);
    return to;
}

void onednn_conv_forward(struct onednn_conv *conv, const float *x, const float *w, size_t ldw,
                         const float *bias, float *y, void *scratch)
{
    char *room = scratch, *pad = room + conv->pad_at;
    int threads = alone();
    assert(ldw == conv->ldw && conv->pass[FORWARD].primitive);
    (void)ldw;
    const void *src = reordered(conv, SRC_FOR_FORWARD, x, room, pad);
    const void *weights = reordered(conv, WEIGHTS_FOR_FORWARD, w, room + conv->weights_at, pad);
    run(conv, FORWARD, (const void *[DATA_MOST]){src, weights, bias ? bias : conv->zeros, y}, pad);
    together(threads);
}

void onednn_conv_backward_data(struct onednn_conv *conv, const float *dy, const float *w, size_t ldw,
                               float *dx, void *scratch)
{
    char *room = scratch, *pad = room + conv->pad_at;
    int threads = alone();
    assert(ldw == conv->ldw && conv->pass[BACKWARD_DATA].primitive);
    (void)ldw;
    const void *weights = reordered(conv, WEIGHTS_FOR_DATA, w, room + conv->weights_at, pad);
    run(conv, BACKWARD_DATA, (const void *[DATA_MOST]){dy, weights, dx}, pad);
    together(threads);
}

void onednn_conv_backward_weights(struct onednn_conv *conv, const float *x, const float *dy, float *dw,
                                  size_t ldw, void *scratch)
{
    char *room = scratch, *pad = room + conv->pad_at, *diff = room + conv->weights_at;
    int threads = alone();
    assert(ldw == conv->ldw && conv->pass[BACKWARD_WEIGHTS].primitive);
    (void)ldw;
    const void *src = reordered(conv, SRC_FOR_WEIGHTS, x, room, pad);
    run(conv, BACKWARD_WEIGHTS, (const void *[DATA_MOST]){src, dy, diff}, pad);
    run(conv, ADD_WEIGHTS, (const void *[DATA_MOST]){diff, dw}, pad);
    together(threads);
}

/* ---------------------------------------------------------------- timing */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Adds the best of `repeats` runs on buffers of zeros. */
static int pass_time(struct pass *pass, dnnl_stream_t stream, size_t repeats, double *seconds)
{
    void *data[DATA_MOST + 1] = {NULL};
    double best = 0;
    int err = 0;
    for (int i = 0; i <= pass->count && !err; i++)
        if (!(data[i] = mem_get(pass->bytes[i], 1)))
            err = SPH_EMEMORY;
    for (size_t run = 0; run <= repeats && !err; run++) {
        double start = now(), took;
        err = failure_of(pass_run(pass, stream, (const void *const *)data, data[pass->count]));
        took = now() - start;
        if (run == 1 || (run > 1 && took < best)) /* run 0 warms up */
            best = took;
    }
    for (int i = 0; i <= pass->count; i++)
        mem_free(data[i]);
    *seconds += best;
    return err;
}

int onednn_conv_time(const struct onednn_conv_spec *spec, size_t repeats, double *seconds)
{
    struct onednn_conv *conv = NULL;
    int threads = alone(), err = make(&conv, spec, 0);
    *seconds = 0;
    for (int i = 0; i < PASSES && !err; i++)
        if (conv->pass[i].primitive)
            err = pass_time(&conv->pass[i], conv->stream, repeats, seconds);
    onednn_conv_free(conv);
    together(threads);
    return err;
}

#endif
