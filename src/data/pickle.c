/* SPDX-License-Identifier: MIT
 *
 * ImageNet32's batches as Python pickles, protocols 2 to 4: a dict with the arrays data (N, 3 s s) and labels (an array or
 * a list). A pickle is a program; this is no interpreter of it but a parser of the few forms that such a file has. Of
 * the names that it may call there are five, each stands for a value of its own here, and any other is refused. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/bytes.h"
#include "data/registry.h"

enum kind { MARK, NONE, NUMBER, TEXT, TUPLE, LIST, DICT, NAME, ARRAY, TYPE };
enum name { RECONSTRUCT, NDARRAY, DTYPE, ENCODE };

struct value {
    enum kind kind;
    int64_t number;             /* NUMBER; NAME: which; LIST, ARRAY, TYPE: where in the table of these */
    const unsigned char *bytes; /* TEXT: of text or of bytes */
    size_t length;              /* TEXT; TUPLE: members */
    size_t first;               /* TUPLE: where they lie in `members` */
};

/* A list of numbers, an array or the type of one. */
struct thing {
    int64_t *numbers; /* (count) LIST */
    size_t count, room;
    char type; /* ARRAY, TYPE */
    size_t size;
    int fortran;
    size_t shape[2], axes;
    const unsigned char *bytes; /* ARRAY, borrowed of the file or own */
    size_t length;
};

struct values {
    struct value *list;
    size_t count, room;
};

struct pickle {
    const char *path;
    struct cursor in;
    size_t total;
    struct values stack, members, memo;
    struct thing *things;
    size_t thing_count, thing_room;
    unsigned char **own;                 /* (own_count) bytes that encode made of text */
    size_t own_count, own_room, encoded; /* encoded: bytes of text that went into them */
    struct value data, labels;           /* of the dict; NONE: not there yet */
};

enum { DEEPEST = 1 << 22, MEMO_MOST = 1 << 22 };

/* ---------------------------------------------------------------- values */

static int bad(const struct pickle *p, const char *what)
{
    return sph_fail_at(SPH_EFORMAT, p->path,
                       "byte %zu: %s; expected a pickle of ImageNet32, a dict of data and labels",
                       p->total - cursor_left(&p->in), what);
}

static int add(struct values *values, struct value value, const struct pickle *p)
{
    if (values->count >= DEEPEST)
        return bad(p, "too many values");
    if (!mem_reserve((void **)&values->list, &values->room, values->count + 1, sizeof value))
        return SPH_EMEMORY;
    values->list[values->count++] = value;
    return 0;
}

static int push(struct pickle *p, struct value value)
{
    return add(&p->stack, value, p);
}

static int push_number(struct pickle *p, int64_t number)
{
    return push(p, (struct value){.kind = NUMBER, .number = number});
}

/* The value on top, taken; of another kind than expected it is refused. */
static int pop(struct pickle *p, struct value *out)
{
    if (!p->stack.count || p->stack.list[p->stack.count - 1].kind == MARK)
        return bad(p, "the stack is empty");
    *out = p->stack.list[--p->stack.count];
    return 0;
}

static int push_thing(struct pickle *p, enum kind kind, struct thing thing)
{
    if (p->thing_count >= DEEPEST)
        return bad(p, "too many values");
    if (!mem_reserve((void **)&p->things, &p->thing_room, p->thing_count + 1, sizeof thing))
        return SPH_EMEMORY;
    p->things[p->thing_count++] = thing;
    return push(p, (struct value){.kind = kind, .number = (int64_t)p->thing_count - 1});
}

static struct thing *thing_of(const struct pickle *p, const struct value *value)
{
    return &p->things[value->number];
}

/* The values above the last mark, which goes with them: *first is the number of the first. */
static int above_mark(struct pickle *p, size_t *first)
{
    size_t at = p->stack.count;
    while (at && p->stack.list[at - 1].kind != MARK)
        at--;
    if (!at)
        return bad(p, "no mark");
    *first = at;
    return 0;
}

static int push_text(struct pickle *p, uint64_t length)
{
    const unsigned char *bytes = length <= cursor_left(&p->in) ? cursor_take(&p->in, (size_t)length) : NULL;
    if (!bytes)
        return bad(p, "the file ends within a text");
    return push(p, (struct value){.kind = TEXT, .bytes = bytes, .length = (size_t)length});
}

