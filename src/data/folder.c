/* SPDX-License-Identifier: MIT */
#include "data/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "data/picture.h"
#include "data/pictures.h"
#include "file/file.h"

/* ---------------------------------------------------------------- all files below a folder */

enum { PLACES_MOST = 100000 }; /* links side by side can lead to the same folders 2^n times */

/* One folder: the pictures that lie in it itself. */
struct place {
    char *below; /* seen from where the walk began, "" or "a/b/" */
    char **files;
    uint64_t *sizes; /* (count) in bytes */
    size_t count;
};

struct walk {
    const char *root;
    struct place *places;
    size_t count, room;
    struct {
        dev_t device;
        ino_t number;
    } * above; /* (depth) the folders that the one at work lies in */
    size_t depth, above_room;
};

static void walk_free(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        mem_free(walk->places[i].below);
        mem_free_texts(walk->places[i].files, walk->places[i].count);
        mem_free(walk->places[i].sizes);
    }
    mem_free(walk->places);
    mem_free(walk->above);
    *walk = (struct walk){0};
}

static int look_at(struct stat *out, const char *path)
{
    if (!stat(path, out))
        return 0;
    return sph_fail_at(SPH_EIO, path, "cannot read: %s%s", strerror(errno),
                       errno == ELOOP ? "; the link points to itself" : "");
}

/* Into the folder that info is of, unless it is one of those it lies in. */
static int step_into(struct walk *walk, const char *path, const struct stat *info)
{
    for (size_t i = 0; i < walk->depth; i++)
        if (walk->above[i].device == info->st_dev && walk->above[i].number == info->st_ino)
            return sph_fail_at(SPH_EFORMAT, path, "a link to a folder that contains it; remove the link");
    if (!mem_reserve((void **)&walk->above, &walk->above_room, walk->depth + 1, sizeof *walk->above))
        return SPH_EMEMORY;
    walk->above[walk->depth].device = info->st_dev;
    walk->above[walk->depth++].number = info->st_ino;
    return 0;
}

static int walk_folder(struct walk *walk, const char *below);

/* One name of a folder: a picture is kept, a folder gone into, anything else left alone. */
static int visit(struct walk *walk, size_t place, const char *below, char **name, size_t *room)
{
    struct stat info;
    char *path = mem_format("%s/%s%s", walk->root, below, *name);
    int err = path ? look_at(&info, path) : SPH_EMEMORY;
    if (!err && S_ISDIR(info.st_mode)) {
        char *inside = mem_format("%s%s/", below, *name);
        err = inside ? step_into(walk, path, &info) : SPH_EMEMORY;
        if (!err) {
            err = walk_folder(walk, inside);
            walk->depth--;
        }
        mem_free(inside);
    } else if (!err && S_ISREG(info.st_mode) && picture_named(*name)) {
        struct place *to = &walk->places[place];
        if (!mem_reserve((void **)&to->files, &room[0], to->count + 1, sizeof *to->files) ||
            !mem_reserve((void **)&to->sizes, &room[1], to->count + 1, sizeof *to->sizes)) {
            err = SPH_EMEMORY;
        } else {
            to->files[to->count] = *name;
            to->sizes[to->count++] = (uint64_t)info.st_size;
            *name = NULL;
        }
    }
    mem_free(path);
    return err;
}

static int walk_folder(struct walk *walk, const char *below)
{
    char *path = mem_format("%s/%s", walk->root, below), **names = NULL;
    size_t count = 0, place = walk->count, room[2] = {0};
    int err = path ? file_list(&names, &count, path) : SPH_EMEMORY;
    if (!err && walk->count == PLACES_MOST)
        err = sph_fail_at(SPH_EFORMAT, walk->root, "contains more than %d folders, including links",
                          PLACES_MOST);
    if (!err && (!mem_reserve((void **)&walk->places, &walk->room, walk->count + 1, sizeof *walk->places)))
        err = SPH_EMEMORY;
    if (!err) {
        walk->places[walk->count++] = (struct place){.below = mem_text(below)};
        err = walk->places[place].below ? 0 : SPH_EMEMORY;
    }
    for (size_t i = 0; i < count && !err; i++)
        if (*names[i] != '.')
            err = visit(walk, place, below, &names[i], room);
    mem_free_texts(names, count);
    mem_free(path);
    return err;
}

