/* SPDX-License-Identifier: MIT */
#include "report/figure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/gnuplot.h"
#include "report/scripts.h"

struct part {
    char *name;
    struct text data;
};

struct figure {
    char *dir, *name, *script;
    struct text variables;
    struct part *parts;
    size_t count, capacity;
    int failed; /* an allocation failed */
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

static int is_plain(const char *name)
{
    return *name && !name[strspn(name, letters)];
}

int figure_new(struct figure **out, const char *dir, const char *name, const char *script)
{
    *out = NULL;
    if (!is_plain(name))
        return sph_fail_of(SPH_EARG, "", 0, name, "figure '%s': expected a name of letters, digits, - and _",
                           name);
    struct figure *figure = mem_get(1, sizeof *figure);
    if (!figure)
        return SPH_EMEMORY;
    figure->dir = mem_text(dir);
    figure->name = mem_text(name);
    figure->script = mem_text(script);
    if (!figure->dir || !figure->name || !figure->script) {
        figure_free(figure);
        return SPH_EMEMORY;
    }
    *out = figure;
    return 0;
}

void figure_free(struct figure *figure)
{
    if (!figure)
        return;
    for (size_t i = 0; i < figure->count; i++) {
        mem_free(figure->parts[i].name);
        text_free(&figure->parts[i].data);
    }
    mem_free(figure->parts);
    text_free(&figure->variables);
    mem_free(figure->script);
    mem_free(figure->name);
    mem_free(figure->dir);
    mem_free(figure);
}

int figure_script(struct figure *figure, const char *script)
{
    mem_free(figure->script);
    figure->script = mem_text(script);
    return figure->script ? 0 : SPH_EMEMORY;
}

/* ---------------------------------------------------------------- variables and data */

static void add_number(struct text *out, double value)
{
    if (isfinite(value))
        text_add(out, "%.9g", value);
    else
        text_add(out, "NaN");
}

void figure_number(struct figure *figure, const char *key, double value)
{
    text_add(&figure->variables, "%s = ", key);
    add_number(&figure->variables, value);
    text_add(&figure->variables, "\n");
}

/* In double quotes, gnuplot would run commands in backquotes, so the value is in single quotes. */
static void add_quoted(struct text *out, const char *value)
{
    text_add(out, "'");
    for (; *value; value++)
        text_add(out, *value == '\'' ? "''" : "%c", *value == '\n' || *value == '\r' ? ' ' : *value);
    text_add(out, "'");
}

void figure_text(struct figure *figure, const char *key, const char *value)
{
    text_add(&figure->variables, "%s = ", key);
    add_quoted(&figure->variables, value);
    text_add(&figure->variables, "\n");
}

static struct text *data_of(struct figure *figure)
{
    assert(figure->count || figure->failed);
    return figure->failed ? NULL : &figure->parts[figure->count - 1].data;
}

void figure_columns(struct figure *figure, const char *part, const char *header)
{
    assert(is_plain(part));
    char *name = mem_text(part);
    if (figure->failed || !name ||
        !mem_reserve((void **)&figure->parts, &figure->capacity, figure->count + 1, sizeof *figure->parts)) {
        mem_free(name);
        figure->failed = 1;
        return;
    }
    figure->parts[figure->count++] = (struct part){.name = name};
    if (header)
        text_add(data_of(figure), "# %s\n", header);
}

void figure_row(struct figure *figure, const double *values, size_t count)
{
    struct text *data = data_of(figure);
    for (size_t i = 0; data && i < count; i++) {
        add_number(data, values[i]);
        text_add(data, i + 1 < count ? " " : "\n");
    }
}

void figure_gap(struct figure *figure, int lines)
{
    struct text *data = data_of(figure);
    for (int i = 0; data && i < lines; i++)
        text_add(data, "\n");
}

/* ---------------------------------------------------------------- the script */

/* Appends a script from $SPHERELU_FIGURES, or the built-in one. */
static int add_script(struct text *out, const char *name)
{
    const char *dir = getenv("SPHERELU_FIGURES");
    int err = 0;
    if (dir && *dir && !file_is_directory(dir))
        return sph_fail_key(SPH_EIO, "SPHERELU_FIGURES", "%s: no such folder", dir);
    if (dir && *dir) {
        char *path = mem_format("%s/%s.gp", dir, name), *chars = NULL;
        if (!path)
            return SPH_EMEMORY;
        int there = file_exists(path);
        if (there && !(file_is_own(dir) && file_is_own(path)))
            err = sph_fail_key(SPH_EIO, "SPHERELU_FIGURES",
                               "%s: another user can write to it, and gnuplot would run its commands; make "
                               "it writable only by you",
                               path);
        if (there && !err && !(err = file_read(&chars, NULL, path)))
            text_add(out, "%s", chars);
        mem_free(chars);
        mem_free(path);
        if (there)
            return err ? err : out->failed ? SPH_EMEMORY : 0;
    }
    const struct figure_script *script = figure_script_find(name);
    if (script) {
        text_add(out, "%s", (const char *)script->chars);
        return out->failed ? SPH_EMEMORY : 0;
    }
    return sph_fail_of(SPH_EARG, "", 0, name, "figure script '%s': no such file in figures/", name);
}

static char *path_of(const struct figure *figure, const char *ending)
{
    return mem_format("%s/%s.%s", figure->dir, figure->name, ending);
}

static int write_script(const struct figure *figure)
{
    struct text script = {0};
    text_add(&script,
             "# %s, by spherelu %s. In this folder: gnuplot %s.gp\n"
             "# Another format: gnuplot -e \"format='svg'\" %s.gp   (png, svg, pdf)\n"
             "# spherelu figures writes this file again: edit a copy, or scripts in a folder that "
             "SPHERELU_FIGURES names\n\n"
             "name = '%s'\n",
             figure->name, sph_version(), figure->name, figure->name, figure->name);
    if (figure->variables.length)
        text_add_bytes(&script, figure->variables.chars, figure->variables.length);
    text_add(&script, "\n");
    int err = add_script(&script, "style");
    text_add(&script, "\n");
    if (!err)
        err = add_script(&script, figure->script);
    char *path = path_of(figure, "gp");
    if (!err && (script.failed || !path))
        err = SPH_EMEMORY;
    if (!err)
        err = file_replace_with(path, script.chars, script.length);
    mem_free(path);
    text_free(&script);
    return err;
}

static int write_parts(const struct figure *figure)
{
    int err = 0;
    for (size_t i = 0; i < figure->count && !err; i++) {
        const struct part *part = &figure->parts[i];
        char *path = mem_format("%s/%s.%s.dat", figure->dir, figure->name, part->name);
        if (part->data.failed || !path)
            err = SPH_EMEMORY;
        else
            err = file_replace_with(path, part->data.chars ? part->data.chars : "", part->data.length);
        mem_free(path);
    }
    return err;
}

static int write_all(const struct figure *figure)
{
    if (figure->failed || figure->variables.failed)
        return SPH_EMEMORY;
    int err = file_make_directory(figure->dir);
    if (!err)
        err = write_parts(figure);
    return err ? err : write_script(figure);
}

/* ---------------------------------------------------------------- the pictures */

static int no_gnuplot(const struct figure *figure)
{
    return sph_fail_of(FIGURE_NO_GNUPLOT, "", 0, "gnuplot",
                       "gnuplot is not installed: %s contains data and scripts but no pictures; install it "
                       "(apt install gnuplot-nox) and run the command again",
                       figure->dir);
}

/* gnuplot writes into a private folder, then the complete picture gets its name NAME.FORMAT. */
static int draw(const struct figure *figure, const char *format)
{
    struct file_private folder;
    char *part = NULL, *commands = NULL, *bytes = NULL;
    char *path = path_of(figure, format), *script = path_of(figure, "gp");
    size_t length = 0;
    int err = file_private_begin(&folder, figure->dir);
    if (err < 0)
        goto out;
    part = file_join(folder.path, FILE_PRIVATE_NAME);
    commands = mem_format("format='%s'; output='%s/" FILE_PRIVATE_NAME "'", format, folder.name);
    err = SPH_EMEMORY;
    if (!part || !path || !script || !commands)
        goto out;
    if ((err = gnuplot_run(figure->dir, folder.parent, script + strlen(figure->dir) + 1, commands)) != 0)
        goto out;
    if (file_exists(part) && (err = file_read(&bytes, &length, part)) != 0)
        goto out;
    err = length ? file_replace_with(path, bytes, length)
                 : sph_fail_at(SPH_EIO, script, "gnuplot drew nothing");
out:
    file_private_end(&folder);
    mem_free(bytes);
    mem_free(commands);
    mem_free(script);
    mem_free(path);
    mem_free(part);
    return err;
}

int figure_draw(struct figure *figure)
{
    int err = write_all(figure);
    if (!err)
        err = draw(figure, "png");
    if (!err)
        err = draw(figure, "svg");
    if (!err)
        err = draw(figure, "pdf");
    return err == 1 ? no_gnuplot(figure) : err;
}

int figure_animate(struct figure *figure, size_t frames, double seconds)
{
    assert(frames);
    figure_number(figure, "frames", (double)frames);
    figure_number(figure, "seconds", seconds);
    int err = figure_draw(figure);
    if (err)
        return err;
    err = draw(figure, "gif");
    return err == 1 ? no_gnuplot(figure) : err;
}
