/* SPDX-License-Identifier: MIT
 *
 * Pictures as bytes: every kind of file, broken ones, and the part of them that a net gets to see. */
#include "image_files.h"

#include <jansson.h>
#include <sys/resource.h>

#include "base/random.h"
#include "data/names.h"
#include "data/picture.h"
#include "data/view.h"
#include "skip.h"

/* ---------------------------------------------------------------- against PIL and numpy */

static struct picture_desk desk;
static struct resample resample;

static int give_back(void **state)
{
    picture_desk_free(&desk);
    resample_free(&resample);
    return remove_folder(state);
}

/* The same as tests/golden/make_pictures.py has. */
static const struct view_colours colours = {{{14, 13, 12}, {-1.5, 0.2, 1.4}, {0.3, -0.6, 0.3}}};

enum { GOLDEN_CASES = 40 };

struct gap {
    double mean, most,
        shift; /* levels in the mean, at most; pixels to the right or down, the larger of both */
};

/* How far two pictures (3, size, size) are apart. One that is another shifted by a part of a pixel differs by that part of
 * its slope, along both axes. */
static struct gap gap_between(const uint8_t *got, const uint8_t *golden, size_t size)
{
    struct gap gap = {0};
    for (size_t step = 1; step <= size; step += size - 1) {
        double along = 0, slopes = 0;
        for (size_t p = 0; p < 3 * size * size; p++) {
            double apart = (double)got[p] - golden[p];
            gap.mean += fabs(apart) / (double)(2 * 3 * size * size);
            gap.most = fmax(gap.most, fabs(apart));
            size_t at = step == 1 ? p % size : p / size % size;
            if (!at || at + 1 == size)
                continue;
            double slope = ((double)golden[p + step] - golden[p - step]) / 2;
            along += apart * slope;
            slopes += slope * slope;
        }
        gap.shift = fmax(gap.shift, fabs(along) / slopes);
    }
    return gap;
}

/* Whole as PIL, but for rounding; smaller with another filter, but in the same place. */
static void windows_are_what_pil_and_numpy_make_of_the_same_choices(void **state)
{
    (void)state;
    FILE *file = fopen(SPH_TESTS_DIR "/golden/pictures.csv", "r");
    static char line[16384], pixels[8192];
    char name[64];
    int cases = 0, smaller = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (; fgets(line, sizeof line, file); cases++) {
        struct view_choice choice;
        struct picture_window window;
        size_t size;
        assert_int_equal(sscanf(line, "%63[^,],%zu,%zu,%lf,%lf,%d,%lf,%lf,%lf,%8191s", name, &size,
                                &choice.shorter, &choice.x, &choice.y, &choice.flip, &choice.alpha[0],
                                &choice.alpha[1], &choice.alpha[2], pixels),
                         10);
        assert_int_equal(strlen(pixels), 2 * 3 * size * size);
        int plain =
            choice.alpha[0] == 0; /* a change of colours is rounded by itself, which may add half a level */
        char path[1024];
        snprintf(path, sizeof path, SPH_TESTS_DIR "/golden/pictures/%s", name);
        uint8_t *got = mem_get(3 * size * size, 1), *golden = mem_get(3 * size * size, 1);
        for (size_t p = 0; p < 3 * size * size; p++) {
            unsigned expected;
            assert_int_equal(sscanf(pixels + 2 * p, "%2x", &expected), 1);
            golden[p] = (uint8_t)expected;
        }
        for (int decode = 0; decode < SPH_DECODE_COUNT; decode++) {
            if (picture_read(&desk, path, 3, decode == SPH_DECODE_SCALED ? choice.shorter : 0) < 0)
                fail_msg("%s", sph_error());
            view_place(&window, &choice, desk.picture.full_width, desk.picture.full_height, size);
            assert_int_equal(resample_window(&resample, &desk.picture, &window, got), 0);
            view_recolour(got, size, &choice, &colours);
            struct gap gap = gap_between(got, golden, size);
            int whole = desk.picture.width == desk.picture.full_width;
            smaller += !whole;
            assert_true(whole || decode == SPH_DECODE_SCALED);
            if (!(gap.mean < (!whole  ? 2
                              : plain ? 0.3
                                      : 0.6)) ||
                (whole && gap.most > (plain ? 1 : 2)) ||
                !(gap.shift < 0.04)) /* where counting padded columns shifts by 0.2 */
                fail_msg("%s, shorter side %zu, decode %s: %g levels apart, at most %g, shifted by %g", name,
                         choice.shorter, sph_word(SPH_WORDS_DECODE, decode)->word, gap.mean, gap.most,
                         gap.shift);
        }
        mem_free(got);
        mem_free(golden);
    }
    assert_int_equal(cases, GOLDEN_CASES);
    assert_true(smaller > GOLDEN_CASES / 3);
    fclose(file);
}