/* Places as torchvision sorts them: by their paths, which end without a slash. */
static int by_path(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    size_t n = strlen(left->below), m = strlen(right->below), l = n ? n - 1 : 0, r = m ? m - 1 : 0;
    int order = memcmp(left->below, right->below, l < r ? l : r);
    return order ? order : (l > r) - (l < r);
}

/* All pictures below root, in order. */
static int walk_all(struct walk *walk, const char *root)
{
    struct stat info;
    *walk = (struct walk){.root = root};
    int err = look_at(&info, root);
    if (!err && !(err = step_into(walk, root, &info)))
        err = walk_folder(walk, "");
    if (!err)
        qsort(walk->places, walk->count, sizeof *walk->places, by_path);
    return err;
}

/* ---------------------------------------------------------------- a listing in the making */

static int add_file(struct folder *folder, const char *name, uint64_t size)
{
    if (folder->rows == UINT32_MAX)
        return sph_fail_at(SPH_EFORMAT, folder->path, "more than 2^32 images");
    int err = names_add(&folder->names, name);
    folder->rows += !err;
    folder->content =
        shelf_content(shelf_content(folder->content, name, strlen(name) + 1), &size, sizeof size);
    return err;
}

/* The pictures below root; *found <- how many. */
static int add_pictures(struct folder *folder, const char *root, size_t *found)
{
    struct walk walk;
    int err = walk_all(&walk, root);
    *found = folder->rows;
    for (size_t i = 0; i < walk.count && !err; i++)
        for (size_t k = 0; k < walk.places[i].count && !err; k++) {
            char *name = mem_format("%s%s", walk.places[i].below, walk.places[i].files[k]);
            err = name ? add_file(folder, name, walk.places[i].sizes[k]) : SPH_EMEMORY;
            mem_free(name);
        }
    *found = folder->rows - *found;
    walk_free(&walk);
    return err;
}

/* The folders that lie in root, by name. */
static int list_classes(char ***out, size_t *count, const char *root)
{
    size_t all = 0, kept = 0;
    int err = file_list(out, &all, root);
    for (size_t i = 0; i < all; i++) {
        char *name = (*out)[i], *path = err ? NULL : file_join(root, name);
        err = path ? err : SPH_EMEMORY;
        if (path && *name != '.' && file_is_directory(path))
            (*out)[kept++] = name;
        else
            mem_free(name);
        mem_free(path);
    }
    *count = kept;
    return err;
}

static int no_classes(const char *root)
{
    return sph_fail_at(SPH_EFORMAT, root,
                       "contains no folders, expected one folder of .jpg or .png images for each class, "
                       "train and val with such folders, or the files of a built-in dataset");
}

/* One part: the classes of folder, each from the folder of its name. */
static int add_part(struct folder *folder, struct folder_part *part, int may_lack)
{
    int err = 0;
    if (!(part->first = mem_get(folder->class_count + 1, sizeof *part->first)))
        return SPH_EMEMORY;
    for (size_t c = 0; c < folder->class_count && !err; c++) {
        char *root = file_join(part->root, folder->classes[c]);
        size_t found = 0;
        int lacks = may_lack && (!file_is_name(folder->classes[c]) || (root && !file_exists(root)));
        part->first[c] = folder->rows;
        err = !root ? SPH_EMEMORY : lacks ? 0 : add_pictures(folder, root, &found);
        if (!err && !found && !may_lack)
            err = sph_fail_at(SPH_EFORMAT, root,
                              "contains no .jpg, .jpeg or .png file; every class needs images");
        mem_free(root);
    }
    part->first[folder->class_count] = folder->rows;
    return err;
}

