/* SPDX-License-Identifier: MIT
 *
 * The key `figures` of an experiment file: a list of words, which the room report knows. */
#include "base/error.h"
#include "base/memory.h"
#include "compare/experiment.h"
#include "job/nodes.h"

int experiment_read_figures(struct sph_experiment *e, const char *path, yaml_document_t *document,
                            const yaml_node_t *node)
{
    const struct figure_list *known = e->figure_list;
    unsigned wanted = 0;
    if (node->type != YAML_SEQUENCE_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "figures",
                                 "found %s, expected a list of figures",
                                 node->type == YAML_MAPPING_NODE ? "a mapping" : "one value");
    const yaml_node_item_t *item = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    size_t count = 0;
    int *list = mem_get((size_t)(end - item), sizeof *list);
    if (!list)
        return SPH_EMEMORY;
    for (; item < end; item++) {
        const yaml_node_t *figure = yaml_document_get_node(document, *item);
        int found = node_read_word(path, figure, "figures", known->words, known->count, known->choices);
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
    e->figures_line = path == e->path ? node_line(node) : 0;
    return 0;
}