/* Gray goes across number by number: it is the plain twin of what colours do by vectors. */
static void colours_are_resampled_as_each_of_them_alone_is(void **state)
{
    (void)state;
    static const size_t shapes[][5] = {/* width, height, becomes, size, left */
                                       {61, 47, 97, 64, 20},  {61, 47, 61, 33, 28}, {97, 80, 61, 40, 3},
                                       {200, 90, 48, 16, 32}, {640, 64, 33, 30, 3}, {5, 7, 3, 1, 1},
                                       {2, 2, 9, 7, 2},       {1, 1, 5, 5, 0}};
    struct rng rng = rng_stream(7, RNG_INIT, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes * 2; i++) {
        const size_t *shape = shapes[i / 2];
        size_t pixels = shape[0] * shape[1], size = shape[3], plane = size * size;
        struct picture_window window = {
            .width = shape[2], .height = size, .left = shape[4], .size = size, .flip = (int)i & 1};
        uint8_t *bytes = mem_get(4 * pixels, 1), *alone = mem_get(pixels, 1), *got = mem_get(4 * plane, 1);
        for (size_t p = 0; p < 4 * pixels; p++)
            bytes[p] = rng_u32(&rng) & 1 ? (uint8_t)rng_u32(&rng) : 255;
        struct picture colour = {.bytes = bytes,
                                 .width = shape[0],
                                 .height = shape[1],
                                 .channels = 3,
                                 .step = 4,
                                 .across = {0, (double)shape[0]},
                                 .down = {0, (double)shape[1]}};
        struct picture gray = colour;
        gray.bytes = alone;
        gray.channels = gray.step = 1;
        assert_int_equal(resample_window(&resample, &colour, &window, got), 0);
        for (size_t c = 0; c < 3; c++) {
            for (size_t p = 0; p < pixels; p++)
                alone[p] = bytes[4 * p + c];
            assert_int_equal(resample_window(&resample, &gray, &window, got + 3 * plane), 0);
            assert_memory_equal(got + c * plane, got + 3 * plane, plane);
        }
        mem_free(bytes);
        mem_free(alone);
        mem_free(got);
    }
}

static void a_large_jpeg_is_decoded_small_but_not_below_what_is_needed(void **state)
{
    (void)state;
    static const struct {
        size_t least, height;
    } cases[] = {{0, 300}, {151, 300}, {150, 150}, {75, 75}, {37, 38}, {1, 38}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(picture_read(&desk, SPH_TESTS_DIR "/golden/pictures/large.jpg", 3, cases[i].least),
                         0);
        assert_int_equal(desk.picture.height, cases[i].height);
        assert_int_equal(desk.picture.full_width, 400);
        assert_int_equal(desk.picture.full_height, 300);
    }
}

