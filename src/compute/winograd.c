/* SPDX-License-Identifier: MIT
 *
 * Y = A^T [ (G g G^T) . (B^T d B) ] A for each 6x6 input tile d and 3x3 kernel g; the dot sums over channels,
 * which makes it 36 matrix products, one for each place of the transformed tile. The weights' gradient is the
 * transpose of the same form: dg = G^T [ (A dY A^T) . (B^T d B) ] G.
 *
 * Tiles are taken in chunks. Transformed tiles lie as (place, group of 6 tiles, octet of channels, tile,
 * channel): six tiles times sixteen units (with AVX-512 twelve times 32, and an octet is 16) are one register tile of the product, which then reads its operand
 * from front to back. Transformed weights are made for one register tile of units at a time, right before their use:
 * that costs a few per cent of the products and saves writing four times the weights to memory. */
#include "compute/real.h"
#include "compute/simd.h"
#include "compute/winograd.h"

#if defined(KERNELS_FAST) && REAL_BITS == 32

enum {
    TILE = 4,    /* output pixels of a tile, each way */
    PATCH = 6,   /* input pixels, each way            */
    PLACES = 36, /* of a transformed tile             */
    TAPS = 9,
    TILES_WIDE = 2, /* register tiles side by side for one pass over the tiles */
#if VEC_BYTES == 64
    GROUP = 12,
    OCTET = 16,
    TILE_UNITS = 32,
    STRIP = 2,
    HALF = 8,
#else
    GROUP = 6,       /* tiles of a register tile      */
    OCTET = 8,       /* channels side by side, no more than a block of images */
    TILE_UNITS = 16, /* units of a register tile      */
    STRIP = 3,       /* octets of units in a register tile of the weights' gradient */
    HALF = 4,        /* channels of it                */
#endif
    CHUNK_LEAST = 128,
    CHUNK_MOST = 384, /* tiles */
    CHUNK_BYTES = 4 << 20
};

struct tiling {
    size_t down, across, count; /* tiles of an image, of all images */
    size_t chunk;               /* tiles at a time, a multiple of GROUP */
    size_t room;                /* no chunk is longer, nor is one of fewer images */
    size_t octets, unit_octets; /* of channels, of units */
};

KERNEL size_t ceil_to(size_t count, size_t of)
{
    return (count + of - 1) / of;
}

KERNEL struct tiling tiling_of(const struct winograd_args *args)
{
    struct tiling t = {.down = ceil_to(args->out_height, TILE),
                       .across = ceil_to(args->out_width, TILE),
                       .octets = ceil_to(args->channels, OCTET),
                       .unit_octets = ceil_to(args->units, OCTET)};
    t.count = args->images * t.down * t.across;
    size_t most = CHUNK_BYTES / (PLACES * OCTET * sizeof(real) * t.octets);
    most = most < CHUNK_LEAST ? CHUNK_LEAST : most > CHUNK_MOST ? CHUNK_MOST : most;
    size_t chunks = ceil_to(t.count, most);
    t.chunk = ceil_to(ceil_to(t.count, chunks), GROUP) * GROUP;
    t.room = ceil_to(smaller(t.count, most), GROUP) * GROUP;
    return t;
}

/* ---------------------------------------------------------------- one-dimensional transforms */

KERNEL_INLINE void input_line(vec *d, size_t step) /* B^T d */
{
    vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    vec even = d4 - 4 * d2, odd = d3 - 4 * d1, near = d4 - d2, twice = 2 * (d3 - d1);
    d[0] = 4 * (d0 - d2) + near;
    d[step] = even + odd;
    d[2 * step] = even - odd;
    d[3 * step] = near + twice;
    d[4 * step] = near - twice;
    d[5 * step] = d5 - d3 - 2 * twice;
}

KERNEL_INLINE void output_line(vec *m, size_t step) /* A^T m, in the first four */
{
    vec sum1 = m[step] + m[2 * step], off1 = m[step] - m[2 * step];
    vec sum2 = m[3 * step] + m[4 * step], off2 = m[3 * step] - m[4 * step];
    m[0] = m[0] + sum1 + sum2;
    m[step] = off1 + 2 * off2;
    m[2 * step] = sum1 + 4 * sum2;
    m[3 * step] = off1 + 8 * off2 + m[5 * step];
}

