/* SPDX-License-Identifier: MIT
 *
 * The key `figures` of an experiment file. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/experiment.h"
#include "job/nodes.h"
#include "rows/data.h"

/* ---------------------------------------------------------------- the key */

int experiment_read_figures(struct sph_experiment *e, const char *path, yaml_document_t *document,
                            const yaml_node_t *node)
{
    const struct figure_kinds *kinds = e->kinds;
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
        int found = node_read_word(path, figure, "figures", kinds->words, kinds->count, kinds->choices);
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

/* ---------------------------------------------------------------- before the first job */

int experiment_check_alone(const struct sph_experiment *e)
{
    const struct figure_kinds *kinds = e->kinds;
    for (size_t i = 0; i < kinds->count; i++)
        if (e->wanted_figures >> i & 1 && !kinds->list[i].alone)
            return sph_fail_at(SPH_EFORMAT, e->path, "figures: %s needs data and methods to train",
                               kinds->words[i]);
    return 0;
}

static int has_axis(const struct sph_experiment *e, enum option_id id)
{
    for (size_t i = 0; i < e->axis_count; i++)
        if (e->axes[i].id == id)
            return 1;
    return 0;
}

int experiment_check_figures(const struct sph_experiment *e, const sph_data *data)
{
    const struct figure_kinds *kinds = e->kinds;
    for (size_t i = 0; i < kinds->count; i++) {
        if (!(e->wanted_figures >> i & 1))
            continue;
        const char *word = kinds->words[i], *record = kinds->list[i].record;
        const char *needs = kinds->list[i].lacks(data);
        if (needs)
            return sph_fail_line_key(SPH_EFORMAT, e->path, e->figures_line, "figures",
                                     "%s needs %s, found %zu feature%s%s", word, needs, data->features,
                                     data->features == 1 ? "" : "s",
                                     data->task == SPH_TASK_REGRESSION ? "" : " and classes");
        if (*record && !moments_want(&e->base->options.record, record))
            return sph_fail_line_key(SPH_EFORMAT, e->path, e->figures_line, "figures",
                                     "%s needs record: {%s: every|epoch|[steps]}", word, record);
        enum option_id axis = kinds->list[i].axis;
        if (axis != OPTION_COUNT && !has_axis(e, axis))
            return sph_fail_line_key(SPH_EFORMAT, e->path, e->figures_line, "figures",
                                     "%s needs a grid over %s", word, option_key(axis));
        if (experiment_lines(e) * e->method_count > kinds->most)
            return sph_fail_line_key(SPH_EFORMAT, e->path, e->figures_line, "figures",
                                     "%zu methods and points of the grid, at most %zu",
                                     experiment_lines(e) * e->method_count, kinds->most);
    }
    return 0;
}
