/* SPDX-License-Identifier: MIT
 *
 * The files of an image set, and the set made of them. */
#include "data/images.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "base/error.h"
#include "data/tool.h"
#include "file/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/folder.h"
#include "base/levels.h"
#include "data/pack.h"
#include "data/picture.h"
#include "data/pictures.h"
#include "data/registry.h"

enum { LABEL_MOST = 65536 };

/* ---------------------------------------------------------------- finding the files */

void images_free(struct images_source *source)
{
    for (size_t i = 0; i < source->count; i++)
        mem_free(source->file[i]);
    mem_free(source->path);
    mem_free(source->names_file);
    *source = (struct images_source){0};
}

/* dir/name or dir/name.gz if it is there. 1: *out holds it. */
static int look(char **out, const char *dir, const char *name)
{
    int found = registry_file(out, dir, name, "");
    return found ? found : registry_file(out, dir, name, ".gz");
}

static int add_file(struct images_source *out, const char *name)
{
    if (out->count == IMAGES_FILES)
        return sph_fail_at(SPH_EFORMAT, out->path, "more than %d files", IMAGES_FILES);
    int found = look(&out->file[out->count], out->path, name);
    out->count += found > 0;
    return found < 0 ? found : 0;
}

static int add_files(struct images_source *out, const char *const *patterns)
{
    size_t before = out->count;
    int err = 0;
    for (int i = 0; i < 2 && patterns[i] && out->count == before && !err; i++) {
        const char *number = strstr(patterns[i], "%d");
        for (int k = 1; k < IMAGES_FILES && !err; k++) {
            char name[64];
            if (number)
                snprintf(name, sizeof name, "%.*s%d%s", (int)(number - patterns[i]), patterns[i], k,
                         number + 2);
            else
                snprintf(name, sizeof name, "%s", patterns[i]);
            err = add_file(out, name);
            if (!number)
                break;
        }
    }
    return err;
}

static int find_in_folder(struct images_source *out)
{
    const struct reader *const *readers;
    size_t count = registry_readers(&readers);
    for (size_t i = 0; i < count && !out->count; i++) {
        int err = add_files(out, readers[i]->train);
        out->test_at = out->count;
        if (!err)
            err = add_files(out, readers[i]->test);
        if (!err && out->count && readers[i]->names)
            err = look(&out->names_file, out->path, readers[i]->names);
        if (err < 0)
            return err;
        out->reader = readers[i];
    }
    if (!out->test_at) /* test files alone are a set like any other */
        out->test_at = out->count;
    return out->count > 0;
}

static int find_file(struct images_source *out, int expected)
{
    struct reader_file file = {.path = out->path};
    int err = registry_reader(&out->reader, &file, expected ? READ_IMAGES : READ_ANY);
    if (err < 0 || !out->reader || !out->reader->read_images)
        return err;
    if (!(out->file[0] = mem_text(out->path)))
        return SPH_EMEMORY;
    out->count = out->test_at = 1;
    return 1;
}

int images_find(struct images_source *out, const char *source, int expected)
{
    const sph_data_set *set = registry_find(source);
    struct stat info;
    int found = 0, there = !stat(source, &info);
    *out = (struct images_source){0};
    if (set && there && S_ISREG(info.st_mode))
        set = NULL; /* a file of that name is meant */
    if (set ? !set->images : !there)
        return 0;
    if (set)
        found = registry_path(&out->path, set);
    else if (!(out->path = mem_text(source)))
        found = SPH_EMEMORY;
    if (!found)
        found = set || S_ISDIR(info.st_mode) ? find_in_folder(out) : find_file(out, expected);
    if (!found && (set ? set->images == 2 : S_ISDIR(info.st_mode) || picture_named(source)))
        found = out->pictures = 1;
    if (set && !found)
        found = sph_fail_at(SPH_EIO, source, "%s contains no files of the dataset", out->path);
    if (found > 0 && !out->pictures)
        out->classes = set && set->classes ? set->classes : out->reader->classes;
    if (set && found > 0)
        out->names = set->names;
    if (found <= 0)
        images_free(out);
    return found;
}

/* ---------------------------------------------------------------- a set in the making */

static int grow(struct images *images, const char *path, size_t rows)
{
    sph_data *data = images->data;
    size_t guess = rows * images->files_left + rows / 64, room = data->rows + (guess > rows ? guess : rows),
           bytes;
    if (!size_times(&bytes, room, data->features))
        return sph_fail_at(SPH_EFORMAT, path, "%zu images of %zu bytes are too large", rows, data->features);
    uint8_t *pixels = mem_resize(data->image.pixels, data->rows * data->features, bytes, 1);
    if (!pixels)
        return SPH_EMEMORY;
    data->image.pixels = pixels;
    if (images->with_labels) {
        double *y = mem_resize(data->y, data->rows, room, sizeof *y);
        if (!y)
            return SPH_EMEMORY;
        data->y = y;
    }
    images->capacity = room;
    return 0;
}

