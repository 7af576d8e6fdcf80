/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "report/html.h"
#include "report/scripts.h"

struct report {
    char *title, *subtitle;
    struct text contents, body;
    size_t sections, figures, charts;
    int in_fold;
    int err; /* the first failure */
};

/* The browser enforces that the page loads nothing. */
#define REPORT_POLICY "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
#define REPORT_SCRIPT "charts.js"

int report_new(struct report **out, const char *title, const char *subtitle)
{
    struct report *report = mem_get(1, sizeof *report);
    *out = report;
    if (report && (report->title = mem_text(title)) && (!subtitle || (report->subtitle = mem_text(subtitle))))
        return 0;
    report_free(report);
    *out = NULL;
    return SPH_EMEMORY;
}

void report_free(struct report *report)
{
    if (!report)
        return;
    mem_free(report->title);
    mem_free(report->subtitle);
    text_free(&report->contents);
    text_free(&report->body);
    mem_free(report);
}

void report_fail(struct report *report, int err)
{
    if (err < 0 && !report->err)
        report->err = err;
}

/* ---------------------------------------------------------------- words */

static void add_element(struct text *out, const char *open, const char *text, const char *close)
{
    text_add(out, "%s", open);
    html_add_text(out, text);
    text_add(out, "%s\n", close);
}

/* words <- what the variable arguments after `format` print. */
#define FORMAT(words, format)                                                                                \
    struct text words = {0};                                                                                 \
    do {                                                                                                     \
        va_list format_args;                                                                                 \
        va_start(format_args, format);                                                                       \
        text_add_list(&words, format, format_args);                                                          \
        va_end(format_args);                                                                                 \
    } while (0)

/* An element with these words; frees them. */
static void take_words(struct report *report, const char *open, struct text *words, const char *close)
{
    if (words->failed)
        report_fail(report, SPH_EMEMORY);
    else if (words->chars)
        add_element(&report->body, open, words->chars, close);
    text_free(words);
}

void report_section(struct report *report, const char *format, ...)
{
    FORMAT(words, format);
    report_unfold(report);
    text_add(&report->body, "%s", report->sections++ ? "</section>\n\n" : "");
    text_add(&report->contents, "<li><a href=\"#part-%zu\">", report->sections);
    add_element(&report->contents, "", words.chars ? words.chars : "", "</a></li>");
    text_add(&report->body, "<section id=\"part-%zu\">\n", report->sections);
    take_words(report, "<h2>", &words, "</h2>");
}

void report_text(struct report *report, struct text *words)
{
    take_words(report, "<p>", words, "</p>");
}

void report_paragraph(struct report *report, const char *format, ...)
{
    FORMAT(words, format);
    report_text(report, &words);
}

void report_note(struct report *report, const char *format, ...)
{
    FORMAT(words, format);
    take_words(report, "<p class=\"note\">", &words, "</p>");
}

void report_warning(struct report *report, const char *format, ...)
{
    FORMAT(words, format);
    take_words(report, "<p class=\"warning\" role=\"note\"><strong>Warning.</strong> ", &words, "</p>");
}

void report_list(struct report *report, const struct text *lines)
{
    if (!lines->length)
        return;
    text_add(&report->body, "<ul>\n");
    for (const char *line = lines->chars; *line;) {
        size_t length = strcspn(line, "\n");
        text_add(&report->body, "<li>");
        html_add_text_part(&report->body, line, length);
        text_add(&report->body, "</li>\n");
        line += length + (line[length] == '\n');
    }
    text_add(&report->body, "</ul>\n");
}

void report_notes(struct report *report, const struct text *lines)
{
    const char *between = "<p class=\"note\">";
    for (const char *line = lines->chars; line && *line;) {
        size_t length = strcspn(line, "\n");
        text_add(&report->body, "%s", between);
        html_add_typeset(&report->body, line, length);
        between = " ";
        line += length + (line[length] == '\n');
    }
    text_add(&report->body, "%s", lines->length ? "</p>\n" : "");
}

void report_fold(struct report *report, const char *format, ...)
{
    FORMAT(words, format);
    report_unfold(report);
    report->in_fold = 1;
    take_words(report, "<details><summary>", &words, "</summary>\n<div class=\"folded\">");
}

void report_unfold(struct report *report)
{
    if (report->in_fold)
        text_add(&report->body, "</div></details>\n");
    report->in_fold = 0;
}

void report_code(struct report *report, const char *caption, const char *text)
{
    if (caption)
        add_element(&report->body, "<p class=\"code\">", caption, "</p>");
    /* HTML ignores a first newline, so one is added for the text's own to be kept. */
    add_element(&report->body, "<pre tabindex=\"0\">\n", text, "</pre>");
}

