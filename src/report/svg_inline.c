/* SPDX-License-Identifier: MIT
 *
 * SVG read as XML, tag by tag, and written as HTML's parser wants it. Only what is known to draw is let
 * through: a figure's script is the user's to edit, and the page promises its reader to load and run nothing.
 */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "report/html.h"

enum { SVG_DEEPEST = 256, SVG_ATTRIBUTES = 64 };

struct part {
    const char *chars;
    size_t length;
};

struct attribute {
    struct part name, value;
    char quote;
};

struct reader {
    const char *where, *begin, *at, *end;
    const char *prefix, *label;
    struct text *out;
    struct part open[SVG_DEEPEST]; /* elements around the place we are at */
    size_t depth;
    size_t dropped; /* the depth at which an element was left out; 0: none */
    int done;       /* the root is closed */
};

static int is(struct part part, const char *word)
{
    return part.length == strlen(word) && !memcmp(part.chars, word, part.length);
}

static int begins(struct part part, const char *word)
{
    return part.length >= strlen(word) && !memcmp(part.chars, word, strlen(word));
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int bad(const struct reader *r, const char *what)
{
    size_t line = 1;
    for (const char *c = r->begin; c < r->at; c++)
        line += *c == '\n';
    return sph_fail_line(SPH_EFORMAT, r->where, line, "%s", what);
}

/* ---------------------------------------------------------------- what is let through */

static int draws(struct part element)
{
    static const char *const known[] = {
        "svg",      "g",      "defs",           "symbol",         "use",     "path",    "polygon",
        "polyline", "line",   "rect",           "circle",         "ellipse", "text",    "tspan",
        "clipPath", "mask",   "linearGradient", "radialGradient", "stop",    "pattern", "marker",
        "image",    "filter", "feFlood",        "feComposite"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(element, known[i]))
            return 1;
    return 0;
}

static int is_address(struct part name)
{
    return is(name, "href") || is(name, "xlink:href");
}

/* A picture that is all in its address. */
static int is_picture(struct part value)
{
    return begins(value, "data:image/png;base64,") || begins(value, "data:image/jpeg;base64,");
}

/* Every url( of the value is one of the figure itself. */
static int stays_inside(struct part value)
{
    for (size_t i = 0; i + 4 <= value.length; i++)
        if (!strncasecmp(value.chars + i, "url(", 4) && (i + 4 == value.length || value.chars[i + 4] != '#'))
            return 0;
    return 1;
}

/* Escapes could hide an address, and no plot needs them in an attribute. */
static int keeps(const struct attribute *a, int root)
{
    static const char *const of_root[] = {"width", "height", "viewBox", "preserveAspectRatio",
                                          "x",     "y",      "version", "baseProfile",
                                          "role",  "style"};
    for (size_t i = 0; root && i < sizeof of_root / sizeof *of_root; i++)
        if (is(a->name, of_root[i]))
            return 0;
    if (begins(a->name, "xmlns") || begins(a->name, "aria") || is(a->name, "class") ||
        (a->name.length > 2 && !strncasecmp(a->name.chars, "on", 2)))
        return 0;
    if (is_address(a->name))
        return is_picture(a->value) || begins(a->value, "#");
    return !memchr(a->value.chars, '&', a->value.length) && !memchr(a->value.chars, '\\', a->value.length) &&
           stays_inside(a->value);
}

/* ---------------------------------------------------------------- writing */

static void add_attribute(struct reader *r, const struct attribute *a)
{
    const char *from = a->value.chars, *end = from + a->value.length;
    text_add(r->out, " %.*s=%c", (int)a->name.length, a->name.chars, a->quote);
    if (is(a->name, "id"))
        text_add(r->out, "%s", r->prefix);
    else if (is_address(a->name) && *from == '#') {
        text_add(r->out, "#%s", r->prefix);
        from++;
    }
    for (const char *at = from; at + 5 <= end; at++)
        if (!strncasecmp(at, "url(#", 5)) {
            html_add_escaped(r->out, from, (size_t)(at + 5 - from));
            text_add(r->out, "%s", r->prefix);
            from = at + 5;
        }
    html_add_escaped(r->out, from, (size_t)(end - from));
    text_add(r->out, "%c", a->quote);
}

static const struct attribute *find(const struct attribute *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (is(list[i].name, name))
            return &list[i];
    return NULL;
}

static int is_positive(struct part part)
{
    char number[32] = "";
    double value;
    if (!part.length || part.length >= sizeof number)
        return 0;
    memcpy(number, part.chars, part.length);
    return text_to_double(number, &value) && value > 0 && value < 1e6;
}

/* A length in pixels, without the unit; length 0: it is none. */
static struct part pixels(const struct attribute *a)
{
    struct part part = a ? a->value : (struct part){"", 0};
    if (part.length > 2 && !memcmp(part.chars + part.length - 2, "px", 2))
        part.length -= 2;
    return is_positive(part) ? part : (struct part){"", 0};
}

/* The four numbers of a viewBox. */
static int split_box(struct part value, struct part box[4])
{
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        while (at < value.length && (is_blank(value.chars[at]) || value.chars[at] == ','))
            at++;
        box[i] = (struct part){value.chars + at, 0};
        while (at < value.length && strchr("0123456789.+-eE", value.chars[at])) {
            box[i].length++;
            at++;
        }
    }
    return box[0].length && box[1].length && is_positive(box[2]) && is_positive(box[3]) && at == value.length;
}