int images_add(struct images *images, const char *path, size_t rows, size_t channels, size_t height,
               size_t width, uint8_t **pixels, double **y)
{
    sph_data *data = images->data;
    if (!data->image.channels) {
        data->image.channels = channels;
        data->image.height = height;
        data->image.width = width;
        data->features = channels * height * width;
    }
    if (data->image.channels != channels || data->image.height != height || data->image.width != width)
        return sph_fail_at(SPH_EFORMAT, path,
                           "images of %zu x %zu x %zu (channels, height, width), expected %zu x %zu x %zu",
                           channels, height, width, data->image.channels, data->image.height,
                           data->image.width);
    if (rows > UINT32_MAX || data->rows + rows > UINT32_MAX)
        return sph_fail_at(SPH_EFORMAT, path, "more than 2^32 images in all");
    int err = data->rows + rows > images->capacity ? grow(images, path, rows) : 0;
    if (err < 0)
        return err;
    *pixels = data->image.pixels + data->rows * data->features;
    *y = images->with_labels ? data->y + data->rows : NULL;
    data->rows += rows;
    return 0;
}

int images_label(const struct images *images, const char *path, size_t row, double label, double first,
                 double *y)
{
    double most = images->limit ? (double)images->limit : LABEL_MOST;
    *y = label - first;
    if (*y >= 0 && *y < most)
        return 0;
    return sph_fail_at(SPH_EFORMAT, path, "image %zu: label %.0f, expected %.0f to %.0f", row, label, first,
                       first + most - 1);
}

/* Files [from, to) of the source. */
static int read_files(struct images *images, const struct images_source *source, size_t from, size_t to)
{
    int err = 0;
    for (size_t i = from; i < to && !err; i++) {
        images->files_left = source->count - i;
        err = source->reader->read_images(images, source->file[i]);
    }
    return err;
}

/* ---------------------------------------------------------------- names of the classes */

/* One line of classes.txt: label, identifier, words. */
static int place_class(sph_data *data, const char *path, size_t line, char *text, size_t lines)
{
    char *id, *words = "";
    size_t label;
    id = text + strcspn(text, " \t");
    if (*id)
        *id++ = '\0';
    words = id + strcspn(id, " \t");
    words += strspn(words, " \t");
    if (!text_to_size(text, &label) || !label || label > lines)
        return sph_fail_line(SPH_EFORMAT, path, line, "label '%.40s', expected 1 to %zu", text, lines);
    if (data->labels[label - 1])
        return sph_fail_line(SPH_EFORMAT, path, line, "label %zu is given twice", label);
    data->labels[label - 1] = mem_text(*words ? words : id);
    return data->labels[label - 1] ? 0 : SPH_EMEMORY;
}

static int place_names(sph_data *data, const char *path, char *text, int numbered, char end)
{
    size_t lines = 0, line = 1, at = 0;
    const char stop[] = {end, '\0'}, *p;
    for (p = text; *p; p += strcspn(p, stop), p += *p == end)
        lines += strcspn(p, "\r\n") > 0;
    if (!lines)
        return sph_fail_at(SPH_EFORMAT, path, "no class names, expected one per line");
    data->labels = mem_get(lines, sizeof *data->labels);
    if (!data->labels)
        return SPH_EMEMORY;
    data->classes = lines;
    for (char *next; *text; text = next, line++) {
        next = text + strcspn(text, stop);
        if (*next)
            *next++ = '\0';
        text[strcspn(text, "\r\n")] = '\0';
        if (!*text)
            continue;
        if (!text_is_utf8(text))
            return sph_fail_line(SPH_EFORMAT, path, line, "the name of a class is not UTF-8");
        if (numbered) {
            int err = place_class(data, path, line, text, lines);
            if (err < 0)
                return err;
        } else if (!(data->labels[at++] = mem_text(text)))
            return SPH_EMEMORY;
    }
    return 0;
}

/* labels and classes from the source's names, if it has any. */
static int read_names(sph_data *data, const struct images_source *source)
{
    char *text = NULL;
    int err = 0;
    if (source->names_file) {
        if (!(err = file_read(&text, NULL, source->names_file)))
            err = place_names(data, source->names_file, text, source->reader->names_numbered, '\n');
        if (!err && source->classes && data->classes != source->classes)
            err = sph_fail_at(SPH_EFORMAT, source->names_file, "%zu names of classes, expected %zu",
                              data->classes, source->classes);
    } else if (source->names) {
        text = mem_text(source->names);
        err = text ? place_names(data, source->path, text, 0, ',') : SPH_EMEMORY;
    }
    mem_free(text);
    return err;
}