/* An option is not torn after its dashes. */
void report_command(struct report *report, const char *caption, const char *command)
{
    struct text *out = &report->body;
    add_element(out, "<p class=\"code\">", caption, "</p>");
    text_add(out, "<pre tabindex=\"0\">\n");
    for (const char *next; *command; command = next) {
        size_t length = strcspn(command, " ");
        int option = *command == '-';
        next = command + length + (command[length] == ' ');
        text_add(out, "%s", option ? "<span class=\"option\">" : "");
        html_add_text_part(out, command, length);
        text_add(out, "%s%s", option ? "</span>" : "", command[length] ? " " : "");
    }
    text_add(out, "</pre>\n");
}

/* ---------------------------------------------------------------- figures */

void report_table(struct report *report, const struct table *table)
{
    report_fail(report, table_write(table, TABLE_HTML, &report->body));
}

void report_take_table(struct report *report, struct table *table)
{
    report_table(report, table);
    table_free(table);
}

/* A browser shows nothing of an SVG that was cut short. */
static int is_whole(const char *svg, size_t length)
{
    static const char end[] = "</svg>";
    while (length && strchr(" \t\r\n", svg[length - 1]))
        length--;
    return length >= strlen(end) && !memcmp(svg + length - strlen(end), end, strlen(end));
}

/* Much wider than high, according to the attributes at the beginning of the SVG. */
static int is_wide(const char *svg, size_t length)
{
    char head[400] = "";
    memcpy(head, svg, length < sizeof head ? length : sizeof head - 1);
    const char *width = strstr(head, " width=\""), *height = strstr(head, " height=\"");
    return width && height &&
           strtod(width + strlen(" width=\""), NULL) > 1.8 * strtod(height + strlen(" height=\""), NULL);
}

/* dir/name.ending as an image of at most `most` bytes. 1: it is in the page. */
static int add_picture(struct report *report, const char *dir, const char *name, const char *ending,
                       size_t most, const char *label)
{
    char *path = mem_format("%s/%s.%s", dir, name, ending), *bytes = NULL;
    size_t length = 0;
    int svg = !strcmp(ending, "svg");
    report_fail(report, !path ? SPH_EMEMORY : file_exists(path) ? file_read(&bytes, &length, path) : 0);
    int added = bytes && length && length <= most && (!svg || is_whole(bytes, length));
    if (added) {
        text_add(&report->body, "<img%s alt=\"", svg && is_wide(bytes, length) ? " class=\"wide\"" : "");
        html_add_text(&report->body, label);
        text_add(&report->body, "\" src=\"data:image/%s;base64,", svg ? "svg+xml" : ending);
        html_add_base64(&report->body, bytes, length);
        text_add(&report->body, "\">");
    }
    mem_free(bytes);
    mem_free(path);
    return added;
}

static void add_link(struct text *out, const char *folder, const char *file, const char *word, size_t length)
{
    text_add(out, "<a href=\"");
    html_add_path(out, folder);
    text_add(out, "/");
    html_add_path(out, file);
    text_add(out, "\">");
    html_add_text_part(out, word, length);
    text_add(out, "</a>");
}

enum { LINK_KINDS = 7, LINKS_UNFOLDED = 6 };

/* The text of a link to a file with that ending, if the file is of this kind: pictures and script come first, then the
 * data of each part with the name of the part. Returns the length of the text, or 0 for a file of another kind. */
static size_t link_word(const char *ending, size_t kind, const char **word)
{
    static const char *const known[LINK_KINDS - 1][2] = {{".pdf", "PDF"},           {".svg", "SVG"},
                                                         {".png", "PNG"},           {".gif", "animation"},
                                                         {".gp", "gnuplot script"}, {".dat", "data"}};
    size_t length = strlen(ending);
    if (kind < LINK_KINDS - 1) {
        *word = known[kind][1];
        return strcmp(ending, known[kind][0]) ? 0 : strlen(*word);
    }
    *word = ending + 1;
    return *ending == '.' && length > 5 && !strcmp(ending + length - 4, ".dat") ? length - 5 : 0;
}

/* Returns the number of links. */
static size_t add_links_of(struct text *out, const char *folder, char *const *files, size_t count,
                           const char *name, size_t kind, size_t before)
{
    size_t stem = strlen(name), links = 0, length;
    const char *word;
    for (size_t i = 0; i < count; i++)
        if (!strncmp(files[i], name, stem) && (length = link_word(files[i] + stem, kind, &word))) {
            text_add(out, "%s", before + links++ ? " · " : "");
            add_link(out, folder, files[i], word, length);
        }
    return links;
}

