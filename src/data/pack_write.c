/* SPDX-License-Identifier: MIT
 *
 * Packing a folder of pictures. The training part's images come last: without them there is no set, so that a call
 * which was cut short leaves none. Their temporary comes first: what lies beside it is left of such a call, and goes with the
 * next one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/images.h"
#include "data/npy.h"
#include "data/pack.h"
#include "data/pictures.h"
#include "data/tool.h"
#include "data/view.h"
#include "file/file.h"

struct writer {
    const sph_data *data;
    const char *out;
    struct file_replace images[2]; /* of the training part and of the test part */
    uint8_t *row;                  /* (side, side, channels) */
    size_t side, channels;
    sph_progress_call *progress;
    void *self;
};

/* The rows of a part: [0, test_from) and [test_from, rows), or all. */
static void part_rows(const sph_data *data, int part, size_t *from, size_t *to)
{
    size_t test = data->test_from ? data->test_from : data->rows;
    *from = part ? test : 0;
    *to = part ? data->rows : test;
}

static char *path_of(const struct writer *w, int part, const char *end)
{
    return mem_format("%s/%s_%s", w->out, part ? "val" : "train", end);
}

/* ---------------------------------------------------------------- NPY */

static int write_head(struct file_replace *file, const char *type, const size_t *shape, size_t ndim)
{
    unsigned char head[NPY_HEADER];
    return file_replace_write(file, head, npy_write_header(head, type, shape, ndim));
}

