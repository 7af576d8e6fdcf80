/* SPDX-License-Identifier: MIT
 *
 * The figures of a folder on a page, and why others are missing. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "report/figures.h"
#include "report/pages.h"
#include "store/runfolder.h"

/* NAME of each NAME.svg or NAME.gp; caller frees with mem_free_texts. */
static int list_figures(char ***names, size_t *count, const char *dir)
{
    char **files = NULL;
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

/* NAME.ending of the folder, the reason or the caption of a figure; caller frees. */
static char *read_words(struct report *report, const char *dir, const char *name, const char *ending)
{
    char *path = mem_format("%s/%s%s", dir, name, ending), *words = NULL;
    report_fail(report, !path ? SPH_EMEMORY : file_exists(path) ? file_read(&words, NULL, path) : 0);
    mem_free(path);
    return words;
}

/* Reasons why figures are missing, one line each. section: the report already has a section for figures. */
static void add_notes(struct report *report, const char *dir, int section)
{
    char **files = NULL;
    size_t count = 0;
    report_fail(report, file_list(&files, &count, dir));
    for (size_t i = 0; i < count; i++) {
        char *dot = strrchr(files[i], '.');
        if (!dot || strcmp(dot, EXPERIMENT_NOTE) != 0)
            continue;
        *dot = '\0';
        if (!section++)
            report_section(report, "Figures");
        char *reason = read_words(report, dir, files[i], EXPERIMENT_NOTE);
        report_note(report, "Not drawn: %s: %s", files[i], reason ? reason : "");
        mem_free(reason);
    }
    mem_free_texts(files, count);
}

/* NAME is WORD, or WORD-SET for one of several datasets. */
static int is_of(const char *name, const char *word)
{
    size_t length = strlen(word);
    return !strncmp(name, word, length) && (!name[length] || name[length] == '-');
}

/* Adds the figures of one kind with their captions, and removes them from names. one: of a single run. */
static void add_kind(struct report *report, const char *dir, char **names, size_t count, size_t k, int one)
{
    const struct figure_kind *kind = figure_kinds[k];
    for (size_t i = 0; i < count; i++) {
        if (!names[i] || !is_of(names[i], figure_names[k]))
            continue;
        char *shown = read_words(report, dir, names[i], EXPERIMENT_CAPTION);
        char *caption =
            mem_format("%s%s%s", one && kind->caption_of_one ? kind->caption_of_one : kind->caption,
                       shown && *shown ? " " : "", shown ? shown : "");
        report_fail(report, caption ? 0 : SPH_EMEMORY);
        report_figure(report, dir, names[i], caption);
        mem_free(caption);
        mem_free(shown);
        mem_free(names[i]);
        names[i] = NULL;
    }
}

void page_add_figures(struct report *report, const char *folder)
{
    char *dir = file_join(folder, EXPERIMENT_FIGURES), *config = file_join(folder, RUNFOLDER_CONFIG),
         **names = NULL;
    size_t count = 0;
    int there = dir && config && file_exists(dir);
    report_fail(report, !dir || !config ? SPH_EMEMORY : there ? list_figures(&names, &count, dir) : 0);
    if (count)
        report_section(report, "Figures");
    for (int trained = 0; count && trained < 2; trained++) /* figures without training come first */
        for (size_t k = 0; k < FIGURE_COUNT; k++)
            if (trained == (figure_kinds[k]->needs != 0))
                add_kind(report, dir, names, count, k, file_exists(config));
    for (size_t i = 0; i < count; i++)
        if (names[i])
            report_figure(report, dir, names[i], names[i]);
    mem_free_texts(names, count);
    if (there)
        add_notes(report, dir, count > 0);
    mem_free(config);
    mem_free(dir);
}