static size_t count_classes(const sph_data *data)
{
    double most = 0;
    for (size_t i = 0; i < data->rows; i++)
        most = fmax(most, data->y[i]);
    return (size_t)most + 1;
}

/* ---------------------------------------------------------------- opening */

static int check_opts(const struct images_source *source, const sph_data_opts *opts)
{
    int drops = opts->drop && strcmp(opts->drop, "auto") && strcmp(opts->drop, "none");
    const char *column = opts->target      ? "target"
                         : drops           ? "drop"
                         : opts->needed    ? "keep"
                         : opts->delimiter ? "delimiter"
                                           : NULL;
    if (column)
        return sph_fail_key(SPH_EARG, column, "%s contains images, which have no columns; remove this option",
                            source->path);
    if (opts->noise > 0)
        return sph_fail_key(SPH_EARG, "noise",
                            "only used with crescents, spirals and levy, not with %s; remove this option",
                            source->path);
    if (opts->by_numpy)
        return sph_fail_key(SPH_EARG, "draw", "only used with levy, not with %s; remove this option",
                            source->path);
    if (opts->task >= 0 && opts->task != SPH_TASK_CLASSES)
        return sph_fail_key(SPH_EARG, "task", "%s contains images with classes; remove this option",
                            source->path);
    return 0;
}

static int build(sph_data *data, const struct images_source *source)
{
    struct images images = {.data = data, .with_labels = 1};
    int err = read_names(data, source);
    images.limit = data->classes ? data->classes : source->classes;
    if (!err)
        err = read_files(&images, source, 0, source->test_at);
    if (err < 0)
        return err;
    if (!images.limit) /* a class that no training image has cannot be learnt */
        images.limit = count_classes(data);
    if (images.limit < 2)
        return sph_fail_at(SPH_EFORMAT, source->path, "all labels are equal, expected two or more classes");
    if (source->test_at < source->count) {
        data->test_from = data->rows;
        if ((err = read_files(&images, source, source->test_at, source->count)) < 0)
            return err;
    }
    return data->labels ? 0 : data_number_labels(data, images.limit);
}

/* PIL's luma, of Rec. 601: rows of three channels become rows of one, in place. */
void images_to_gray(sph_data *data)
{
    size_t pixels = data->image.height * data->image.width;
    if (data->image.channels != 3)
        return;
    for (size_t i = 0; i < data->rows; i++) {
        const uint8_t *red = data->image.pixels + i * data->features, *green = red + pixels,
                      *blue = green + pixels;
        uint8_t *to = data->image.pixels + i * pixels;
        for (size_t p = 0; p < pixels; p++)
            to[p] = (uint8_t)((19595u * red[p] + 38470u * green[p] + 7471u * blue[p] + 0x8000u) >> 16);
    }
    data->image.channels = 1;
    data->features = pixels;
}

/* Each pixel becomes the mean of a block of shrink x shrink pixels, halves rounded up, in place. */
static void shrink_images(sph_data *data, size_t shrink)
{
    struct data_images *image = &data->image;
    size_t height = image->height / shrink, width = image->width / shrink, area = shrink * shrink,
           planes = data->rows * image->channels;
    for (size_t plane = 0; plane < planes; plane++) {
        const uint8_t *from = image->pixels + plane * image->height * image->width;
        uint8_t *to = image->pixels + plane * height * width;
        for (size_t p = 0; p < height * width; p++) {
            const uint8_t *block = from + p / width * shrink * image->width + p % width * shrink;
            size_t sum = 0;
            for (size_t k = 0; k < area; k++)
                sum += block[k / shrink * image->width + k % shrink];
            to[p] = (uint8_t)((sum + area / 2) / area);
        }
    }
    image->height = height;
    image->width = width;
    image->shrink = shrink;
    data->features = image->channels * height * width;
}

static int bring_to_side(sph_data *data, const char *path, size_t side)
{
    size_t height = data->image.height;
    if (height != data->image.width || height % side)
        return sph_fail_key(SPH_EARG, "size",
                            "%s contains images of %zu x %zu pixels; use a divisor of this side", path,
                            height, data->image.width);
    if (side < height)
        shrink_images(data, height / side);
    return 0;
}