KERNEL_INLINE void output_grad_line(vec *v, size_t step) /* A v: four become six */
{
    vec v0 = v[0], v1 = v[step], v2 = v[2 * step], v3 = v[3 * step];
    vec even1 = v0 + v2, odd1 = v1 + v3, even2 = v0 + 4 * v2, odd2 = 2 * v1 + 8 * v3;
    v[step] = even1 + odd1;
    v[2 * step] = even1 - odd1;
    v[3 * step] = even2 + odd2;
    v[4 * step] = even2 - odd2;
    v[5 * step] = v3;
}

KERNEL_INLINE void weight_line(vec *g, size_t step) /* G g: three become six */
{
    const real sixth = (real)(1.0 / 6), twelfth = (real)(1.0 / 12), fourth = (real)0.25;
    vec g0 = g[0], g1 = g[step], g2 = g[2 * step];
    vec ends = -sixth * (g0 + g2), middle = sixth * g1, far = sixth * (fourth * g0 + g2), half = twelfth * g1;
    g[0] = fourth * g0;
    g[step] = ends - middle;
    g[2 * step] = ends + middle;
    g[3 * step] = far + half;
    g[4 * step] = far - half;
    g[5 * step] = g2;
}

KERNEL_INLINE void weight_grad_line(vec *u, size_t step) /* G^T u, in the first three */
{
    const real sixth = (real)(1.0 / 6), twelfth = (real)(1.0 / 12), fourth = (real)0.25;
    vec sum1 = u[step] + u[2 * step], off1 = u[2 * step] - u[step];
    vec sum2 = u[3 * step] + u[4 * step], off2 = u[3 * step] - u[4 * step];
    u[0] = fourth * (u[0] + sixth * sum2) - sixth * sum1;
    u[step] = sixth * off1 + twelfth * off2;
    u[2 * step] = sixth * (sum2 - sum1) + u[5 * step];
}

/* ---------------------------------------------------------------- tiles in and out */

/* Where a tile lies: its image, and its first output row and column. */
struct place {
    size_t image, row, column;
};

KERNEL_INLINE struct place place_of(const struct tiling *t, size_t tile)
{
    size_t in_image = tile % (t->down * t->across);
    return (struct place){tile / (t->down * t->across), in_image / t->across * TILE,
                          in_image % t->across * TILE};
}

/* Channels first.. of an image's first pixel. */
KERNEL_INLINE size_t octet_at(size_t image, size_t octet, size_t channels, size_t pixels, size_t block)
{
    size_t blocks = ceil_to(channels, block), first = octet * OCTET;
    return ((image * blocks + first / block) * pixels) * block + first % block;
}

/* side x side pixels from (top, left) of an image, zeros beyond its edges. */
KERNEL_INLINE void load_pixels(const real *image, size_t block, ptrdiff_t top, ptrdiff_t left, size_t height,
                               size_t width, ptrdiff_t side, vec *to)
{
    ptrdiff_t h = (ptrdiff_t)height, w = (ptrdiff_t)width;
    if (top >= 0 && left >= 0 && top + side <= h && left + side <= w) {
        for (ptrdiff_t i = 0; i < side; i++)
            for (ptrdiff_t j = 0; j < side; j++)
                to[i * PATCH + j] = vec_load(image + ((top + i) * w + left + j) * (ptrdiff_t)block);
        return;
    }
    for (ptrdiff_t i = 0; i < side; i++)
        for (ptrdiff_t j = 0; j < side; j++) {
            int inside = top + i >= 0 && top + i < h && left + j >= 0 && left + j < w;
            to[i * PATCH + j] =
                inside ? vec_load(image + ((top + i) * w + left + j) * (ptrdiff_t)block) : vec_all(0);
        }
}

KERNEL_INLINE void store_places(const vec *d, real *to, size_t step)
{
    for (size_t p = 0; p < PLACES; p++)
        vec_store(to + p * step, d[p]);
}

/* to (place, group, octet, GROUP, OCTET) <- the transforms of tiles first .. first + count - 1: of input
 * patches, or of output gradients. Tiles that fill up the last group are 0. */