static void choices_depend_on_seed_epoch_and_row_and_cover_their_ranges(void **state)
{
    (void)state;
    size_t least = SIZE_MAX, most = 0, flips = 0;
    double sum = 0, squares = 0;
    struct view_choice choice, again;
    enum { ROWS = 4000 };
    for (uint32_t row = 0; row < ROWS; row++) {
        view_choose(&choice, SPH_AUGMENT_COLOUR, 3, 2, row, 224, 0);
        view_choose(&again, SPH_AUGMENT_COLOUR, 3, 2, row, 224, 0);
        assert_memory_equal(&choice, &again, sizeof choice);
        least = choice.shorter < least ? choice.shorter : least;
        most = choice.shorter > most ? choice.shorter : most;
        flips += (size_t)choice.flip;
        assert_true(choice.x >= 0 && choice.x < 1 && choice.y >= 0 && choice.y < 1);
        for (int i = 0; i < 3; i++) {
            sum += choice.alpha[i];
            squares += choice.alpha[i] * choice.alpha[i];
        }
        struct picture_window window;
        view_place(&window, &choice, 500, 375, 224);
        assert_true(window.left + 224 <= window.width && window.top + 224 <= window.height);
        assert_int_equal(window.height, choice.shorter);
    }
    assert_int_equal(least, 256); /* missed with a chance of (224/225)^4000 = 2e-8 */
    assert_int_equal(most, 480);
    assert_true(flips > ROWS / 2 - 160 && flips < ROWS / 2 + 160); /* five deviations */
    assert_true(fabs(sum / (3 * ROWS)) < 0.05 && fabs(squares / (3 * ROWS) - 1) < 0.07);
    view_choose(&choice, SPH_AUGMENT_CROP, 3, 2, 7, 224, 0);
    view_choose(&again, SPH_AUGMENT_CROP, 3, 3, 7, 224, 0);
    assert_true(choice.x != again.x);
    view_choose(&again, SPH_AUGMENT_CROP, 4, 2, 7, 224, 0);
    assert_true(choice.x != again.x);
    view_choose(&choice, SPH_AUGMENT_NONE, 3, 2, 7, 224, 0);
    assert_true(choice.shorter == 256 && !choice.flip && isnan(choice.x));
    view_choose(&choice, SPH_AUGMENT_NONE, 3, 2, 7, 224, 368);
    assert_int_equal(choice.shorter, 368);
    view_choose(&choice, SPH_AUGMENT_CROP, 3, 2, 7, 224, 600); /* of evaluation only */
    assert_true(choice.shorter <= 480);
    view_choose(&choice, SPH_AUGMENT_NONE, 3, 2, 7, 32, 0);
    assert_int_equal(choice.shorter, 37); /* torchvision's 256 of 224, rounded */
}

static void colour_axes_are_the_eigenvectors_of_the_covariance(void **state)
{
    (void)state;
    /* Colours that vary along (2, 1, 2)/3 with variance 0.04, along (1, 2, -2)/3 with 0.01, not along the third. */
    static const double axis[2][3] = {{2 / 3., 1 / 3., 2 / 3.}, {1 / 3., 2 / 3., -2 / 3.}};
    double sum[3] = {0}, product[3][3] = {{0}}, count = 4;
    for (int i = 0; i < 4; i++) {
        double a = (i & 1 ? 1 : -1) * 0.2, b = (i & 2 ? 1 : -1) * 0.1, value[3];
        for (int c = 0; c < 3; c++)
            value[c] = 255 * (0.5 + a * axis[0][c] + b * axis[1][c]);
        for (int c = 0; c < 3; c++) {
            sum[c] += value[c];
            for (int k = 0; k < 3; k++)
                product[c][k] += value[c] * value[k];
        }
    }
    struct view_colours out;
    view_axes(&out, count, sum, (const double(*)[3])product);
    int found = 0;
    for (int i = 0; i < 3; i++) {
        double length = sqrt(out.shift[i][0] * out.shift[i][0] + out.shift[i][1] * out.shift[i][1] +
                             out.shift[i][2] * out.shift[i][2]) /
                        255;
        for (int k = 0; k < 2; k++) {
            double along = 0;
            for (int c = 0; c < 3; c++)
                along += out.shift[i][c] / 255 * axis[k][c];
            double variance = k ? 0.01 : 0.04;
            found += fabs(fabs(along) - variance) < 1e-12 && fabs(length - variance) < 1e-12;
        }
    }
    assert_int_equal(found, 2);
}

/* ---------------------------------------------------------------- every kind of JPEG */