static int is_text(const struct value *value, const char *text)
{
    return value->kind == TEXT && value->length == strlen(text) && !memcmp(value->bytes, text, value->length);
}

static int make_tuple(struct pickle *p, size_t first)
{
    size_t count = p->stack.count - first, at = p->members.count;
    int err = 0;
    for (size_t i = 0; i < count && !err; i++)
        err = add(&p->members, p->stack.list[first + i], p);
    p->stack.count = first;
    return err ? err : push(p, (struct value){.kind = TUPLE, .first = at, .length = count});
}

static const struct value *member(const struct pickle *p, const struct value *tuple, size_t i)
{
    return &p->members.list[tuple->first + i];
}

static int is_tuple(const struct value *value, size_t least)
{
    return value->kind == TUPLE && value->length >= least;
}

/* ---------------------------------------------------------------- names, and what calling them stands for */

static const struct {
    const char *module, *name;
    enum name which;
} names[] = {{"numpy.core.multiarray", "_reconstruct", RECONSTRUCT},
             {"numpy._core.multiarray", "_reconstruct", RECONSTRUCT},
             {"numpy", "ndarray", NDARRAY},
             {"numpy", "dtype", DTYPE},
             {"_codecs", "encode", ENCODE}};

static int push_name(struct pickle *p, const struct value *module, const struct value *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_text(module, names[i].module) && is_text(name, names[i].name))
            return push(p, (struct value){.kind = NAME, .number = names[i].which});
    char called[128];
    snprintf(called, sizeof called, "%.*s.%.*s", (int)(module->length < 60 ? module->length : 60),
             (const char *)module->bytes, (int)(name->length < 60 ? name->length : 60),
             (const char *)name->bytes);
    return sph_fail_of(SPH_EFORMAT, p->path, 0, called,
                       "the pickle calls %s, which is not allowed; only numpy arrays are", called);
}

static int read_line(struct pickle *p, struct value *out)
{
    const unsigned char *end = memchr(p->in.at, '\n', cursor_left(&p->in));
    if (!end)
        return bad(p, "the file ends within a name");
    *out = (struct value){.kind = TEXT, .bytes = p->in.at, .length = (size_t)(end - p->in.at)};
    cursor_take(&p->in, out->length + 1);
    return 0;
}

/* Protocol 2 has bytes as text of the characters 0 to 255. */
static int encode(struct pickle *p, const struct value *args)
{
    if (args->length != 2 || member(p, args, 0)->kind != TEXT || !is_text(member(p, args, 1), "latin1"))
        return bad(p, "encode is called with something other than latin1 text");
    struct cursor in = cursor_over(member(p, args, 0)->bytes, member(p, args, 0)->length);
    size_t count = 0, most = cursor_left(&in);
    if (!size_plus(&p->encoded, p->encoded, most) || p->encoded > p->total) /* one text again and again */
        return bad(p, "more text to encode than the file has");
    if (!mem_reserve((void **)&p->own, &p->own_room, p->own_count + 1, sizeof *p->own) ||
        !(p->own[p->own_count] = mem_get(most, 1)))
        return SPH_EMEMORY;
    unsigned char *to = p->own[p->own_count++];
    while (cursor_left(&in)) {
        unsigned first = (unsigned)cursor_big(&in, 1),
                 second = first < 0x80 ? 0x80 : (unsigned)cursor_big(&in, 1);
        if ((first >= 0x80 && first != 0xc2 && first != 0xc3) || (second & 0xc0) != 0x80 || in.spent)
            return bad(p, "text with characters beyond 255");
        to[count++] = (unsigned char)(first < 0x80 ? first : (first & 3) << 6 | (second & 0x3f));
    }
    return push(p, (struct value){.kind = TEXT, .bytes = to, .length = count});
}

/* dtype('u1', ...): a letter and the bytes of a number. */
static int make_type(struct pickle *p, const struct value *args)
{
    const struct value *word = args->length ? member(p, args, 0) : NULL;
    if (!word || word->kind != TEXT || word->length != 2 || !memchr("iuf", word->bytes[0], 3) ||
        !memchr("1248", word->bytes[1], 4))
        return bad(p, "a dtype that is not a plain number");
    return push_thing(p, TYPE,
                      (struct thing){.type = (char)word->bytes[0], .size = (size_t)(word->bytes[1] - '0')});
}