KERNEL_INLINE void transform_tiles(const struct winograd_args *args, const struct tiling *t, size_t first,
                                   size_t count, int gradient, real *to)
{
    size_t groups = ceil_to(count, GROUP), octets = gradient ? t->unit_octets : t->octets;
    size_t channels = gradient ? args->units : args->channels, step = groups * octets * GROUP * OCTET;
    size_t height = gradient ? args->out_height : args->height,
           width = gradient ? args->out_width : args->width;
    const real *from = gradient ? args->dy : args->x;
    ptrdiff_t shift = gradient ? 0 : (ptrdiff_t)args->pad;
    for (size_t octet = 0; octet < octets; octet++)
        for (size_t i = 0; i < groups * GROUP; i++) {
            real *out = to + ((i / GROUP * octets + octet) * GROUP + i % GROUP) * OCTET;
            struct place place = place_of(t, first + i);
            for (size_t lane = 0; lane < OCTET; lane += LANES) {
                vec d[PLACES];
                if (i >= count) {
                    for (size_t p = 0; p < PLACES; p++)
                        d[p] = vec_all(0);
                    store_places(d, out + lane, step);
                    continue;
                }
                const real *image =
                    from + octet_at(place.image, octet, channels, height * width, args->block) + lane;
                load_pixels(image, args->block, (ptrdiff_t)place.row - shift, (ptrdiff_t)place.column - shift,
                            height, width, gradient ? TILE : PATCH, d);
                if (gradient) {
                    for (size_t j = 0; j < TILE; j++)
                        output_grad_line(d + j, PATCH);
                    for (size_t j = 0; j < PATCH; j++)
                        output_grad_line(d + j * PATCH, 1);
                } else {
                    for (size_t j = 0; j < PATCH; j++)
                        input_line(d + j, PATCH);
                    for (size_t j = 0; j < PATCH; j++)
                        input_line(d + j * PATCH, 1);
                }
                store_places(d, out + lane, step);
            }
        }
}

/* y <- the products m (place, transformed, group, GROUP, TILE_UNITS) of a chunk, units first_unit ... */
KERNEL_INLINE void finish_tiles(const struct winograd_args *args, const struct tiling *t, size_t first,
                                size_t count, size_t first_unit, size_t pieces, const real *m)
{
    size_t groups = ceil_to(count, GROUP), step = pieces * groups * GROUP * TILE_UNITS;
    size_t pixels = args->out_height * args->out_width;
    size_t padded = ceil_to(args->units, args->block) * args->block; /* a block is written whole */
    for (size_t unit = 0; unit < pieces * TILE_UNITS && first_unit + unit < padded; unit += OCTET)
        for (size_t lane = 0; lane < OCTET; lane += LANES) {
            size_t column = first_unit + unit + lane;
            vec bias = args->bias && column < args->units
                           ? vec_load_few(args->bias + column, smaller(args->units - column, LANES))
                           : vec_all(0);
            for (size_t i = 0; i < count; i++) {
                const real *from =
                    m + ((unit / TILE_UNITS * groups + i / GROUP) * GROUP + i % GROUP) * TILE_UNITS +
                    unit % TILE_UNITS + lane;
                struct place place = place_of(t, first + i);
                vec d[PLACES];
                for (size_t p = 0; p < PLACES; p++)
                    d[p] = vec_load(from + p * step);
                for (size_t j = 0; j < PATCH; j++)
                    output_line(d + j, PATCH);
                for (size_t j = 0; j < TILE; j++)
                    output_line(d + j * PATCH, 1);
                real *image =
                    args->y +
                    octet_at(place.image, (first_unit + unit) / OCTET, args->units, pixels, args->block) +
                    lane;
                size_t down = smaller(args->out_height - place.row, TILE),
                       across = smaller(args->out_width - place.column, TILE);
                for (size_t r = 0; r < down; r++)
                    for (size_t c = 0; c < across; c++) {
                        real *to =
                            image + ((place.row + r) * args->out_width + place.column + c) * args->block;
                        vec value = d[r * PATCH + c] + bias;
                        if (args->add)
                            value += vec_load(to);
                        if (args->relu)
                            value = vec_drop(value < vec_all(0), value);
                        vec_store(to, value);
                    }
            }
        }
}

/* ---------------------------------------------------------------- weights */

/* taps (channels, TAPS, TILE_UNITS) of units first_unit ..., zeros beyond the last. */
KERNEL void gather_taps(const struct winograd_args *args, size_t first_unit, real *taps)
{
    size_t width = smaller(args->units - first_unit, TILE_UNITS);
    if (width < TILE_UNITS)
        memset(taps, 0, args->channels * TAPS * TILE_UNITS * sizeof *taps);
    if (!args->transposed) {
        for (size_t i = 0; i < args->channels * TAPS; i++)
            memcpy(taps + i * TILE_UNITS, args->w + i * args->ldw + first_unit, width * sizeof *taps);
        return;
    }
    for (size_t u = 0; u < width; u++)
        for (size_t tap = 0; tap < TAPS; tap++) {
            const real *from = args->w + ((first_unit + u) * TAPS + tap) * args->ldw;
            real *to = taps + (TAPS - 1 - tap) * TILE_UNITS + u; /* turned by 180 degrees */
            for (size_t c = 0; c < args->channels; c++)
                to[c * TAPS * TILE_UNITS] = from[c];
        }
}

