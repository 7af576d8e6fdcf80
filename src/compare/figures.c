/* SPDX-License-Identifier: MIT
 *
 * The key `figures` of an experiment file: a list of words, which the room report knows. */
#include "base/error.h"
#include "base/memory.h"
#include "compare/experiment.h"

int experiment_read_figures(struct sph_experiment *e, struct node node)
{
    const struct figure_list *known = e->figure_list;
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
    mem_free(e->figures);
    e->figures = list;
    e->figure_count = count;
    e->wanted_figures = wanted;
    e->figures_line = node_line(node);
    return 0;
}