static int call(struct pickle *p)
{
    struct value args, name;
    int err = pop(p, &args);
    if (!err)
        err = pop(p, &name);
    if (err < 0)
        return err;
    if (name.kind != NAME || args.kind != TUPLE)
        return bad(p, "a call of an object without a name");
    switch ((enum name)name.number) {
    case RECONSTRUCT:
        if (!args.length || member(p, &args, 0)->kind != NAME || member(p, &args, 0)->number != NDARRAY)
            return bad(p, "_reconstruct of an object that is not an ndarray");
        return push_thing(p, ARRAY, (struct thing){0});
    case DTYPE:
        return make_type(p, &args);
    case ENCODE:
        return encode(p, &args);
    default:
        return bad(p, "a call of ndarray itself");
    }
}

/* (version, shape, dtype, is_fortran, bytes) */
static int fill_array(struct pickle *p, struct thing *array, const struct value *state)
{
    if (!is_tuple(state, 5) || !is_tuple(member(p, state, 1), 0) || member(p, state, 2)->kind != TYPE ||
        member(p, state, 3)->kind != NUMBER || member(p, state, 4)->kind != TEXT)
        return bad(p, "an array without a valid state");
    const struct value *shape = member(p, state, 1), *bytes = member(p, state, 4);
    const struct thing *type = thing_of(p, member(p, state, 2));
    size_t need = type->size;
    *array = (struct thing){.type = type->type,
                            .size = type->size,
                            .axes = shape->length,
                            .fortran = member(p, state, 3)->number != 0,
                            .bytes = bytes->bytes,
                            .length = bytes->length};
    if (array->axes > 2)
        return bad(p, "an array of more than two axes");
    for (size_t i = 0; i < array->axes; i++) {
        const struct value *side = member(p, shape, i);
        if (side->kind != NUMBER || side->number < 0 || !size_times(&need, need, (size_t)side->number))
            return bad(p, "the shape of an array is invalid");
        array->shape[i] = (size_t)side->number;
    }
    return need == bytes->length ? 0 : bad(p, "the number of bytes of an array does not match its shape");
}

static int build(struct pickle *p)
{
    struct value state, value;
    int err = pop(p, &state);
    if (!err)
        err = pop(p, &value);
    if (!err && value.kind == ARRAY)
        err = fill_array(p, thing_of(p, &value), &state);
    else if (!err && value.kind == TYPE && is_tuple(&state, 2) && is_text(member(p, &state, 1), ">") &&
             thing_of(p, &value)->size > 1)
        err = bad(p, "big-endian numbers");
    else if (!err && value.kind != TYPE)
        err = bad(p, "a state for an object that has none");
    return err ? err : push(p, value);
}

/* ---------------------------------------------------------------- lists and the dict */

static int append(struct pickle *p, size_t first)
{
    if (!first || p->stack.list[first - 1].kind != LIST)
        return bad(p, "list items without a list");
    struct thing *list = thing_of(p, &p->stack.list[first - 1]);
    for (size_t i = first; i < p->stack.count; i++) {
        if (p->stack.list[i].kind != NUMBER)
            return bad(p, "a list with items that are not whole numbers");
        if (!mem_reserve((void **)&list->numbers, &list->room, list->count + 1, sizeof *list->numbers))
            return SPH_EMEMORY;
        list->numbers[list->count++] = p->stack.list[i].number;
    }
    p->stack.count = first;
    return 0;
}

static int set_items(struct pickle *p, size_t first)
{
    if (!first || p->stack.list[first - 1].kind != DICT || (p->stack.count - first) % 2)
        return bad(p, "dict items without a dict");
    for (size_t i = first; i < p->stack.count; i += 2) {
        const struct value *key = &p->stack.list[i], *value = key + 1;
        if (key->kind != TEXT)
            return bad(p, "a key that is not a string");
        if (is_text(key, "data"))
            p->data = *value;
        else if (is_text(key, "labels"))
            p->labels = *value;
    }
    p->stack.count = first;
    return 0;
}

/* ---------------------------------------------------------------- the memo */

static int put(struct pickle *p, uint64_t at)
{
    if (!p->stack.count || at >= MEMO_MOST || at >= p->total) /* memory is in proportion to the file */
        return bad(p, "a memo entry that cannot be stored");
    while (p->memo.count <= at) {
        int err = add(&p->memo, (struct value){.kind = MARK}, p);
        if (err < 0)
            return err;
    }
    p->memo.list[at] = p->stack.list[p->stack.count - 1];
    return 0;
}

