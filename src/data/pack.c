/* SPDX-License-Identifier: MIT
 *
 * Reading a packed set. Whatever its files say is checked here, once; rows are then taken from the mapping. */
#include "data/pack.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/npy.h"
#include "data/view.h"

enum { PACK_MARK = 64, CONTENT_ROWS = 1024, CONTENT_BYTES = 64 };

/* path/STEM_END; caller frees. */
static char *part_path(const struct pack *pack, int part, const char *end)
{
    return mem_format("%s/%s_%s", pack->path, pack->stem[part], end);
}

int pack_is_here(const char *path)
{
    char *file = file_join(path, "train_images.npy");
    int here = file ? file_exists(file) : SPH_EMEMORY;
    mem_free(file);
    return here;
}

/* ---------------------------------------------------------------- images */

static int check_images(struct pack *pack, struct pack_part *part, const char *path)
{
    struct npy_header header;
    int err = npy_read_header(&header, part->images.data, part->images.length, path);
    if (err < 0)
        return err;
    if (header.type != 'u' || header.size != 1 || header.fortran)
        return sph_fail_at(SPH_EFORMAT, path, "numbers of type %c%zu%s, expected bytes (u1) in C order",
                           header.type, header.size, header.fortran ? " column after column" : "");
    if (header.ndim != 4)
        return sph_fail_at(SPH_EFORMAT, path,
                           "an array of %zu dimensions, expected 4: images, height, width, channels",
                           header.ndim);
    const size_t *shape = header.shape;
    if (shape[3] != 1 && shape[3] != 3)
        return sph_fail_at(SPH_EFORMAT, path, "%zu channels, expected 1 or 3, the last dimension", shape[3]);
    if (!shape[0] || !shape[1] || !shape[2] || shape[1] > PICTURE_SIDE || shape[2] > PICTURE_SIDE)
        return sph_fail_at(SPH_EFORMAT, path,
                           "%zu images of %zu x %zu pixels, expected at least one with sides from 1 to %d",
                           shape[0], shape[2], shape[1], PICTURE_SIDE);
    if (header.too_big || part->images.length - header.start != header.bytes)
        return sph_fail_at(SPH_EFORMAT, path, "%zu bytes of numbers, expected %zu x %zu x %zu x %zu",
                           part->images.length - header.start, shape[0], shape[1], shape[2], shape[3]);
    if (pack->rows && (shape[1] != pack->height || shape[2] != pack->width || shape[3] != pack->channels))
        return sph_fail_at(SPH_EFORMAT, path,
                           "images of %zu x %zu x %zu, but the training images are %zu x %zu x %zu", shape[1],
                           shape[2], shape[3], pack->height, pack->width, pack->channels);
    if (shape[0] > UINT32_MAX - pack->rows)
        return sph_fail_at(SPH_EFORMAT, path, "more than 2^32 images in all");
    part->pixels = part->images.data + header.start;
    part->rows = shape[0];
    pack->height = shape[1];
    pack->width = shape[2];
    pack->channels = shape[3];
    pack->rows += part->rows;
    return 0;
}

/* Of some bytes from the middle of some images, and of all labels. */
static void add_content(struct pack *pack, const struct pack_part *part)
{
    size_t bytes = pack->height * pack->width * pack->channels,
           some = bytes < CONTENT_BYTES ? bytes : CONTENT_BYTES,
           rows = part->rows < CONTENT_ROWS ? part->rows : CONTENT_ROWS;
    pack->content =
        shelf_content(pack->content, (const unsigned char *)&part->images.length, sizeof part->images.length);
    for (size_t i = 0; i < rows; i++)
        pack->content = shelf_content(
            pack->content, part->pixels + i * part->rows / rows * bytes + (bytes - some) / 2, some);
    pack->content = shelf_content(pack->content, part->labels.data, part->labels.length);
}

/* ---------------------------------------------------------------- labels */