/* root's classes, which must all be known. */
static int check_classes(const struct folder *folder, const char *root, const char *known, int all)
{
    char **names = NULL;
    size_t count = 0;
    int err = list_classes(&names, &count, root);
    char **sorted = err ? NULL : mem_copy(folder->classes, folder->class_count, sizeof *sorted);
    if (!err && !sorted)
        err = SPH_EMEMORY;
    if (sorted) /* a model's are in any order */
        qsort(sorted, folder->class_count, sizeof *sorted, by_text);
    for (size_t i = 0; i < count && !err; i++)
        if (!bsearch(&names[i], sorted, folder->class_count, sizeof *sorted, by_text))
            err = sph_fail_of(SPH_EFORMAT, root, 0, names[i], "class '%s' does not occur in %s", names[i],
                              known);
    mem_free(sorted);
    if (!err && all && count < folder->class_count)
        for (size_t c = 0; c < folder->class_count && !err; c++)
            if (c >= count || strcmp(folder->classes[c], names[c]) != 0)
                err = sph_fail_of(SPH_EFORMAT, root, 0, folder->classes[c],
                                  "the folder of class '%s' of %s is missing", folder->classes[c], known);
    if (!err && !count)
        err = no_classes(root);
    mem_free_texts(names, count);
    return err;
}

/* path/train, and what the pictures to test on lie in; NULL where there is none. */
static int find_parts(const char *path, char **train, char **test)
{
    static const char *const names[] = {"val", "valid", "validation", "test"};
    const char *found = NULL;
    int err = (*train = file_join(path, "train")) ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < sizeof names / sizeof *names && !err; i++) {
        char *other = file_join(path, names[i]);
        if (!other)
            err = SPH_EMEMORY;
        else if (file_is_directory(other) && found)
            err = sph_fail_at(SPH_EFORMAT, path,
                              "contains both %s and %s, expected only one of them in addition to train",
                              found, names[i]);
        else if (file_is_directory(other))
            *test = other, other = NULL, found = names[i];
        mem_free(other);
    }
    if (err < 0 || (*test && file_is_directory(*train)))
        return err;
    mem_free(*test);
    *test = NULL;
    if (file_is_directory(*train))
        return 0;
    mem_free(*train);
    *train = NULL;
    return 0;
}

static int new_folder(struct folder **out, const char *path)
{
    struct folder *folder = mem_get(1, sizeof *folder);
    if (!folder || !(folder->path = mem_text(path))) {
        mem_free(folder);
        return SPH_EMEMORY;
    }
    folder->content = SHELF_CONTENT;
    *out = folder;
    return 0;
}

static int end_folder(struct folder **out, struct folder *folder, int err)
{
    if (!err)
        err = names_end(&folder->names);
    if (err < 0)
        folder_free(folder);
    else
        *out = folder;
    return err;
}

int folder_open(struct folder **out, const char *path)
{
    struct folder *folder = NULL;
    int err = new_folder(&folder, path);
    if (err < 0)
        return err;
    struct folder_part *train = &folder->part[0], *test = &folder->part[1];
    err = find_parts(path, &train->root, &test->root);
    if (!err && !train->root && !(train->root = mem_text(path)))
        err = SPH_EMEMORY;
    if (!err)
        err = list_classes(&folder->classes, &folder->class_count, train->root);
    if (!err && !folder->class_count)
        err = no_classes(train->root);
    if (!err && folder->class_count < 2)
        err = sph_fail_of(SPH_EFORMAT, train->root, 0, folder->classes[0],
                          "only one class, '%s', expected two or more", folder->classes[0]);
    if (!err && test->root)
        err = check_classes(folder, test->root, train->root, 1);
    if (!err)
        err = add_part(folder, train, 0);
    if (!err && test->root) {
        folder->test_from = folder->rows;
        err = add_part(folder, test, 0);
    }
    return end_folder(out, folder, err);
}

static int open_classless(struct folder *folder)
{
    struct stat info;
    size_t found;
    const char *slash = strrchr(folder->path, '/');
    int err = look_at(&info, folder->path);
    if (err < 0)
        return err;
    if (S_ISDIR(info.st_mode)) {
        if (!folder->part[0].root && !(folder->part[0].root = mem_text(folder->path)))
            return SPH_EMEMORY;
        err = add_pictures(folder, folder->part[0].root, &found);
        return err || found ? err
                            : sph_fail_at(SPH_EFORMAT, folder->path, "contains no .jpg, .jpeg or .png file");
    }
    folder->part[0].root = slash ? mem_text_of(folder->path, (size_t)(slash - folder->path)) : mem_text(".");
    return folder->part[0].root ? add_file(folder, slash ? slash + 1 : folder->path, (uint64_t)info.st_size)
                                : SPH_EMEMORY;
}