static int get(struct pickle *p, uint64_t at)
{
    if (at >= p->memo.count || p->memo.list[at].kind == MARK)
        return bad(p, "reads a memo entry that does not exist");
    return push(p, p->memo.list[at]);
}

/* ---------------------------------------------------------------- opcodes */

enum { OTHER = 2 }; /* an opcode of another function */

/* What is put onto the stack, and takes nothing from it. */
static int step_push(struct pickle *p, unsigned char code)
{
    switch (code) {
    case '(':
        return push(p, (struct value){.kind = MARK});
    case 'N':
        return push(p, (struct value){.kind = NONE});
    case 0x88: /* NEWTRUE, NEWFALSE */
    case 0x89:
        return push_number(p, code == 0x88);
    case 'J': /* BININT, BININT1, BININT2 */
        return push_number(p, (int32_t)(uint32_t)cursor_little(&p->in, 4));
    case 'K':
        return push_number(p, (int64_t)cursor_little(&p->in, 1));
    case 'M':
        return push_number(p, (int64_t)cursor_little(&p->in, 2));
    case 'X': /* BINUNICODE, SHORT_BINUNICODE, BINUNICODE8, SHORT_BINBYTES, BINBYTES, BINBYTES8 */
    case 'B':
        return push_text(p, cursor_little(&p->in, 4));
    case 0x8c:
    case 'C':
        return push_text(p, cursor_little(&p->in, 1));
    case 0x8d:
    case 0x8e:
        return push_text(p, cursor_little(&p->in, 8));
    case ']':
        return push_thing(p, LIST, (struct thing){0});
    case '}':
        return push(p, (struct value){.kind = DICT});
    case 'h': /* BINGET, LONG_BINGET */
        return get(p, cursor_little(&p->in, 1));
    case 'j':
        return get(p, cursor_little(&p->in, 4));
    default:
        return OTHER;
    }
}

/* The last `count` values, none of them a mark, as a tuple. */
static int step_tuple(struct pickle *p, size_t count)
{
    if (p->stack.count < count)
        return bad(p, "the stack is empty");
    for (size_t i = 1; i <= count; i++)
        if (p->stack.list[p->stack.count - i].kind == MARK)
            return bad(p, "the stack is empty");
    return make_tuple(p, p->stack.count - count);
}

/* What takes all above the last mark: TUPLE, APPENDS, SETITEMS. */
static int step_marked(struct pickle *p, unsigned char code)
{
    size_t first = 0;
    int err = above_mark(p, &first);
    if (!err && code == 't')
        err = make_tuple(p, first);
    if (err < 0)
        return err;
    memmove(p->stack.list + first - 1, p->stack.list + first,
            (p->stack.count - first) * sizeof *p->stack.list);
    p->stack.count--; /* over the mark */
    return code == 't' ? 0 : code == 'e' ? append(p, first - 1) : set_items(p, first - 1);
}

static int step_name(struct pickle *p, unsigned char code)
{
    struct value one, two;
    int err;
    if (code == 'c') {
        if ((err = read_line(p, &one)) < 0 || (err = read_line(p, &two)) < 0)
            return err;
        return push_name(p, &one, &two);
    }
    if ((err = pop(p, &two)) < 0 || (err = pop(p, &one)) < 0)
        return err;
    return one.kind == TEXT && two.kind == TEXT ? push_name(p, &one, &two)
                                                : bad(p, "a name that is not a string");
}

/* What takes from the stack. */
static int step_take(struct pickle *p, unsigned char code)
{
    switch (code) {
    case ')': /* EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3 */
    case 0x85:
    case 0x86:
    case 0x87:
        return step_tuple(p, code == ')' ? 0 : (size_t)(code - 0x84));
    case 't':
    case 'e':
    case 'u':
        return step_marked(p, code);
    case 'a': /* APPEND */
        return p->stack.count < 2 ? bad(p, "list items without a list") : append(p, p->stack.count - 1);
    case 's': /* SETITEM */
        return p->stack.count < 3 ? bad(p, "dict items without a dict") : set_items(p, p->stack.count - 2);
    case 'c': /* GLOBAL, STACK_GLOBAL */
    case 0x93:
        return step_name(p, code);
    case 'R':
        return call(p);
    case 'b':
        return build(p);
    case 'q': /* BINPUT, LONG_BINPUT, MEMOIZE */
        return put(p, cursor_little(&p->in, 1));
    case 'r':
        return put(p, cursor_little(&p->in, 4));
    case 0x94:
        return put(p, p->memo.count);
    default:
        return OTHER;
    }
}