/* Pictures that stay files. is_like: data say already what a model takes. */
static int fill_pictures(sph_data *data, const struct shelf *shelf, const sph_data_opts *opts, int is_like,
                         int need_targets)
{
    const char *path = shelf->path;
    if (!is_like) {
        data->image.decode = shelf->decode < 0 ? opts->decode : (sph_decode)shelf->decode;
        data->image.channels = data->image.gray ? 1 : 3;
        data->image.height = data->image.width = opts->side ? opts->side : shelf->size;
        data->features = data->image.channels * data->image.height * data->image.width;
        data->image.eval_side = opts->eval_side;
    }
    if (data->image.height > PICTURES_SIZE_MOST)
        return sph_fail_key(SPH_EARG, "size", "%zu, expected at most %d", data->image.height,
                            PICTURES_SIZE_MOST);
    if (data->image.eval_side &&
        (data->image.eval_side < data->image.height || data->image.eval_side > 8 * data->image.height))
        return sph_fail_key(SPH_EARG, "eval_side", "%zu, expected %zu to %zu: 1 to 8 times the size",
                            data->image.eval_side, data->image.height, 8 * data->image.height);
    if (opts->workers > PICTURES_WORKERS_MOST)
        return sph_fail_key(SPH_EARG, "workers", "%zu, expected at most %d", opts->workers,
                            PICTURES_WORKERS_MOST);
    if (data->image.height != data->image.width || (data->image.channels != 1 && data->image.channels != 3))
        return sph_fail_at(
            SPH_EFORMAT, path,
            "images in folders have 1 or 3 channels and are square, but the model expects %zu x %zu x %zu",
            data->image.channels, data->image.height, data->image.width);
    int err = pictures_fill(data, shelf, opts, need_targets);
    if (!err && !is_like) {
        data->labels = mem_copy_texts(shelf->classes, shelf->class_count);
        data->classes = data->labels ? shelf->class_count : 0;
        err = data->labels ? 0 : SPH_EMEMORY;
    }
    for (size_t i = 0; !err && i < data->classes; i++)
        if (!text_is_utf8(data->labels[i]))
            err = sph_fail_at(SPH_EFORMAT, path, "the name of a class is not UTF-8");
    return err;
}

/* What lies at path: a packed set, or a folder of files. The caller releases it. */
static int open_shelf(struct shelf *out, const char *path, const sph_data *data, size_t folder_side,
                      int is_like, int need_targets)
{
    struct folder *folder;
    struct pack *pack;
    int packed = pack_is_here(path), err = packed < 0 ? packed : 0;
    if (!err && packed) {
        err = is_like ? pack_open_like(&pack, path, data->labels, data->classes, need_targets)
                      : pack_open(&pack, path);
        if (!err)
            *out = shelf_of_pack(pack);
    } else if (!err) {
        err = is_like ? folder_open_like(&folder, path, data->labels, data->classes, need_targets)
                      : folder_open(&folder, path);
        if (!err)
            *out = shelf_of_folder(folder);
        if (!err && folder_side)
            out->size = folder_side;
    }
    return err;
}

static int open_pictures(sph_data *data, const char *path, const sph_data_opts *opts, int is_like,
                         int need_targets)
{
    struct shelf shelf;
    int err = open_shelf(&shelf, path, data, opts->folder_side, is_like, need_targets);
    if (err < 0)
        return err;
    err = fill_pictures(data, &shelf, opts, is_like, need_targets);
    shelf.kind->release(shelf.self);
    return err;
}

int images_open(sph_data **out, const struct images_source *source, const sph_data_opts *opts)
{
    int err = check_opts(source, opts);
    if (err < 0)
        return err;
    sph_data *data = mem_get(1, sizeof *data);
    if (!data)
        return SPH_EMEMORY;
    data->task = SPH_TASK_CLASSES;
    data->targets = 1;
    data->reading.missing = opts->missing;
    data->image.gray = opts->gray != 0;
    err = source->pictures ? open_pictures(data, source->path, opts, 0, 1) : build(data, source);
    if (!err && data->image.gray && data->image.pixels)
        images_to_gray(data);
    if (!err && opts->side && data->image.pixels)
        err = bring_to_side(data, source->path, opts->side);
    if (err < 0) {
        sph_data_free(data);
        return err;
    }
    *out = data;
    return 0;
}

int images_open_like(sph_data *like, const struct images_source *source, int need_targets,
                     const sph_data_opts *how)
{
    if (source->pictures)
        return open_pictures(like, source->path, how, 1, need_targets);
    struct images images = {.data = like, .limit = like->classes, .with_labels = need_targets};
    size_t from = source->test_at < source->count ? source->test_at : 0;
    const struct data_images want = like->image;
    size_t shrink = want.shrink ? want.shrink : 1;
    if (want.gray || shrink > 1)
        like->image.channels = 0; /* the files may hold images of another shape */
    int err = read_files(&images, source, from, source->count);
    if (err < 0)
        return err;
    if (want.gray)
        images_to_gray(like);
    if (like->image.channels != want.channels || like->image.height != want.height * shrink ||
        like->image.width != want.width * shrink)
        return sph_fail_at(SPH_EFORMAT, source->path,
                           "images of %zu x %zu x %zu, expected %zu x %zu in %s%zu channels",
                           like->image.channels, like->image.height, like->image.width, want.height * shrink,
                           want.width * shrink, want.gray ? "3 or " : "", want.channels);
    if (shrink > 1)
        shrink_images(like, shrink);
    return 0;
}