/* The root has its size for a wide page, and a viewBox for a narrow one. */
static int add_root_size(struct reader *r, const struct attribute *list, size_t count)
{
    const struct attribute *view = find(list, count, "viewBox");
    struct part width = pixels(find(list, count, "width")), height = pixels(find(list, count, "height"));
    struct part box[4] = {{"0", 1}, {"0", 1}, width, height};
    if (view && !split_box(view->value, box))
        return bad(r, "a viewBox that is not four numbers");
    if (!box[2].length || !box[3].length)
        return bad(r, "no viewBox, nor width and height in pixels");
    if (!width.length || !height.length) {
        width = box[2];
        height = box[3];
    }
    text_add(
        r->out, " width=\"%.*s\" height=\"%.*s\" viewBox=\"%.*s %.*s %.*s %.*s\" role=\"img\" aria-label=\"",
        (int)width.length, width.chars, (int)height.length, height.chars, (int)box[0].length, box[0].chars,
        (int)box[1].length, box[1].chars, (int)box[2].length, box[2].chars, (int)box[3].length, box[3].chars);
    html_add_text(r->out, r->label);
    text_add(r->out, "\"");
    return 0;
}

static int add_element(struct reader *r, struct part name, const struct attribute *list, size_t count,
                       int closed)
{
    int root = r->depth == 0, err = 0;
    text_add(r->out, "<%.*s", (int)name.length, name.chars);
    if (root)
        err = add_root_size(r, list, count);
    for (size_t i = 0; i < count; i++)
        if (keeps(&list[i], root))
            add_attribute(r, &list[i]);
    text_add(r->out, closed ? "/>" : ">");
    return err;
}

/* Between tags: what is text; blanks that only lay out the file become one newline. */
static void add_between(struct reader *r, const char *from, const char *to)
{
    if (!r->depth || r->dropped || from == to)
        return;
    struct part inside = r->open[r->depth - 1];
    const char *c = from;
    while (c < to && is_blank(*c))
        c++;
    if (is(inside, "text") || is(inside, "tspan"))
        html_add_escaped(r->out, from, (size_t)(to - from));
    else if (c == to)
        text_add(r->out, memchr(from, '\n', (size_t)(to - from)) ? "\n" : " ");
}

/* ---------------------------------------------------------------- reading */

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static struct part read_name(struct reader *r)
{
    struct part name = {r->at, 0};
    while (r->at < r->end && *r->at && !is_blank(*r->at) && !strchr("<>/=\"'&", *r->at))
        r->at++;
    name.length = (size_t)(r->at - name.chars);
    return name;
}

/* Past the next `mark`. */
static int skip_past(struct reader *r, const char *mark, const char *what)
{
    const char *found = memmem(r->at, (size_t)(r->end - r->at), mark, strlen(mark));
    if (!found)
        return bad(r, what);
    r->at = found + strlen(mark);
    return 0;
}

static int read_attribute(struct reader *r, struct attribute *out)
{
    out->name = read_name(r);
    skip_blanks(r);
    if (!out->name.length || r->at == r->end || *r->at != '=')
        return bad(r, "an attribute without a value");
    r->at++;
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '"' && *r->at != '\''))
        return bad(r, "an attribute without quotes");
    out->quote = *r->at++;
    out->value.chars = r->at;
    const char *end = memchr(r->at, out->quote, (size_t)(r->end - r->at));
    if (!end || memchr(r->at, '<', (size_t)(end - r->at)))
        return bad(r, "an attribute that does not end");
    out->value.length = (size_t)(end - r->at);
    r->at = end + 1;
    return 0;
}