/* One opcode; 1: the last. */
static int step(struct pickle *p)
{
    unsigned char code = (unsigned char)cursor_big(&p->in, 1);
    if (p->in.spent)
        return bad(p, "the file ends before the pickle is complete");
    if (code == 0x80) { /* PROTO */
        uint64_t version = cursor_little(&p->in, 1);
        return version >= 2 && version <= 4 ? 0 : bad(p, "the protocol is not 2, 3 or 4");
    }
    if (code == 0x95) { /* FRAME */
        cursor_little(&p->in, 8);
        return 0;
    }
    if (code == '.') /* STOP */
        return p->stack.count == 1 && p->stack.list[0].kind == DICT ? 1 : bad(p, "the pickle is not a dict");
    int done = step_push(p, code);
    if (done == OTHER)
        done = step_take(p, code);
    if (done == OTHER)
        return sph_fail_of(SPH_EFORMAT, p->path, 0, "opcode",
                           "byte %zu: opcode 0x%02x, which no pickle of arrays has",
                           p->total - cursor_left(&p->in) - 1, code);
    return done;
}

static void pickle_free(struct pickle *p)
{
    for (size_t i = 0; i < p->thing_count; i++)
        mem_free(p->things[i].numbers);
    for (size_t i = 0; i < p->own_count; i++)
        mem_free(p->own[i]);
    mem_free(p->things);
    mem_free(p->own);
    mem_free(p->stack.list);
    mem_free(p->members.list);
    mem_free(p->memo.list);
}

/* ---------------------------------------------------------------- images */

static struct array as_array(const struct pickle *p, const struct value *value)
{
    const struct thing *thing = thing_of(p, value);
    if (value->kind == LIST)
        return (struct array){.bytes = (const unsigned char *)thing->numbers,
                              .rows = thing->count,
                              .columns = 1,
                              .type = 'i',
                              .size = sizeof *thing->numbers};
    return (struct array){.bytes = thing->bytes,
                          .rows = thing->axes ? thing->shape[0] : 1,
                          .columns = thing->axes == 2 ? thing->shape[1] : 1,
                          .type = thing->type,
                          .size = thing->size,
                          .swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && thing->size > 1,
                          .fortran = thing->fortran};
}

static int take(struct images *images, const struct pickle *p)
{
    if (p->data.kind != ARRAY || !thing_of(p, &p->data)->bytes)
        return sph_fail_of(SPH_EFORMAT, p->path, 0, "data", "its dict has no array called data");
    if (images->with_labels && p->labels.kind != LIST &&
        (p->labels.kind != ARRAY || !thing_of(p, &p->labels)->bytes))
        return sph_fail_of(SPH_EFORMAT, p->path, 0, "labels", "its dict has no list or array called labels");
    struct array data = as_array(p, &p->data), labels = {0};
    if (images->with_labels)
        labels = as_array(p, &p->labels);
    if (images->with_labels && labels.rows != data.rows)
        return sph_fail_of(SPH_EFORMAT, p->path, 0, "labels", "%zu labels for %zu images", labels.rows,
                           data.rows);
    return images_take_arrays(images, p->path, &data, &labels);
}

static int read_pickle(struct images *images, const char *path)
{
    struct data_bytes bytes;
    int err = data_bytes_read(&bytes, path);
    if (err < 0)
        return err;
    struct pickle p = {.path = path,
                       .in = cursor_over(bytes.data, bytes.length),
                       .total = bytes.length,
                       .data = {.kind = NONE},
                       .labels = {.kind = NONE}};
    while (!(err = step(&p)))
        ;
    if (err > 0)
        err = take(images, &p);
    pickle_free(&p);
    data_bytes_free(&bytes);
    return err;
}

/* By its name, as they are distributed or as pickles are called. */
static int knows_pickle(const struct reader_file *file)
{
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    if (reader_ends(file, ".pickle") || reader_ends(file, ".pkl"))
        return 1;
    return !reader_ends(file, ".npz") &&
           (!strncmp(name, "train_data_batch_", 17) || !strncmp(name, "val_data", 8));
}

const struct reader reader_imagenet32_pickle = {.knows = knows_pickle,
                                                .read_images = read_pickle,
                                                .train = {"train_data_batch_%d"},
                                                .test = {"val_data"},
                                                .names = "classes.txt",
                                                .names_numbered = 1};