/* out (place, octets * OCTET, TILE_UNITS) <- taps; the channels that fill up the last octet are 0 */
KERNEL void transform_weights(size_t channels, size_t octets, const real *taps, real *out)
{
    size_t step = octets * OCTET * TILE_UNITS;
    for (size_t c = 0; c < octets * OCTET; c++)
        for (size_t lane = 0; lane < TILE_UNITS; lane += LANES) {
            vec g[PLACES];
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 3; j++)
                    g[i * PATCH + j] = c < channels
                                           ? vec_load(taps + (c * TAPS + i * 3 + j) * TILE_UNITS + lane)
                                           : vec_all(0);
            for (size_t j = 0; j < 3; j++)
                weight_line(g + j, PATCH);
            for (size_t j = 0; j < PATCH; j++)
                weight_line(g + j * PATCH, 1);
            store_places(g, out + c * TILE_UNITS + lane, step);
        }
}

/* ---------------------------------------------------------------- products */

/* m (GROUP, TILE_UNITS) = v (octets, GROUP, OCTET) . u (octets * OCTET, TILE_UNITS) */
KERNEL_INLINE void product_tile(size_t octets, const real *v, const real *u, real *m)
{
    enum { VECS = TILE_UNITS / LANES };
    vec sum[GROUP][VECS] = {{{0}}};
    for (size_t octet = 0; octet < octets; octet++, v += GROUP * OCTET, u += OCTET * TILE_UNITS)
        for (size_t c = 0; c < OCTET; c++) {
            vec b[VECS];
            for (int j = 0; j < VECS; j++)
                b[j] = vec_load(u + c * TILE_UNITS + j * LANES);
            for (int i = 0; i < GROUP; i++)
                for (int j = 0; j < VECS; j++)
                    sum[i][j] += v[(size_t)i * OCTET + c] * b[j];
        }
    for (int i = 0; i < GROUP; i++)
        for (int j = 0; j < VECS; j++)
            vec_store(m + i * TILE_UNITS + j * LANES, sum[i][j]);
}

/* du (OCTET, STRIP * OCTET) = sum over tiles of v (HALF channels) times d (wide octets of units) */
KERNEL_INLINE void gradient_tile(size_t groups, const real *v, size_t v_step, const real *d, size_t d_step,
                                 int wide, real *du)
{
    enum { VECS = OCTET / LANES };
    vec sum[HALF][STRIP * VECS] = {{{0}}};
    for (size_t g = 0; g < groups; g++, v += v_step, d += d_step)
        for (size_t i = 0; i < GROUP; i++) {
            vec b[STRIP * VECS];
            for (int j = 0; j < wide * VECS; j++)
                b[j] =
                    vec_load(d + (size_t)(j / VECS) * GROUP * OCTET + i * OCTET + (size_t)(j % VECS * LANES));
            for (int c = 0; c < HALF; c++)
                for (int j = 0; j < wide * VECS; j++)
                    sum[c][j] += v[i * OCTET + (size_t)c] * b[j];
        }
    for (int c = 0; c < HALF; c++)
        for (int j = 0; j < wide * VECS; j++)
            vec_store(du + (size_t)(c * STRIP * OCTET + j * LANES), sum[c][j]);
}

/* ---------------------------------------------------------------- the passes */

/* Pieces of scratch, in numbers; each a whole number of cache lines. */
struct pieces {
    size_t tiles, grads, transformed, products, taps;
};

KERNEL struct pieces pieces_of(const struct winograd_args *args)
{
    struct tiling t = tiling_of(args);
    return (struct pieces){
        .tiles = PLACES * t.room * t.octets * OCTET,
        .grads = PLACES * t.room * t.unit_octets * OCTET,
        .transformed = PLACES * t.octets * OCTET *
                       (TILES_WIDE * TILE_UNITS > STRIP * OCTET ? TILES_WIDE * TILE_UNITS : STRIP * OCTET),
        .products = PLACES * t.room * TILES_WIDE * TILE_UNITS,
        .taps = args->channels * TAPS * TILE_UNITS,
    };
}