static char *shared_file(const char *name)
{
    const char *folders = getenv("SPHERELU_DATA");
    char *path = folders ? mem_format("%.*s/%s", (int)strcspn(folders, ":"), folders, name) : NULL;
    if (path && access(path, R_OK)) {
        mem_free(path);
        path = NULL;
    }
    return path;
}

static void means_are_those_of_expected_json_within_a_level(void **state)
{
    (void)state;
    char *list = shared_file("jpeg-variants/expected.json");
    if (!list)
        skip_because("jpeg-variants is not in SPHERELU_DATA");
    json_t *root = json_load_file(list, 0, NULL), *about;
    const char *name;
    size_t good = 0, bad = 0;
    json_object_foreach(json_object_get(root, "files"), name, about)
    {
        char *path = mem_format("%.*s/%s", (int)(strrchr(list, '/') - list), list, name);
        int err = picture_read(&desk, path, 3, 0);
        if (!json_is_true(json_object_get(about, "decodes"))) {
            assert_int_equal(err, SPH_EFORMAT);
            assert_string_equal(sph_failure()->path, path);
            bad++;
            mem_free(path);
            continue;
        }
        if (err < 0)
            fail_msg("%s", sph_error());
        const json_t *upright = json_object_get(about, "width_upright");
        json_int_t width = json_integer_value(upright ? upright : json_object_get(about, "width"));
        assert_int_equal(desk.picture.width, width);
        for (size_t c = 0; c < 3; c++) {
            double sum = 0, pixels = (double)(desk.picture.width * desk.picture.height),
                   mean = json_number_value(json_array_get(json_object_get(about, "mean_rgb"), c));
            for (size_t p = 0; p < desk.picture.width * desk.picture.height; p++)
                sum += desk.picture.bytes[4 * p + c];
            if (!(fabs(sum / pixels - mean) < 1))
                fail_msg("%s: mean %zu is %g, expected %g", name, c, sum / pixels, mean);
        }
        assert_int_equal(picture_read(&desk, path, 1, 0), 0);
        assert_int_equal(desk.picture.channels, 1);
        good++;
        mem_free(path);
    }
    assert_true(good == 34 && bad == 4);
    json_decref(root);
    mem_free(list);
}

static void exif_turns_a_picture_upright(void **state)
{
    (void)state;
    char *turned = shared_file("jpeg-variants/exif6-be-tulip2.jpg"),
         *plain = shared_file("jpeg-variants/base420-tulip2.jpg");
    if (!turned || !plain)
        skip_because("jpeg-variants is not in SPHERELU_DATA");
    assert_int_equal(picture_read(&desk, plain, 3, 0), 0);
    size_t count = desk.picture.width * desk.picture.height * 4, width = desk.picture.width;
    uint8_t *upright = mem_copy(desk.picture.bytes, count, 1);
    assert_int_equal(picture_read(&desk, turned, 3, 0), 0);
    assert_int_equal(desk.picture.width, width);
    double apart = 0;
    for (size_t p = 0; p < count; p++)
        apart += fabs((double)desk.picture.bytes[p] - upright[p]) / (0.75 * (double)count);
    assert_true(apart < 4); /* it was encoded again after it was turned */
    mem_free(upright);
    mem_free(turned);
    mem_free(plain);
}

static void all_eight_orientations_turn_as_exif_says(void **state)
{
    (void)state;
    /* abc   where the six pixels of a 3 x 2 picture end, read line by line
     * def */
    static const char *const expected[] = {"",       "abcdef", "cbafed", "fedcba", "defabc",
                                           "adbecf", "daebfc", "fcebda", "cfbead"};
    for (int i = 1; i <= 8; i++) {
        assert_int_equal(picture_shape(&desk.picture, "p", 3, 2, 1), 0);
        memcpy(desk.picture.bytes, "abcdef", 6);
        assert_int_equal(picture_turn(&desk, "p", i), 0);
        assert_int_equal(desk.picture.width, i < 5 ? 3 : 2);
        assert_memory_equal(desk.picture.bytes, expected[i], 6);
    }
}

/* ---------------------------------------------------------------- broken ones */

static size_t copy_file(const char *name, uint8_t *bytes, size_t size)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

