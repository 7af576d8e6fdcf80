/* SPDX-License-Identifier: MIT
 *
 * Convolutions of small blocked images, tap by tap. The pixels of many images are laid out as rows, those of one
 * place side by side: then what a tap of the kernel adds to a row of outputs is one matrix product, with the
 * weights read where they lie (for input gradients transposed, once per tap), and what a tap sees of the padding is not computed at all. On maps of a few pixels
 * nothing else comes near it: there Winograd's tiles are mostly edge, and oneDNN has slow code or none. */
#include "base/memory.h"
#include "compute/conv_way.h"

/* Maps of up to SMALL pixels, where at least FEW images come together. With AVX2 there is quicker already at the upper end of
 * it (measured by channels of 256 to 2,048): oneDNN's 1 x 1 kernels beyond POINTS pixels, since rows are not worth
 * their way there and back for one tap, and Winograd's algorithm where its tiles of 4 x 4 pixels are full and MANY of
 * them share the transformed weights. */
enum { SMALL = 16, FEW = 8, POINTS = 4, MANY = 24 };

/* Images taken at a time: as many as keep their rows in a cache of this many numbers. */
enum { CACHE = 1 << 19 };

/* Scratch: rows of pixels (pixel, image) of a few images. Columns of x are sorted by their remainder by the
 * stride, so that those a tap meets one after the other lie one after the other. */
struct rows {
    size_t images; /* at a time */
    size_t in, out;
    size_t ldc, ldm;
    float *x;      /* (in, images, ldc)  */
    float *y;      /* (out, images, ldm) */
    float *turned; /* (units, ldc), the transposed weights of a tap, for input gradients */
    size_t bytes;
};

static size_t whole_blocks(size_t channels, size_t block)
{
    return (channels + block - 1) / block * block;
}