KERNEL size_t fast_winograd_scratch(const struct winograd_args *args, int gradient)
{
    struct pieces p = pieces_of(args);
    return (p.tiles + p.transformed + (gradient ? p.grads : p.products + p.taps)) * sizeof(real);
}

KERNEL void fast_winograd(const struct winograd_args *args)
{
    struct tiling t = tiling_of(args);
    struct pieces p = pieces_of(args);
    real *tiles = args->scratch, *transformed = tiles + p.tiles, *products = transformed + p.transformed,
         *taps = products + p.products;
    size_t tile_length = PLACES * t.octets * OCTET * TILE_UNITS;
    for (size_t first = 0; first < t.count; first += t.chunk) {
        size_t count = smaller(t.count - first, t.chunk), groups = ceil_to(count, GROUP);
        transform_tiles(args, &t, first, count, 0, tiles);
        for (size_t unit = 0; unit < args->units; unit += TILES_WIDE * TILE_UNITS) {
            size_t pieces = smaller(ceil_to(args->units - unit, TILE_UNITS), TILES_WIDE);
            for (size_t half = 0; half < pieces; half++) {
                gather_taps(args, unit + half * TILE_UNITS, taps);
                transform_weights(args->channels, t.octets, taps, transformed + half * tile_length);
            }
            for (size_t place = 0; place < PLACES; place++)
                for (size_t g = 0; g < groups; g++)
                    for (size_t half = 0; half < pieces; half++)
                        product_tile(t.octets, tiles + (place * groups + g) * t.octets * GROUP * OCTET,
                                     transformed + half * tile_length + place * t.octets * OCTET * TILE_UNITS,
                                     products + ((place * pieces + half) * groups + g) * GROUP * TILE_UNITS);
            finish_tiles(args, &t, first, count, unit, pieces, products);
        }
    }
}

KERNEL void add_weight_gradient(const struct winograd_args *args, const struct tiling *t, size_t octet,
                                size_t wide, const real *du)
{
    size_t step = t->octets * OCTET * STRIP * OCTET;
    for (size_t c = 0; c < args->channels; c++)
        for (size_t lane = 0; lane < wide * OCTET; lane += LANES) {
            vec u[PLACES];
            for (size_t p = 0; p < PLACES; p++)
                u[p] = vec_load(du + p * step + c * STRIP * OCTET + lane);
            for (size_t j = 0; j < PATCH; j++)
                weight_grad_line(u + j, PATCH);
            for (size_t j = 0; j < 3; j++)
                weight_grad_line(u + j * PATCH, 1);
            for (size_t tap = 0; tap < TAPS; tap++) {
                real *to = args->dw + (c * TAPS + tap) * args->ldw + octet * OCTET + lane;
                vec_store(to, vec_load(to) + u[tap / 3 * PATCH + tap % 3]);
            }
        }
}

KERNEL void fast_winograd_weights(const struct winograd_args *args)
{
    struct tiling t = tiling_of(args);
    struct pieces p = pieces_of(args);
    real *tiles = args->scratch, *transformed = tiles + p.tiles, *grads = transformed + p.transformed;
    for (size_t first = 0; first < t.count; first += t.chunk) {
        size_t count = smaller(t.count - first, t.chunk), groups = ceil_to(count, GROUP);
        size_t v_step = t.octets * GROUP * OCTET, d_step = t.unit_octets * GROUP * OCTET;
        transform_tiles(args, &t, first, count, 0, tiles);
        transform_tiles(args, &t, first, count, 1, grads);
        for (size_t octet = 0; octet < t.unit_octets; octet += STRIP) {
            size_t wide = smaller(t.unit_octets - octet, STRIP);
            for (size_t place = 0; place < PLACES; place++)
                for (size_t c = 0; c < t.octets * OCTET; c += HALF) {
                    const real *v = tiles + place * groups * v_step + c / OCTET * GROUP * OCTET + c % OCTET;
                    const real *d = grads + place * groups * d_step + octet * GROUP * OCTET;
                    real *du = transformed + (place * t.octets * OCTET + c) * STRIP * OCTET;
                    if (wide == STRIP)
                        gradient_tile(groups, v, v_step, d, d_step, STRIP, du);
                    else if (wide == 2)
                        gradient_tile(groups, v, v_step, d, d_step, 2, du);
                    else
                        gradient_tile(groups, v, v_step, d, d_step, 1, du);
                }
            add_weight_gradient(args, &t, octet, wide, transformed);
        }
    }
}
#endif