static void assert_bad(const char *name, const void *bytes, size_t length, const char *key)
{
    write_file(name, bytes, length);
    const char *path = at(name);
    assert_fails(picture_read(&desk, path, 3, 64), SPH_EFORMAT, .key = key, .path = path);
}

static void broken_files_are_refused_by_name(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    size_t length = copy_file(SPH_TESTS_DIR "/golden/pictures/small.jpg", bytes, sizeof bytes);
    assert_bad("empty.jpg", bytes, 0, NULL);
    assert_bad("text.jpg", "this is text", 12, NULL);
    assert_bad("cut.jpg", bytes, length / 2, NULL);
    assert_bad("head.jpg", bytes, 20, NULL);
    size_t frame = 0;
    while (!(bytes[frame] == 0xff && bytes[frame + 1] == 0xc0))
        frame++;
    memset(bytes + frame + 5, 0xff, 4); /* 65,535 is more than a side may have */
    assert_bad("huge.jpg", bytes, length, NULL);
    bytes[frame + 6] = bytes[frame + 8] = 0xdc; /* 65,500 x 65,500 */
    assert_bad("large.jpg", bytes, length, "pixels");
    length = copy_file(SPH_TESTS_DIR "/golden/pictures/plain.png", bytes, sizeof bytes);
    assert_bad("cut.png", bytes, length / 2, NULL);
    bytes[length / 2] ^= 0x55;
    assert_bad("changed.png", bytes, length, NULL);
    assert_bad("head.png", bytes, 8, NULL);
    /* none of which keeps the next one from being read */
    assert_int_equal(picture_read(&desk, SPH_TESTS_DIR "/golden/pictures/small.jpg", 3, 0), 0);
    assert_fails(picture_read(&desk, at("absent.jpg"), 3, 0), SPH_EIO, .path = at("absent.jpg"));
}

/* Of a JPEG at bytes: where its first marker of this kind begins. */
static size_t find_marker(const uint8_t *bytes, uint8_t marker)
{
    size_t at_byte = 0;
    while (!(bytes[at_byte] == 0xff && bytes[at_byte + 1] == marker))
        at_byte++;
    return at_byte;
}

static uint32_t crc(const uint8_t *bytes, size_t length)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

static void put_big(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * (3 - i));
}

static void narrow_pictures_are_in_proportion_to_their_bytes_too(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    size_t length = copy_file(SPH_TESTS_DIR "/golden/pictures/small.jpg", bytes, sizeof bytes);
    size_t frame = find_marker(bytes, 0xc0);
    assert_true(length < 65500);
    memcpy(bytes + frame + 5, "\xff\xdc\x03\xff", 4); /* 65,500 lines of 1,023 */
    assert_bad("narrow.jpg", bytes, length, "pixels");
    /* a PNG's header: 8,255 x 65,500 of one bit */
    static const uint8_t png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x20\x3f\0\0\xff\xdc\1\0\0\0\0";
    static const uint8_t data[] = "\0\0\0\0IDAT\x35\xaf\x06\x1e";
    memcpy(bytes, png, sizeof png - 1);
    length = sizeof png - 1;
    put_big(bytes + length, crc(bytes + 12, length - 12));
    length += 4;
    memcpy(bytes + length, data, sizeof data - 1);
    length += sizeof data - 1;
    assert_bad("narrow.png", bytes, length, "pixels");
}

/* Bits of a deflate stream; codes come with their first bit highest, as deflate has them. */
struct bits {
    uint8_t *to;
    size_t count;
};

static void put_code(struct bits *bits, unsigned code, int length)
{
    while (length--) {
        if (code >> length & 1)
            bits->to[bits->count / 8] |= (uint8_t)(1 << bits->count % 8);
        bits->count++;
    }
}