static int read_start(struct reader *r)
{
    struct attribute list[SVG_ATTRIBUTES];
    size_t count = 0;
    struct part name = read_name(r);
    int err = 0, closed = 0;
    if (!name.length)
        return bad(r, "a < that begins nothing");
    if (!r->depth && (r->done || !is(name, "svg")))
        return bad(r, "expected one <svg> and nothing beside it");
    for (;;) {
        skip_blanks(r);
        if (r->at == r->end)
            return bad(r, "a tag that does not end");
        if (*r->at == '/' || *r->at == '>')
            break;
        if (count == SVG_ATTRIBUTES)
            return bad(r, "too many attributes");
        if ((err = read_attribute(r, &list[count++])) < 0)
            return err;
    }
    if (*r->at == '/') {
        closed = 1;
        r->at++;
    }
    if (r->at == r->end || *r->at++ != '>')
        return bad(r, "a tag that does not end");
    if (!r->dropped && draws(name))
        err = add_element(r, name, list, count, closed);
    else if (!r->dropped && !closed)
        r->dropped = r->depth + 1;
    if (closed) {
        r->done |= !r->depth;
        return err;
    }
    if (r->depth == SVG_DEEPEST)
        return bad(r, "elements too deep in each other");
    r->open[r->depth++] = name;
    return err;
}

static int read_end(struct reader *r)
{
    struct part name = read_name(r);
    skip_blanks(r);
    if (r->at == r->end || *r->at++ != '>')
        return bad(r, "a closing tag that does not end");
    if (!r->depth || r->open[r->depth - 1].length != name.length ||
        memcmp(r->open[r->depth - 1].chars, name.chars, name.length) != 0)
        return bad(r, "a closing tag without its opening one");
    if (!r->dropped)
        text_add(r->out, "</%.*s>", (int)name.length, name.chars);
    else if (r->dropped == r->depth)
        r->dropped = 0;
    r->depth--;
    r->done |= !r->depth;
    return 0;
}

/* <!DOCTYPE svg ... [ ... ]>: entities declared there are not known to HTML, and would be shown as they
 * stand. */
static int skip_doctype(struct reader *r)
{
    while (r->at < r->end && *r->at != '>' && *r->at != '[')
        r->at++;
    if (r->at < r->end && *r->at == '[')
        return skip_past(r, "]>", "a doctype that does not end");
    return skip_past(r, ">", "a doctype that does not end");
}

static int read_tag(struct reader *r)
{
    struct part rest = {r->at, (size_t)(r->end - r->at)};
    if (begins(rest, "?"))
        return skip_past(r, "?>", "<? that does not end");
    if (begins(rest, "!--"))
        return skip_past(r, "-->", "a comment that does not end");
    if (begins(rest, "![CDATA[")) {
        const char *from = r->at + strlen("![CDATA[");
        int err = skip_past(r, "]]>", "CDATA that does not end");
        if (!err && r->depth && !r->dropped)
            html_add_text_part(r->out, from, (size_t)(r->at - 3 - from));
        return err;
    }
    if (begins(rest, "!"))
        return skip_doctype(r);
    if (begins(rest, "/")) {
        r->at++;
        return read_end(r);
    }
    return read_start(r);
}

static int read_all(struct reader *r)
{
    int err = 0;
    while (r->at < r->end && !err) {
        const char *tag = memchr(r->at, '<', (size_t)(r->end - r->at));
        add_between(r, r->at, tag ? tag : r->end);
        r->at = tag ? tag + 1 : r->end;
        if (tag)
            err = read_tag(r);
    }
    return err < 0 ? err : r->done && !r->depth ? 0 : bad(r, "it ends in the middle");
}

int svg_inline(struct text *out, const char *where, const char *bytes, size_t length, const char *prefix,
               const char *label)
{
    size_t before = out->length;
    struct reader reader = {.where = where,
                            .begin = bytes,
                            .at = bytes,
                            .end = bytes + length,
                            .prefix = prefix,
                            .label = label,
                            .out = out};
    int err = read_all(&reader);
    if (err < 0 && out->chars && !out->failed) {
        out->length = before;
        out->chars[before] = '\0';
    }
    return err < 0 ? err : out->failed ? SPH_EMEMORY : 0;
}