int folder_open_like(struct folder **out, const char *path, char *const *classes, size_t class_count,
                     int with_classes)
{
    struct folder *folder = NULL;
    char *train = NULL, *test = NULL;
    int err = new_folder(&folder, path);
    if (err < 0)
        return err;
    err = find_parts(path, &train, &test);
    if (!err && test) { /* of a set with its own test part, that part and no more */
        folder->part[0].root = test;
        test = NULL;
    }
    mem_free(train);
    mem_free(test);
    if (!err && !with_classes)
        return end_folder(out, folder, open_classless(folder));
    if (!err && !folder->part[0].root && !(folder->part[0].root = mem_text(path)))
        err = SPH_EMEMORY;
    if (!err && !file_is_directory(folder->part[0].root))
        err = sph_fail_at(SPH_EFORMAT, path,
                          "an image, expected a folder with one sub-folder of images per class");
    if (!err && !(folder->classes = mem_copy_texts(classes, class_count)))
        err = SPH_EMEMORY;
    folder->class_count = err ? 0 : class_count;
    if (!err && !(err = check_classes(folder, folder->part[0].root, "the model", 0)) &&
        !(err = add_part(folder, &folder->part[0], 1)) && !folder->rows)
        err = sph_fail_at(SPH_EFORMAT, path, "its folders contain no .jpg, .jpeg or .png file");
    return end_folder(out, folder, err);
}

void *folder_share(void *self)
{
    ((struct folder *)self)->holders++;
    return self;
}

void folder_free(void *self)
{
    struct folder *folder = self;
    if (!folder || folder->holders--)
        return;
    mem_free(folder->path);
    mem_free_texts(folder->classes, folder->class_count);
    for (int i = 0; i < 2; i++) {
        mem_free(folder->part[i].root);
        mem_free(folder->part[i].first);
    }
    names_free(&folder->names);
    mem_free(folder);
}

/* ---------------------------------------------------------------- asking */

static const struct folder_part *part_of(const struct folder *folder, size_t row)
{
    return &folder->part[folder->test_from && row >= folder->test_from];
}

size_t folder_class(const void *self, size_t row)
{
    const struct folder *folder = self;
    const size_t *first = part_of(folder, row)->first;
    size_t low = 0, high = folder->class_count;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        *(first[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

char *folder_name(const struct folder *folder, size_t row, int whole)
{
    char name[NAMES_LONGEST + 1];
    const struct folder_part *part = part_of(folder, row);
    size_t seen = strlen(folder->path);
    names_at(&folder->names, row, name);
    char *path = folder->class_count
                     ? mem_format("%s/%s/%s", part->root, folder->classes[folder_class(folder, row)], name)
                     : mem_format("%s/%s", part->root, name);
    if (!path || whole || strncmp(path, folder->path, seen) != 0 || path[seen] != '/')
        return path;
    char *below = mem_text(path + seen + 1);
    mem_free(path);
    return below;
}

/* ---------------------------------------------------------------- as a shelf */

static int read_file(const void *self, size_t row, struct picture_desk *desk, size_t channels, size_t least)
{
    char *path = folder_name(self, row, 1);
    int err = path ? picture_read(desk, path, channels, least) : SPH_EMEMORY;
    mem_free(path);
    return err;
}

static char *file_name(const void *self, size_t row)
{
    return folder_name(self, row, 0);
}

struct shelf shelf_of_folder(struct folder *folder)
{
    static const struct shelf_kind kind = {.read = read_file,
                                           .name = file_name,
                                           .class_of = folder_class,
                                           .share = folder_share,
                                           .release = folder_free};
    return (struct shelf){.kind = &kind,
                          .self = folder,
                          .path = folder->path,
                          .rows = folder->rows,
                          .test_from = folder->test_from,
                          .content = folder->content,
                          .classes = folder->classes,
                          .class_count = folder->class_count,
                          .size = PICTURES_SIZE,
                          .decode = -1};
}