static int check_labels(const struct pack *pack, struct pack_part *part, const char *path)
{
    int err = npy_parse(&part->label, part->labels.data, part->labels.length, path);
    if (err < 0)
        return err;
    if (part->label.columns != 1 || (part->label.type != 'i' && part->label.type != 'u'))
        return sph_fail_at(SPH_EFORMAT, path, "%zu columns of type %c%zu, expected a column of integers",
                           part->label.columns, part->label.type, part->label.size);
    if (part->label.rows != part->rows)
        return sph_fail_at(SPH_EFORMAT, path, "%zu labels for %zu images", part->label.rows, part->rows);
    for (size_t i = 0; i < part->rows && pack->class_count; i++) {
        double label = array_at(&part->label, i, 0);
        if (!(label >= 0 && label < (double)pack->class_count))
            return sph_fail_at(SPH_EFORMAT, path, "image %zu: label %.0f, expected 0 to %zu", i, label,
                               pack->class_count - 1);
    }
    return 0;
}

/* Classes without names are called by their numbers, as many as the training part has. */
static int number_classes(struct pack *pack)
{
    enum { CLASSES_MOST = 65536 };
    const struct array *label = &pack->part[0].label;
    double most = 0;
    for (size_t i = 0; i < label->rows; i++) {
        double value = array_at(label, i, 0);
        if (!(value >= 0 && value < CLASSES_MOST))
            return sph_fail_at(SPH_EFORMAT, pack->path, "image %zu: label %.0f, expected 0 to %d", i, value,
                               CLASSES_MOST - 1);
        most = value > most ? value : most;
    }
    if (!(pack->classes = mem_get((size_t)most + 1, sizeof *pack->classes)))
        return SPH_EMEMORY;
    for (size_t c = 0; c <= (size_t)most; c++, pack->class_count++)
        if (!(pack->classes[c] = mem_format("%zu", c)))
            return SPH_EMEMORY;
    return 0;
}

static int read_classes(struct pack *pack)
{
    char *path = file_join(pack->path, PACK_CLASSES), *text = NULL;
    size_t lines = 0;
    int err = !path ? SPH_EMEMORY : file_exists(path) ? file_read(&text, NULL, path) : 0;
    for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        lines++;
    if (!err && text && !lines)
        err = sph_fail_at(SPH_EFORMAT, path, "no class names, expected one per line");
    if (!err && text && !(pack->classes = mem_get(lines, sizeof *pack->classes)))
        err = SPH_EMEMORY;
    for (char *at = text, *next; !err && at && *at; at = next) {
        next = at + strcspn(at, "\n");
        next += *next ? (*next = '\0', 1) : 0;
        at[strcspn(at, "\r")] = '\0';
        if (!*at || !text_is_utf8(at))
            err = sph_fail_line(SPH_EFORMAT, path, pack->class_count + 1,
                                *at ? "the name of a class is not UTF-8" : "a class without a name");
        else if (!(pack->classes[pack->class_count] = mem_text(at)))
            err = SPH_EMEMORY;
        else
            pack->class_count++;
    }
    mem_free(text);
    mem_free(path);
    return err;
}

