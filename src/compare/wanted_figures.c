/* SPDX-License-Identifier: MIT
 *
 * The keys `figures` and `letters` of an experiment file: a list of words, which the room report knows, and what
 * the panels of each are called. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/experiment.h"

int experiment_read_figures(struct sph_experiment *e, struct node node)
{
    const struct figure_list *known = e->drawn.known;
    unsigned wanted = 0;
    int err = node_check_list(node, "figures", "a list of figures");
    if (err < 0)
        return err;
    size_t count = 0;
    int *list = mem_get(node_count(node), sizeof *list);
    if (!list)
        return SPH_EMEMORY;
    for (size_t i = 0; i < node_count(node); i++) {
        int found = node_read_word(node_item(node, i), "figures", known->words, known->count, known->choices);
        if (found < 0) {
            mem_free(list);
            return found;
        }
        if (!(wanted >> found & 1))
            list[count++] = found;
        wanted |= 1u << found;
    }
    mem_free(e->drawn.words);
    e->drawn.words = list;
    e->drawn.count = count;
    e->drawn.bits = wanted;
    e->drawn.line = node_line(node);
    return 0;
}

/* A letter a panel, in reading order; '-': none. */
static int check_letters(struct node value)
{
    int err = node_check_text(value, "letters", "a letter for each panel, abcd");
    for (const char *at = err ? "" : node_text(value); *at && !err; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz-", *at))
            err = node_fail(value, "letters",
                            "found '%s', expected a letter from a to z for each panel, - for none",
                            node_text(value));
    return err;
}

int experiment_read_letters(struct sph_experiment *e, struct node node)
{
    const struct figure_list *known = e->drawn.known;
    int err = node_check_map(node, "letters", "figures, each with the letters of its panels");
    if (!err && !e->drawn.letters && !(e->drawn.letters = mem_get(known->count, sizeof *e->drawn.letters)))
        err = SPH_EMEMORY;
    for (size_t i = 0; !err && i < node_count(node); i++) {
        int found = node_read_word(node_key(node, i), "letters", known->words, known->count, known->choices);
        if (found < 0)
            return found;
        err = check_letters(node_value(node, i));
        if (!err)
            err = node_read_text(&e->drawn.letters[found], node_value(node, i), "letters", "abcd");
    }
    return err;
}

void experiment_yaml_figures(const struct sph_experiment *e, struct yaml_out *out)
{
    const struct figure_list *known = e->drawn.known;
    if (e->drawn.words) {
        yaml_key(out, "figures");
        yaml_list(out);
        for (size_t i = 0; i < e->drawn.count; i++)
            yaml_key(out, known->words[e->drawn.words[i]]);
        yaml_list_end(out);
    }
    if (!e->drawn.letters)
        return;
    yaml_key(out, "letters");
    yaml_map(out);
    for (size_t i = 0; i < known->count; i++)
        if (e->drawn.letters[i]) {
            yaml_key(out, known->words[i]);
            yaml_quoted(out, e->drawn.letters[i]);
        }
    yaml_map_end(out);
}

void experiment_figures_free(struct sph_experiment *e)
{
    for (size_t i = 0; e->drawn.letters && i < e->drawn.known->count; i++)
        mem_free(e->drawn.letters[i]);
    mem_free(e->drawn.letters);
    mem_free(e->drawn.words);
}