static int write_labels(const struct writer *w, int part)
{
    size_t from, to, size = w->data->classes > 65536 ? 4 : 2;
    char *path = path_of(w, part, "labels.npy");
    struct file_replace file = {0};
    part_rows(w->data, part, &from, &to);
    unsigned char *bytes = mem_get(to - from, size), *at = bytes;
    int err = path && bytes ? file_replace_begin(&file, path) : SPH_EMEMORY;
    for (size_t i = from; i < to && !err; i++)
        for (size_t b = 0; b < size; b++)
            *at++ = (unsigned char)((uint32_t)w->data->y[i] >> 8 * b);
    if (!err && !(err = write_head(&file, size == 4 ? "<u4" : "<u2", (const size_t[]){to - from}, 1)) &&
        !(err = file_replace_write(&file, bytes, (to - from) * size)))
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    mem_free(bytes);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- names */

static int write_files(const struct writer *w, int part)
{
    enum { PIECE = 1 << 16 };
    size_t from, to;
    char *path = path_of(w, part, "files.txt");
    struct file_replace file = {0};
    struct text text = {0};
    part_rows(w->data, part, &from, &to);
    int err = path ? file_replace_begin(&file, path) : SPH_EMEMORY;
    for (size_t i = from; i < to && !err; i++) {
        char *name = w->data->image.pictures->name(w->data->image.pictures, (uint32_t)i);
        for (char *c = name; c && *c; c++)
            *c = *c == '\n' ? '?' : *c;
        text_add(&text, "%s\n", name ? name : "");
        if (!name || text.failed)
            err = SPH_EMEMORY;
        else if (i + 1 == to || text.length > PIECE) {
            err = file_replace_write(&file, text.chars, text.length);
            text_free(&text);
        }
        mem_free(name);
    }
    if (!err)
        err = file_replace_commit(&file);
    text_free(&text);
    file_replace_abort(&file);
    mem_free(path);
    return err;
}

static int write_classes(const struct writer *w, const char *source)
{
    struct text text = {0};
    char *path = file_join(w->out, PACK_CLASSES);
    int err = path ? 0 : SPH_EMEMORY;
    for (size_t c = 0; c < w->data->classes && !err; c++) {
        if (strpbrk(w->data->labels[c], "\r\n"))
            err = sph_fail_at(SPH_EFORMAT, source, "the name of class %zu has a line break in it", c);
        text_add(&text, "%s\n", w->data->labels[c]);
    }
    if (!err)
        err = text.failed ? SPH_EMEMORY : file_replace_with(path, text.chars, text.length);
    text_free(&text);
    mem_free(path);
    return err;
}

static int write_decode(const struct writer *w)
{
    char *path = file_join(w->out, PACK_DECODE);
    char *line = mem_format("%s\n", sph_word(SPH_WORDS_DECODE, (int)w->data->image.decode)->word);
    int err = path && line ? file_replace_with(path, line, strlen(line)) : SPH_EMEMORY;
    mem_free(line);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- images */

static int take_row(void *self, uint32_t row, const uint8_t *planes)
{
    struct writer *w = self;
    size_t pixels = w->side * w->side, rows = w->data->rows;
    int part = w->data->test_from && row >= w->data->test_from;
    for (size_t c = 0; c < w->channels; c++)
        for (size_t i = 0; i < pixels; i++)
            w->row[i * w->channels + c] = planes[c * pixels + i];
    int err = file_replace_write(&w->images[part], w->row, pixels * w->channels);
    if (err < 0 || !w->progress)
        return err;
    sph_progress progress = {.share = (double)(row + 1) / (double)rows,
                             .done = row + 1,
                             .all = rows,
                             .seconds = (double)NAN,
                             .seconds_left = (double)NAN};
    return w->progress(w->self, &progress) > 0;
}

static int begin_images(struct writer *w, int part)
{
    size_t from, to;
    char *path = path_of(w, part, "images.npy");
    part_rows(w->data, part, &from, &to);
    int err = path ? file_replace_begin(&w->images[part], path) : SPH_EMEMORY;
    if (!err)
        err = write_head(&w->images[part], "|u1", (const size_t[]){to - from, w->side, w->side, w->channels},
                         4);
    mem_free(path);
    return err;
}

static int write_all(struct writer *w, const char *source)
{
    int parts = w->data->test_from ? 2 : 1, err = begin_images(w, 0);
    if (!err)
        err = write_classes(w, source);
    if (!err)
        err = write_decode(w);
    for (int part = 0; part < parts && !err; part++)
        if (!(err = write_files(w, part)) && !(err = write_labels(w, part)) && part)
            err = begin_images(w, part);
    if (!err)
        err = pictures_squares(w->data->image.pictures, w->side, take_row, w);
    for (int part = parts; part-- > 0 && !err;)
        err = file_replace_commit(&w->images[part]);
    for (int part = 0; part < parts; part++)
        file_replace_abort(&w->images[part]);
    return err;
}

/* ---------------------------------------------------------------- what a call that was cut short left */

/* All files but the images that make it a set. */
static const char *const beside[] = {PACK_CLASSES,    PACK_DECODE,      "train_files.txt", "train_labels.npy",
                                     "val_files.txt", "val_labels.npy", "val_images.npy"};
enum { BESIDE = sizeof beside / sizeof *beside };

static void remove_file(const char *out, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", out, name) < (int)sizeof path)
        file_remove(path);
}

static void remove_parts(const char *out)
{
    remove_file(out, "train_images.npy"); /* first: without it the others are no set */
    for (size_t i = 0; i < BESIDE; i++)
        remove_file(out, beside[i]);
}

static int is_part(const char *name)
{
    for (size_t i = 0; i < BESIDE; i++)
        if (!strcmp(name, beside[i]))
            return 1;
    return *name == '.' || file_is_temporary(name);
}

/* A new folder, an empty one, or what is left of a call that was killed, which is removed. */
static int clear_folder(const char *out)
{
    static const char images[] = "train_images.npy.";
    char **names = NULL;
    size_t count = 0, parts = 0, begun = 0;
    int err = file_check_empty(out);
    if (err != SPH_EARG || (err = file_list(&names, &count, out)) < 0)
        return err;
    for (size_t i = 0; i < count; i++) {
        parts += (size_t)is_part(names[i]);
        begun += file_is_temporary(names[i]) && !strncmp(names[i], images, sizeof images - 1);
    }
    mem_free_texts(names, count);
    if (parts < count || !begun)
        return sph_fail_at(SPH_EARG, out, "contains files; choose another folder");
    remove_parts(out);
    return 0;
}

/* ---------------------------------------------------------------- the call */

static int open_folder(sph_data **out, const char *source, const sph_data_opts *opts)
{
    struct images_source images = {0};
    int found = images_find(&images, source, 0), err = found < 0 ? found : 0;
    if (!err && (!found || !images.pictures || !file_is_directory(images.path)))
        err = sph_fail_at(SPH_EARG, source, "not an image folder");
    int packed = err ? 0 : pack_is_here(images.path);
    if (!err && packed)
        err = packed < 0 ? packed : sph_fail_at(SPH_EARG, source, "already packed");
    if (!err)
        err = images_open(out, &images, opts);
    images_free(&images);
    return err;
}

int sph_data_pack(sph_packed *result, const char *source, const char *out, const sph_data_opts *opts,
                  sph_progress_call *progress, void *self)
{
    NEED(result, source, out);
    sph_data_opts how;
    sph_data *data = NULL;
    struct writer w = {.out = out, .progress = progress, .self = self};
    sph_data_defaults(&how);
    if (opts) {
        how.side = opts->side;
        how.gray = opts->gray;
        how.decode = opts->decode;
        how.workers = opts->workers;
        how.skip_bad = opts->skip_bad;
    }
    *result = (sph_packed){0};
    int held = -1, err = open_folder(&data, source, &how);
    if (!err && (err = file_enter(out)) < 0)
        sph_data_free(data);
    if (err < 0)
        return err;
    w.data = data;
    w.side = view_shorter(data->image.height);
    w.channels = data->image.channels;
    if (!(w.row = mem_get(w.side * w.side, w.channels)))
        err = SPH_EMEMORY;
    if (!err && !(err = file_make_directory(out)) && !(err = file_hold(&held, out, 0)) &&
        !(err = clear_folder(out)) && (err = write_all(&w, source)) != 0)
        remove_parts(out);
    file_let_go(held);
    if (!err) {
        size_t train = data->test_from ? data->test_from : data->rows;
        *result = (sph_packed){.train_images = train,
                               .test_images = data->rows - train,
                               .classes = data->classes,
                               .side = w.side,
                               .channels = w.channels,
                               .left_out = data->counts.left_out,
                               .bytes = (uint64_t)data->rows * w.side * w.side * w.channels};
    }
    file_leave(out);
    mem_free(w.row);
    sph_data_free(data);
    return err;
}