/* Absent in sets of 0.2.0 and before, and in those that numpy wrote. */
static int read_decode(struct pack *pack)
{
    char *path = file_join(pack->path, PACK_DECODE), *text = NULL;
    int err = !path ? SPH_EMEMORY : file_exists(path) ? file_read(&text, NULL, path) : 0;
    pack->decode = -1;
    if (!err && text) {
        text[strcspn(text, "\r\n")] = '\0';
        if ((pack->decode = sph_word_find(SPH_WORDS_DECODE, text)) < 0)
            err = sph_fail_line(SPH_EFORMAT, path, 1, "'%.40s', expected exact or scaled", text);
    }
    mem_free(text);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- names */

static int mark_lines(struct pack_part *part, const char *path)
{
    const unsigned char *from = part->files.data, *end = from + part->files.length, *at = from;
    size_t lines = 0;
    if (!(part->mark = mem_get(part->rows / PACK_MARK + 1, sizeof *part->mark)))
        return SPH_EMEMORY;
    for (; at < end && lines < part->rows; lines++) {
        const unsigned char *stop = memchr(at, '\n', (size_t)(end - at));
        if (lines % PACK_MARK == 0)
            part->mark[lines / PACK_MARK] = (uint64_t)(at - from);
        at = stop ? stop + 1 : end;
    }
    if (lines < part->rows || at < end)
        return sph_fail_at(SPH_EFORMAT, path, "%s%zu names for %zu images", at < end ? "more than " : "",
                           lines, part->rows);
    return 0;
}

static char *name_in(const struct pack_part *part, size_t row)
{
    const unsigned char *end = part->files.data + part->files.length,
                        *at = part->files.data + part->mark[row / PACK_MARK];
    const unsigned char *stop = at;
    for (size_t i = row / PACK_MARK * PACK_MARK;; i++, at = stop + 1) {
        const unsigned char *found = memchr(at, '\n', (size_t)(end - at));
        stop = found ? found : end;
        if (i == row)
            break;
    }
    char *name = mem_text_of((const char *)at, (size_t)(stop - at));
    for (char *c = name; c && *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    return name;
}

/* ---------------------------------------------------------------- opening */

/* Maps the file of a part if it is there; *path is its name, which the caller frees. */
static int map_file(const struct pack *pack, int part, const char *end, struct file_map *map, char **path)
{
    *path = part_path(pack, part, end);
    return !*path ? SPH_EMEMORY : file_exists(*path) ? file_map(map, *path) : 0;
}

static int open_part(struct pack *pack, int number, int with_labels)
{
    struct pack_part *part = &pack->part[number];
    char *images = NULL, *labels = NULL, *files = NULL;
    int err = map_file(pack, number, "images.npy", &part->images, &images);
    if (!err && !part->images.data)
        err = sph_fail_at(SPH_EIO, images, "no such file");
    if (!err)
        err = check_images(pack, part, images);
    file_map_by_parts(&part->images);
    if (!err && with_labels && !(err = map_file(pack, number, "labels.npy", &part->labels, &labels)))
        err = part->labels.data
                  ? check_labels(pack, part, labels)
                  : sph_fail_at(SPH_EIO, images, "the file with its labels, %s, is missing", labels);
    if (!err && !(err = map_file(pack, number, "files.txt", &part->files, &files)) && part->files.data)
        err = mark_lines(part, files);
    if (!err)
        add_content(pack, part);
    mem_free(files);
    mem_free(labels);
    mem_free(images);
    return err;
}

static int has_test_part(const struct pack *pack)
{
    char *path = part_path(pack, 1, "images.npy");
    int here = path ? file_exists(path) : SPH_EMEMORY;
    mem_free(path);
    return here;
}

static struct pack *new_pack(const char *path)
{
    struct pack *pack = mem_get(1, sizeof *pack);
    if (!pack)
        return NULL;
    pack->stem[0] = "train";
    pack->stem[1] = "val";
    pack->content = SHELF_CONTENT;
    if ((pack->path = mem_text(path)))
        return pack;
    mem_free(pack);
    return NULL;
}

int pack_open(struct pack **out, const char *path)
{
    struct pack *pack = new_pack(path);
    int err = pack ? read_classes(pack) : SPH_EMEMORY, named, test;
    if (err < 0 || (err = read_decode(pack)) < 0)
        goto out;
    named = pack->class_count > 0;
    if ((err = open_part(pack, 0, 1)) < 0 || (!named && (err = number_classes(pack)) < 0))
        goto out;
    if (pack->class_count < 2)
        err = sph_fail_at(SPH_EFORMAT, path, "only one class, '%s', expected two or more", pack->classes[0]);
    if (!err && (test = has_test_part(pack)) != 0) {
        pack->test_from = pack->part[0].rows;
        err = test < 0 ? test : open_part(pack, 1, 1);
    }
out:
    if (err < 0)
        pack_free(pack);
    else
        *out = pack;
    return err;
}

static int match_classes(struct pack *pack, char *const *classes, size_t class_count)
{
    if (!(pack->class_as = mem_get(pack->class_count, sizeof *pack->class_as)))
        return SPH_EMEMORY;
    for (size_t c = 0; c < pack->class_count; c++) {
        int at = text_find(pack->classes[c], (const char *const *)classes, class_count);
        if (at < 0)
            return sph_fail_at(SPH_EFORMAT, pack->path, "the model has no class '%s'", pack->classes[c]);
        pack->class_as[c] = (size_t)at;
    }
    return 0;
}

int pack_open_like(struct pack **out, const char *path, char *const *classes, size_t class_count,
                   int with_classes)
{
    struct pack *pack = new_pack(path);
    int err = pack ? has_test_part(pack) : SPH_EMEMORY, named;
    if (err > 0) {
        pack->stem[0] = pack->stem[1];
        err = 0;
    }
    if (err < 0 || (with_classes && (err = read_classes(pack)) < 0))
        goto out;
    named = pack->class_count > 0;
    if ((err = open_part(pack, 0, with_classes)) < 0 || !with_classes)
        goto out;
    if (named || (err = number_classes(pack)) == 0)
        err = match_classes(pack, classes, class_count);
out:
    if (err < 0)
        pack_free(pack);
    else
        *out = pack;
    return err;
}

void pack_free(void *self)
{
    struct pack *pack = self;
    if (!pack || pack->holders--)
        return;
    for (int i = 0; i < 2; i++) {
        file_unmap(&pack->part[i].images);
        file_unmap(&pack->part[i].labels);
        file_unmap(&pack->part[i].files);
        mem_free(pack->part[i].mark);
    }
    mem_free_texts(pack->classes, pack->class_count);
    mem_free(pack->class_as);
    mem_free(pack->path);
    mem_free(pack);
}

/* ---------------------------------------------------------------- as a shelf */

/* The part of a row, whose number becomes that in the part. */
static const struct pack_part *part_of(const struct pack *pack, size_t *row)
{
    int number = pack->test_from && *row >= pack->test_from;
    *row -= number ? pack->test_from : 0;
    return &pack->part[number];
}

/* A pixel of 1 or 3 bytes into one of 1 or 4. */
static void copy_pixels(const unsigned char *from, size_t channels, size_t pixels, struct picture *to)
{
    size_t green = channels == 3 ? 1 : 0, blue = channels == 3 ? 2 : 0;
    uint8_t *at = to->bytes;
    if (to->channels == 3)
        for (size_t i = 0; i < pixels; i++, from += channels, at += to->step) {
            at[0] = from[0];
            at[1] = from[green];
            at[2] = from[blue];
        }
    else if (channels == 1)
        memcpy(at, from, pixels);
    else
        for (size_t i = 0; i < pixels; i++, from += 3)
            at[i] = (uint8_t)((19595u * from[0] + 38470u * from[1] + 7471u * from[2] + 0x8000u) >> 16);
}

/* A row was read. With its pages the system brought some around them, which would add up. */
static void let_go(const struct file_map *map, const unsigned char *from, size_t length)
{
    enum { AROUND = 1 << 16 };
    size_t begin = (size_t)(from - map->data), end = begin + length;
    begin = begin > AROUND ? begin - AROUND : 0;
    end = map->length - end > AROUND ? end + AROUND : map->length;
    file_map_done(map, map->data + begin, end - begin);
}

static int read_row(const void *self, size_t row, struct picture_desk *desk, size_t channels, size_t least)
{
    const struct pack *pack = self;
    const struct pack_part *part = part_of(pack, &row);
    size_t pixels = pack->height * pack->width, bytes = pixels * pack->channels;
    (void)least;
    int err = picture_shape(&desk->picture, pack->path, pack->width, pack->height, channels);
    if (err < 0)
        return err;
    file_map_soon(&part->images, part->pixels + row * bytes, bytes);
    copy_pixels(part->pixels + row * bytes, pack->channels, pixels, &desk->picture);
    let_go(&part->images, part->pixels + row * bytes, bytes);
    return 0;
}

static char *name_of(const void *self, size_t row)
{
    const struct pack *pack = self;
    const struct pack_part *part = part_of(pack, &row);
    return part->mark ? name_in(part, row) : mem_format("%s/%zu", pack->stem[part != pack->part], row);
}

static size_t class_of(const void *self, size_t row)
{
    const struct pack *pack = self;
    const struct pack_part *part = part_of(pack, &row);
    size_t label = (size_t)array_at(&part->label, row, 0);
    return pack->class_as ? pack->class_as[label] : label;
}

static void *share(void *self)
{
    ((struct pack *)self)->holders++;
    return self;
}

static const struct shelf_kind shelf_pack = {
    .read = read_row, .name = name_of, .class_of = class_of, .share = share, .release = pack_free};

struct shelf shelf_of_pack(struct pack *pack)
{
    size_t shorter = pack->height < pack->width ? pack->height : pack->width;
    return (struct shelf){.kind = &shelf_pack,
                          .self = pack,
                          .path = pack->path,
                          .decode = pack->decode,
                          .rows = pack->rows,
                          .test_from = pack->test_from,
                          .content = pack->content,
                          .classes = pack->classes,
                          .class_count = pack->class_count,
                          .size = view_size(shorter)};
}