/* A compressed text of 1 + 258 * matches zeroes at `to`. Returns its length, of the chunk in all. */
static size_t put_zeroes(uint8_t *to, size_t matches)
{
    memset(to, 0, 32 + 2 * matches);
    memcpy(to + 4, "zTXtk\0\0\x78\x01", 9);
    struct bits bits = {to + 13, 0};
    put_code(&bits, 4 | 2, 3); /* the last block (1), of fixed codes (01, low bit first) */
    put_code(&bits, 0x30, 8);  /* a zero */
    for (size_t i = 0; i < matches; i++)
        put_code(&bits, 0xc5, 8), put_code(&bits, 0, 5); /* 258 as the byte before */
    put_code(&bits, 0, 7);                               /* the end */
    size_t length = 13 + (bits.count + 7) / 8;
    put_big(to + length, (uint32_t)((1 + 258 * matches) % 65521) << 16 | 1);
    length += 4;
    put_big(to, (uint32_t)length - 8);
    put_big(to + length, crc(to + 4, length - 4));
    return length + 4;
}

/* 20 texts of 7 MB in 60 kB each. */
static void packed_texts_of_a_png_take_no_memory(void **state)
{
    (void)state;
    enum { TEXTS = 20, MATCHES = 28000, HEAD = 33 };
    static uint8_t plain[65536], bytes[65536 + TEXTS * (64 + 2 * MATCHES)];
    struct rusage before, after;
    size_t whole = copy_file(SPH_TESTS_DIR "/golden/pictures/plain.png", plain, sizeof plain), length = HEAD;
    memcpy(bytes, plain, HEAD); /* its signature and header */
    for (int i = 0; i < TEXTS; i++)
        length += put_zeroes(bytes + length, MATCHES);
    memcpy(bytes + length, plain + HEAD, whole - HEAD);
    write_file("texts.png", bytes, length + whole - HEAD);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(picture_read(&desk, at("texts.png"), 3, 0), 0);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 50 << 10);
}

/* Every scan goes over all blocks of the picture, in however few bytes. */
static void a_jpeg_of_more_than_a_hundred_scans_is_refused(void **state)
{
    (void)state;
    static uint8_t bytes[65536], last[64];
    size_t length = copy_file(SPH_TESTS_DIR "/golden/pictures/scans.jpg", bytes, sizeof bytes);
    size_t scan = length - 2, taken;
    while (!(bytes[scan] == 0xff && bytes[scan + 1] == 0xda))
        scan--;
    taken = (size_t)bytes[scan + 2] << 8 | bytes[scan + 3]; /* its head, over and over */
    assert_true(taken + 2 <= sizeof last);
    memcpy(last, bytes + scan, taken + 2);
    length -= 2;
    for (int i = 0; i < 100; i++, length += taken + 2)
        memcpy(bytes + length, last, taken + 2);
    memcpy(bytes + length, "\xff\xd9", 2);
    assert_bad("scans.jpg", bytes, length + 2, "scans");
    /* a comment whose length leaves no room for itself, which the decoder takes for an empty one */
    memmove(bytes + 6, bytes + 2, length);
    for (char size = 0; size < 3; size++) {
        memcpy(bytes + 2, (const char[]){'\xff', '\xfe', 0, size}, 4);
        assert_bad("comment.jpg", bytes, length + 6, "scans");
    }
}

/* A marker without a body and bytes that fill hide nothing from who looks how much memory the decoder will take. */
static void what_a_progressive_jpeg_needs_is_seen_behind_other_markers(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    static const char *const stray[] = {"\xff\x01", "\xff\xff\xff"};
    static const size_t strays[] = {2, 3};
    for (size_t i = 0; i < 2; i++) {
        size_t length = copy_file(SPH_TESTS_DIR "/golden/pictures/scans.jpg", bytes, sizeof bytes);
        size_t frame = find_marker(bytes, 0xc2);
        memmove(bytes + frame + strays[i], bytes + frame, length - frame);
        memcpy(bytes + frame, stray[i], strays[i]);
        picture_desk_free(&desk);
        write_file("stray.jpg", bytes, length + strays[i]);
        sph_set_max_memory(mem_held() + 50000);
        int err = picture_read(&desk, at("stray.jpg"), 3, 1);
        sph_set_max_memory(0);
        assert_fails(err, SPH_EMEMORY, .key = "max-memory", .path = "stray.jpg");
    }
}

