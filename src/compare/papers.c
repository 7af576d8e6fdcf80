/* SPDX-License-Identifier: MIT
 *
 * The key `papers` of an experiment file: what was printed elsewhere, to stand beside what came out here.
 *
 *     papers:
 *       max_move: {SP: "up to 2^16", GmP: "below 1"}
 *       rmse: {SP: "0.5"}
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/config.h"
#include "compare/experiment.h"
#include "compare/motion.h"
#include "job/nodes.h"

/* Numbers of the motion table, then scores. */
#define PAPER_WORD(id, word, help) word,
static const char *const metrics[] = {MOTION_NUMBERS(PAPER_WORD) SPH_METRICS(PAPER_WORD)};
#define PAPER_BAR(id, word, help) "|" word
#define PAPER_CHOICES             (&MOTION_NUMBERS(PAPER_BAR) SPH_METRICS(PAPER_BAR)[1])

void experiment_papers_free(struct sph_experiment *e)
{
    for (size_t i = 0; i < e->paper_count; i++) {
        mem_free(e->papers[i].metric);
        mem_free(e->papers[i].method);
        mem_free(e->papers[i].text);
    }
    mem_free(e->papers);
    e->papers = NULL;
    e->paper_count = 0;
}

static int add_paper(struct sph_experiment *e, const char *path, const yaml_node_t *metric,
                     const yaml_node_t *method, const yaml_node_t *value)
{
    int err = node_check_key(path, method);
    if (err < 0)
        return err;
    for (size_t i = 0; i < e->paper_count; i++)
        if (!strcmp(e->papers[i].metric, node_text(metric)) &&
            !strcmp(e->papers[i].method, node_text(method)))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(method), "papers",
                                     "%s of '%s' stands twice", node_text(metric), node_text(method));
    struct experiment_paper *papers =
        mem_resize(e->papers, e->paper_count, e->paper_count + 1, sizeof *papers);
    if (!papers)
        return SPH_EMEMORY;
    e->papers = papers;
    struct experiment_paper *paper = &papers[e->paper_count++];
    *paper = (struct experiment_paper){.line = path == e->path ? node_line(method) : 0};
    if (!(paper->metric = mem_text(node_text(metric))) || !(paper->method = mem_text(node_text(method))))
        return SPH_EMEMORY;
    return node_read_text(&paper->text, path, value, "papers", "what the papers say, as text");
}

int experiment_read_papers(struct sph_experiment *e, const char *path, yaml_document_t *document,
                           const yaml_node_t *node)
{
    static const char expected[] = "{METRIC: {METHOD: text, ...}, ...}";
    if (node->type != YAML_MAPPING_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), "papers", "found %s, expected %s",
                                 node->type == YAML_SEQUENCE_NODE ? "a list" : "one value", expected);
    experiment_papers_free(e);
    int err = 0;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    for (; pair < end && !err; pair++) {
        const yaml_node_t *metric = yaml_document_get_node(document, pair->key);
        const yaml_node_t *methods = yaml_document_get_node(document, pair->value);
        if ((err = node_check_key(path, metric)) < 0)
            break;
        int found =
            node_read_word(path, metric, "papers", metrics, sizeof metrics / sizeof *metrics, PAPER_CHOICES);
        if (found < 0)
            return found;
        if (methods->type != YAML_MAPPING_NODE)
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(methods), "papers",
                                     "%s: found %s, expected {METHOD: text, ...}", node_text(metric),
                                     methods->type == YAML_SEQUENCE_NODE ? "a list" : "one value");
        const yaml_node_pair_t *item = methods->data.mapping.pairs.start,
                               *last = methods->data.mapping.pairs.top;
        for (; item < last && !err; item++)
            err = add_paper(e, path, metric, yaml_document_get_node(document, item->key),
                            yaml_document_get_node(document, item->value));
    }
    return err;
}

int experiment_check_papers(const struct sph_experiment *e)
{
    for (size_t i = 0; i < e->paper_count; i++) {
        const struct experiment_paper *paper = &e->papers[i];
        size_t m = 0;
        while (m < e->method_count && strcmp(e->methods[m].name, paper->method) != 0)
            m++;
        if (m == e->method_count)
            return sph_fail_line_key(SPH_EFORMAT, e->path, paper->line, "papers", "%s: no method '%s'",
                                     paper->metric, paper->method);
    }
    return 0;
}

const char *experiment_paper(const struct sph_experiment *e, const char *metric, const char *method)
{
    for (size_t i = 0; i < e->paper_count; i++)
        if (!strcmp(e->papers[i].metric, metric) && !strcmp(e->papers[i].method, method))
            return e->papers[i].text;
    return NULL;
}

void experiment_yaml_papers(const struct sph_experiment *e, struct yaml_out *out)
{
    if (!e->paper_count)
        return;
    yaml_key(out, "papers");
    yaml_map_block(out);
    for (size_t i = 0; i < e->paper_count; i++) {
        const struct experiment_paper *paper = &e->papers[i];
        int first = !i || strcmp(paper[-1].metric, paper->metric) != 0;
        if (first && i)
            yaml_map_end(out);
        if (first) {
            yaml_key(out, paper->metric);
            yaml_map_block(out);
        }
        yaml_text(out, paper->method);
        yaml_text(out, paper->text);
    }
    yaml_map_end(out);
    yaml_map_end(out);
}