/* Bytes of that many numbers, a whole number of lines. */
static size_t aligned(size_t count)
{
    return (count * sizeof(float) + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
}

static struct rows rows_of(const struct conv_spec *spec, void *scratch)
{
    const struct window *w = &spec->window;
    struct rows r = {.in = w->height * w->width,
                     .out = w->out_height * w->out_width,
                     .ldc = whole_blocks(w->channels, spec->block),
                     .ldm = whole_blocks(spec->units, spec->block)};
    size_t image = r.in * r.ldc + r.out * r.ldm, most = CACHE / image > FEW ? CACHE / image : FEW;
    r.images = spec->images < most ? spec->images : most;
    size_t x = aligned(r.images * r.in * r.ldc), y = aligned(r.images * r.out * r.ldm);
    r.x = scratch;
    r.y = scratch ? (float *)((char *)scratch + x) : NULL;
    r.turned = scratch ? (float *)((char *)scratch + x + y) : NULL;
    r.bytes = x + y + (spec->train && spec->input_grad ? aligned(spec->units * r.ldc) : 0);
    return r;
}

static size_t scratch(const struct conv *conv)
{
    return rows_of(&conv->spec, NULL).bytes;
}

static int applies(const struct conv_spec *spec)
{
    return spec->block && spec->groups == 1;
}

static int others_are_quicker(const struct conv_spec *spec)
{
    const struct window *w = &spec->window;
    size_t area = w->kernel_height * w->kernel_width, pixels = w->out_height * w->out_width;
    if (spec->block != 8)
        return 0;
    if (area == 1)
        return pixels > POINTS;
    return spec->way == SPH_CONV_AUTO && w->kernel_height == 3 && w->kernel_width == 3 && w->stride == 1 &&
           w->out_height == 4 && w->out_width == 4 && spec->images >= MANY &&
           spec->units >= 2 * spec->block && w->channels >= 2 * spec->block;
}

static int make_small(struct conv *conv)
{
    const struct conv_spec *spec = &conv->spec;
    const struct window *w = &spec->window;
    return applies(spec) && w->channels >= spec->block && spec->images >= FEW &&
           w->out_height * w->out_width <= SMALL && w->height * w->width <= SMALL * w->stride * w->stride &&
           !others_are_quicker(spec);
}

static int make_any(struct conv *conv)
{
    return applies(&conv->spec);
}

/* ---------------------------------------------------------------- rows and blocks */

enum direction { GATHER, SCATTER, SCATTER_RELU, SCATTER_ADD };

/* Where column x of an image stands in its row. */
static size_t sorted(size_t x, size_t width, size_t stride)
{
    size_t place = x / stride;
    for (size_t rest = 0; rest < x % stride; rest++)
        place += (width - rest + stride - 1) / stride;
    return place;
}

struct images {
    float *blocked; /* the first */
    size_t height, width, stride, channels, block;
};

static void move(const struct images *all, size_t images, float *rows, size_t ld, enum direction way)
{
    size_t block = all->block, pixels = all->height * all->width;
    for (size_t i = 0; i < images; i++)
        for (size_t first = 0; first < all->channels; first += block)
            for (size_t y = 0; y < all->height; y++)
                for (size_t x = 0; x < all->width; x++) {
                    float *in_blocks =
                        all->blocked + (i * ld + first) * pixels + (y * all->width + x) * block;
                    float *in_rows =
                        rows + ((y * all->width + sorted(x, all->width, all->stride)) * images + i) * ld +
                        first;
                    for (size_t c = 0; c < block; c++)
                        if (way == GATHER)
                            in_rows[c] = in_blocks[c];
                        else if (way == SCATTER_ADD)
                            in_blocks[c] += in_rows[c];
                        else /* a NaN stays one */
                            in_blocks[c] = way == SCATTER_RELU && in_rows[c] < 0 ? 0 : in_rows[c];
                }
}

static struct images inputs(const struct conv_spec *spec, const struct rows *r, const void *x, size_t first)
{
    const struct window *w = &spec->window;
    return (struct images){
        (float *)x + first * r->in * r->ldc, w->height, w->width, w->stride, w->channels, spec->block};
}

static struct images outputs(const struct conv_spec *spec, const struct rows *r, const void *y, size_t first)
{
    const struct window *w = &spec->window;
    return (struct images){
        (float *)y + first * r->out * r->ldm, w->out_height, w->out_width, 1, spec->units, spec->block};
}

/* ---------------------------------------------------------------- taps */

/* Runs of outputs whose tap lies inside the image: `count` pixels from `out` on, and from `in` on. */
struct run {
    size_t tap, in, out, count;
};

typedef void run_call(const struct run *run, void *with);

/* The outputs from `begin` to before `end` whose tap, `at` from the left, lies inside. */
static void inside(const struct window *w, size_t at, size_t extent, size_t outs, size_t *begin, size_t *end)
{
    *begin = at < w->pad ? (w->pad - at + w->stride - 1) / w->stride : 0;
    *end = extent + w->pad > at ? (extent + w->pad - at + w->stride - 1) / w->stride : 0;
    *end = *end < outs ? *end : outs;
}

static void each_run(const struct window *w, run_call *call, void *with)
{
    for (size_t a = 0; a < w->kernel_height; a++)
        for (size_t b = 0; b < w->kernel_width; b++) {
            size_t top, bottom, left, right;
            inside(w, a, w->height, w->out_height, &top, &bottom);
            inside(w, b, w->width, w->out_width, &left, &right);
            for (size_t y = top; y < bottom && left < right; y++) {
                size_t in_x = sorted(left * w->stride + b - w->pad, w->width, w->stride);
                size_t in_y = y * w->stride + a - w->pad;
                call(&(struct run){a * w->kernel_width + b, in_y * w->width + in_x, y * w->out_width + left,
                                   right - left},
                     with);
            }
        }
}

/* What a product of a run needs; the weights of tap t are the rows c * area + t. */
struct product {
    const struct kernels *k;
    const struct rows *rows;
    size_t images, channels, units, area, ldw;
    const float *w;
    float *dw;
    size_t turned; /* the tap that rows->turned holds */
};

static struct product product_of(const struct conv *conv, const struct rows *r, const struct conv_call *call)
{
    const struct window *w = &conv->spec.window;
    return (struct product){.k = conv->spec.k,
                            .rows = r,
                            .channels = w->channels,
                            .units = conv->spec.units,
                            .area = w->kernel_height * w->kernel_width,
                            .ldw = call->ldw,
                            .w = call->w,
                            .dw = call->dw,
                            .turned = SIZE_MAX};
}

static float *x_of(const struct product *p, const struct run *run)
{
    return p->rows->x + run->in * p->images * p->rows->ldc;
}

static float *y_of(const struct product *p, const struct run *run)
{
    return p->rows->y + run->out * p->images * p->rows->ldm;
}

static void run_forward(const struct run *run, void *with)
{
    const struct product *p = with;
    p->k->gemm(run->count * p->images, p->units, p->channels, x_of(p, run), p->rows->ldc, 1,
               p->w + run->tap * p->ldw, p->area * p->ldw, y_of(p, run), p->rows->ldm, NULL, GEMM_ADD);
}

/* The padding of a block of channels stays 0. */
static void turn_weights(struct product *p, size_t tap)
{
    const struct rows *r = p->rows;
    p->k->transpose(p->channels, p->units, p->w + tap * p->ldw, p->area * p->ldw, r->turned, r->ldc);
    for (size_t j = 0; j < p->units; j++)
        for (size_t c = p->channels; c < r->ldc; c++)
            r->turned[j * r->ldc + c] = 0;
    p->turned = tap;
}

static void run_data(const struct run *run, void *with)
{
    struct product *p = with;
    if (p->turned != run->tap)
        turn_weights(p, run->tap);
    p->k->gemm(run->count * p->images, p->channels, p->units, y_of(p, run), p->rows->ldm, 1, p->rows->turned,
               p->rows->ldc, x_of(p, run), p->rows->ldc, NULL, GEMM_ADD);
}

static void run_weights(const struct run *run, void *with)
{
    const struct product *p = with;
    p->k->gemm(p->channels, p->units, run->count * p->images, x_of(p, run), 1, p->rows->ldc, y_of(p, run),
               p->rows->ldm, p->dw + run->tap * p->ldw, p->area * p->ldw, NULL, GEMM_ADD);
}

/* ---------------------------------------------------------------- the passes */

static size_t at_a_time(const struct rows *r, size_t images, size_t first)
{
    return images - first < r->images ? images - first : r->images;
}

static void forward(struct conv *conv, const struct conv_call *call)
{
    const struct conv_spec *spec = &conv->spec;
    struct rows r = rows_of(spec, call->scratch);
    struct product p = product_of(conv, &r, call);
    const float *bias = call->bias;
    for (size_t first = 0; first < call->images; first += p.images) {
        p.images = at_a_time(&r, call->images, first);
        struct images x = inputs(spec, &r, call->x, first), y = outputs(spec, &r, call->y, first);
        move(&x, p.images, r.x, r.ldc, GATHER);
        for (size_t row = 0; row < r.out * p.images; row++)
            for (size_t j = 0; j < r.ldm; j++)
                r.y[row * r.ldm + j] = bias && j < spec->units ? bias[j] : 0;
        each_run(&spec->window, run_forward, &p);
        move(&y, p.images, r.y, r.ldm, call->relu ? SCATTER_RELU : SCATTER);
    }
}

static void backward_data(struct conv *conv, const struct conv_call *call)
{
    const struct conv_spec *spec = &conv->spec;
    struct rows r = rows_of(spec, call->scratch);
    struct product p = product_of(conv, &r, call);
    for (size_t first = 0; first < call->images; first += p.images) {
        p.images = at_a_time(&r, call->images, first);
        struct images x = inputs(spec, &r, call->dx, first), y = outputs(spec, &r, call->dy, first);
        move(&y, p.images, r.y, r.ldm, GATHER);
        for (size_t i = 0; i < r.in * p.images * r.ldc; i++)
            r.x[i] = 0;
        each_run(&spec->window, run_data, &p);
        move(&x, p.images, r.x, r.ldc, call->add ? SCATTER_ADD : SCATTER);
    }
}

static void backward_weights(struct conv *conv, const struct conv_call *call)
{
    const struct conv_spec *spec = &conv->spec;
    struct rows r = rows_of(spec, call->scratch);
    struct product p = product_of(conv, &r, call);
    for (size_t first = 0; first < call->images; first += p.images) {
        p.images = at_a_time(&r, call->images, first);
        struct images x = inputs(spec, &r, call->x, first), y = outputs(spec, &r, call->dy, first);
        move(&x, p.images, r.x, r.ldc, GATHER);
        move(&y, p.images, r.y, r.ldm, GATHER);
        each_run(&spec->window, run_weights, &p);
    }
}

const struct conv_way conv_taps = {.name = "taps",
                                   .make = make_small,
                                   .scratch = scratch,
                                   .forward = forward,
                                   .backward_data = backward_data,
                                   .backward_weights = backward_weights};

const struct conv_way conv_taps_any = {.name = "taps",
                                       .make = make_any,
                                       .scratch = scratch,
                                       .forward = forward,
                                       .backward_data = backward_data,
                                       .backward_weights = backward_weights};