static void a_picture_beyond_the_memory_that_is_allowed_is_refused(void **state)
{
    (void)state;
    picture_desk_free(&desk);
    for (int i = 0; i < 2; i++) { /* its pixels; what a progressive one needs to be decoded */
        const char *path =
            i ? SPH_TESTS_DIR "/golden/pictures/scans.jpg" : SPH_TESTS_DIR "/golden/pictures/large.jpg";
        sph_set_max_memory(mem_held() + 50000);
        int err = picture_read(&desk, path, 3, i ? 1 : 0);
        sph_set_max_memory(0);
        assert_fails(err, SPH_EMEMORY, .key = "max-memory", .path = path);
    }
}

/* ---------------------------------------------------------------- names */

static void names_come_back_and_take_few_bytes(void **state)
{
    (void)state;
    struct names names = {0};
    char name[NAMES_LONGEST + 2], out[NAMES_LONGEST + 1];
    enum { MANY = 200000 };
    size_t before = mem_held();
    for (size_t i = 0; i < MANY; i++) { /* as ImageNet's: every seventh number of a class */
        snprintf(name, sizeof name, "n%08zu_%zu.JPEG", i / 1300, i % 1300 * 7);
        assert_int_equal(names_add(&names, name), 0);
    }
    assert_int_equal(names_end(&names), 0);
    assert_true((double)(mem_held() - before) / MANY < 8);
    for (size_t i = 0; i < MANY; i += 37) {
        snprintf(name, sizeof name, "n%08zu_%zu.JPEG", i / 1300, i % 1300 * 7);
        names_at(&names, i, out);
        assert_string_equal(out, name);
    }
    names_free(&names);
    static const char *const odd[] = {"", "a", "aa", "a", "", "abcabc", "abcabcabc", "bc", "c"};
    for (size_t round = 0; round < 20; round++)
        for (size_t i = 0; i < 9; i++)
            assert_int_equal(names_add(&names, odd[i]), 0);
    for (size_t length = 250; length < 260; length++) {
        memset(name, 'x', length);
        name[0] = (char)length;
        name[length] = '\0';
        assert_int_equal(names_add(&names, name), 0);
    }
    memset(name, 'y', NAMES_LONGEST + 1);
    name[NAMES_LONGEST + 1] = '\0';
    assert_fails(names_add(&names, name), SPH_EFORMAT);
    name[NAMES_LONGEST] = '\0';
    assert_int_equal(names_add(&names, name), 0);
    for (size_t i = 0; i < 180; i++) {
        names_at(&names, i, out);
        assert_string_equal(out, odd[i % 9]);
    }
    names_at(&names, 185, out);
    assert_int_equal(strlen(out), 255);
    names_at(&names, 190, out);
    assert_int_equal(strlen(out), NAMES_LONGEST);
    names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_what_pil_and_numpy_make_of_the_same_choices),
        cmocka_unit_test(colours_are_resampled_as_each_of_them_alone_is),
        cmocka_unit_test(a_large_jpeg_is_decoded_small_but_not_below_what_is_needed),
        cmocka_unit_test(choices_depend_on_seed_epoch_and_row_and_cover_their_ranges),
        cmocka_unit_test(colour_axes_are_the_eigenvectors_of_the_covariance),
        cmocka_unit_test(means_are_those_of_expected_json_within_a_level),
        cmocka_unit_test(exif_turns_a_picture_upright),
        cmocka_unit_test(all_eight_orientations_turn_as_exif_says),
        cmocka_unit_test(broken_files_are_refused_by_name),
        cmocka_unit_test(narrow_pictures_are_in_proportion_to_their_bytes_too),
        cmocka_unit_test(packed_texts_of_a_png_take_no_memory),
        cmocka_unit_test(a_jpeg_of_more_than_a_hundred_scans_is_refused),
        cmocka_unit_test(what_a_progressive_jpeg_needs_is_seen_behind_other_markers),
        cmocka_unit_test(a_picture_beyond_the_memory_that_is_allowed_is_refused),
        cmocka_unit_test(names_come_back_and_take_few_bytes),
    };
    return cmocka_run_group_tests(tests, make_folder, give_back);
}