static void add_links(struct report *report, const char *dir, const char *name)
{
    const char *slash = strrchr(dir, '/'), *folder = slash ? slash + 1 : dir;
    struct text files = {0}, data = {0};
    char **names = NULL;
    size_t count = 0, links = 0, parts;
    report_fail(report, file_is_directory(dir) ? file_list(&names, &count, dir) : 0);
    for (size_t kind = 0; kind + 1 < LINK_KINDS; kind++)
        links += add_links_of(&files, folder, names, count, name, kind, links);
    parts = add_links_of(&data, folder, names, count, name, LINK_KINDS - 1, 0);
    if (links)
        text_add(&report->body, "\n<div class=\"files\">%s</div>", files.chars ? files.chars : "");
    if (parts > LINKS_UNFOLDED)
        text_add(&report->body, "\n<details class=\"files\"><summary>%zu data files</summary>%s</details>",
                 parts, data.chars ? data.chars : "");
    else if (parts)
        text_add(&report->body, "\n<div class=\"files\">data: %s</div>", data.chars ? data.chars : "");
    report->body.failed |= files.failed | data.failed;
    text_free(&files);
    text_free(&data);
    mem_free_texts(names, count);
}

void report_figure(struct report *report, const char *dir, const char *name, const char *caption)
{
    const char *label = caption && *caption ? caption : name;
    struct text *out = &report->body;
    report->figures++;
    text_add(out, "<figure id=\"figure-%zu\">\n<div class=\"picture\">", report->figures);
    int moves = add_picture(report, dir, name, "gif", REPORT_MOVING_MOST, label);
    if (!add_picture(report, dir, name, "svg", REPORT_SVG_MOST, label) && !moves &&
        !add_picture(report, dir, name, "png", SIZE_MAX, label)) {
        text_add(out, "<p class=\"absent\">Not drawn yet: with gnuplot installed, <code>gnuplot ");
        html_add_text(out, name);
        text_add(out, ".gp</code> in its folder draws it.</p>");
    }
    text_add(out, "</div>\n<figcaption><strong>Figure %zu.</strong> ", report->figures);
    html_add_text(out, label);
    add_links(report, dir, name);
    text_add(out, "</figcaption>\n</figure>\n");
}

/* ---------------------------------------------------------------- the page */

const struct figure_script *figure_script_find(const char *name)
{
    const struct figure_script *script = figure_scripts;
    while (script->name && strcmp(script->name, name) != 0)
        script++;
    return script->name ? script : NULL;
}

static void add_style(struct text *out, const char *name)
{
    const struct figure_script *style = figure_script_find(name);
    assert(style);
    text_add(out, "<style>\n%s</style>\n", (const char *)style->chars);
}

/* The policy names the page's only script by its hash, so a browser runs no other script. */
static void add_policy(struct text *out, const struct figure_script *script)
{
    text_add(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"" REPORT_POLICY);
    if (script) {
        text_add(out, "; script-src 'sha256-");
        html_add_base64(out, script->sha256, SCRIPT_SHA256);
        text_add(out, "'");
    }
    text_add(out, "\">\n");
}

static void add_page(struct report *report, struct text *out)
{
    const struct figure_script *script = report->charts ? figure_script_find(REPORT_SCRIPT) : NULL;
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n");
    add_policy(out, script);
    text_add(out, "<meta name=\"generator\" content=\"spherelu\">\n");
    add_element(out, "<title>", report->title, "</title>");
    if (script)
        add_style(out, "uplot.css");
    add_style(out, "report.css");
    text_add(out, "</head>\n<body>\n<header>\n");
    add_element(out, "<p class=\"kind\">", "spherelu report", "</p>");
    add_element(out, "<h1>", report->title, "</h1>");
    if (report->subtitle)
        add_element(out, "<p class=\"subtitle\">", report->subtitle, "</p>");
    if (report->sections > 1)
        text_add(out, "<nav aria-label=\"Contents\"><ul>\n%s</ul></nav>\n", report->contents.chars);
    text_add(out, "</header>\n\n<main>\n");
    text_add_bytes(out, report->body.chars ? report->body.chars : "", report->body.length);
    text_add(out, "%s</main>\n", report->sections ? "</section>\n" : "");
    if (script)
        text_add(out, "<script>%s</script>\n", (const char *)script->chars);
    text_add(out, "</body>\n</html>\n");
}

int report_write(struct report *report, const char *path)
{
    struct text page = {0};
    report_unfold(report);
    report_fail(report, report->body.failed || report->contents.failed ? SPH_EMEMORY : 0);
    if (!report->err)
        add_page(report, &page);
    report_fail(report, page.failed ? SPH_EMEMORY : 0);
    report_fail(report, report->err ? 0 : file_replace_with(path, page.chars, page.length));
    text_free(&page);
    return report->err;
}

void report_chart(struct report *report, const struct chart *chart)
{
    report->charts++;
    report_fail(report, chart_add(&report->body, chart));
}
