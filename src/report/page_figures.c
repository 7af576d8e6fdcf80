/* SPDX-License-Identifier: MIT
 *
 * The figures of a folder in a page, and why others are not there. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "report/figures.h"
#include "report/pages.h"
#include "store/runfolder.h"

/* NAME of each NAME.svg and NAME.gp; caller frees with file_list_free. */
static int list_figures(char ***names, size_t *count, const char *dir)
{
    char **files;
    size_t file_count, kept = 0;
    int err = file_list(&files, &file_count, dir);
    for (size_t f = 0; f < file_count && !err; f++) {
        char *dot = strrchr(files[f], '.'), *name = files[f];
        files[f] = NULL;
        int figure = dot && dot > name && (!strcmp(dot, ".svg") || !strcmp(dot, ".gp"));
        if (figure)
            *dot = '\0';
        if (figure && (!kept || strcmp(files[kept - 1], name) != 0))
            files[kept++] = name;
        else
            mem_free(name);
    }
    *names = files;
    *count = kept;
    return err;
}

/* Why figures are not there, a line each. section: whether the report has one for figures already. */
static int add_notes(struct report *report, const char *dir, int section)
{
    char **files = NULL;
    size_t count = 0;
    int err = file_list(&files, &count, dir);
    for (size_t i = 0; i < count && !err; i++) {
        char *dot = strrchr(files[i], '.'), *path, *reason = NULL, *note = NULL;
        if (!dot || strcmp(dot, EXPERIMENT_NOTE) != 0)
            continue;
        if (!section++)
            report_section(report, "Figures");
        path = file_join(dir, files[i]);
        err = path ? file_read(&reason, NULL, path) : SPH_EMEMORY;
        if (!err && !(note = mem_format("Not drawn: %.*s: %s", (int)(dot - files[i]), files[i], reason)))
            err = SPH_EMEMORY;
        if (note)
            report_note(report, note);
        mem_free(path);
        mem_free(reason);
        mem_free(note);
    }
    file_list_free(files, count);
    return err;
}

/* Those of a kind, in the order of the list; which: what shows nothing trained, the others, those of no kind. */
enum { SCHEMATIC, TRAINED, OTHERS, KINDS };

/* What the figure shows, and of which seed. */
static int add_figure(struct report *report, const char *dir, const char *name, const char *caption)
{
    char *path = mem_format("%s/%s" EXPERIMENT_CAPTION, dir, name), *shown = NULL, *both = NULL;
    int err = path ? file_exists(path) ? file_read(&shown, NULL, path) : 0 : SPH_EMEMORY;
    if (!err && !(both = mem_format("%s%s%s", caption, shown && *shown ? " " : "", shown ? shown : "")))
        err = SPH_EMEMORY;
    if (!err)
        report_figure(report, dir, name, both);
    mem_free(both);
    mem_free(shown);
    mem_free(path);
    return err;
}

/* WORD, or WORD-SET of one of several sets. */
static int is_of(const char *name, const char *word)
{
    size_t length = strlen(word);
    return !strncmp(name, word, length) && (!name[length] || name[length] == '-');
}

/* one: of a single run. */
static int add_figures(struct report *report, const char *dir, char **names, size_t count, int which, int one)
{
    int err = 0;
    for (size_t k = 0; which != OTHERS && k < FIGURE_COUNT; k++)
        for (size_t i = 0; i < count && !err; i++)
            if (names[i] && is_of(names[i], figure_names[k]) &&
                (which == SCHEMATIC) == !figure_kinds[k]->needs) {
                const struct figure_kind *kind = figure_kinds[k];
                err = add_figure(report, dir, names[i],
                                 one && kind->caption_of_one ? kind->caption_of_one : kind->caption);
                mem_free(names[i]);
                names[i] = NULL;
            }
    for (size_t i = 0; which == OTHERS && i < count; i++)
        if (names[i])
            report_figure(report, dir, names[i], names[i]);
    return err;
}

int page_add_figures(struct report *report, const char *folder)
{
    char *dir = file_join(folder, EXPERIMENT_FIGURES), *config = file_join(folder, RUNFOLDER_CONFIG),
         **names = NULL;
    size_t count = 0;
    int err = dir && config ? 0 : SPH_EMEMORY, one = !err && file_exists(config);
    if (!err && file_exists(dir))
        err = list_figures(&names, &count, dir);
    if (!err && count)
        report_section(report, "Figures");
    for (int which = 0; which < KINDS && !err; which++)
        err = add_figures(report, dir, names, count, which, one);
    file_list_free(names, count);
    if (!err && file_exists(dir))
        err = add_notes(report, dir, count > 0);
    mem_free(config);
    mem_free(dir);
    return err;
}
