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
#include "compare/experiment.h"
#include "compare/motion.h"

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

static int add_paper(struct sph_experiment *e, struct node metric, struct node method, struct node value)
{
    int err = node_check_key(method);
    if (err < 0)
        return err;
    if (experiment_paper(e, node_text(metric), node_text(method)))
        return node_fail(method, "papers", "%s of '%s' stands twice", node_text(metric), node_text(method));
    struct experiment_paper *papers =
        mem_resize(e->papers, e->paper_count, e->paper_count + 1, sizeof *papers);
    if (!papers)
        return SPH_EMEMORY;
    e->papers = papers;
    struct experiment_paper *paper = &papers[e->paper_count++];
    *paper = (struct experiment_paper){.line = node_line(method)};
    if (!(paper->metric = mem_text(node_text(metric))) || !(paper->method = mem_text(node_text(method))))
        return SPH_EMEMORY;
    return node_read_text(&paper->text, value, "papers", "what the papers say, as text");
}

int experiment_read_papers(struct sph_experiment *e, struct node node)
{
    int err = node_check_map(node, "papers", "{METRIC: {METHOD: text, ...}, ...}");
    if (err < 0)
        return err;
    experiment_papers_free(e);
    for (size_t i = 0; !err && i < node_count(node); i++) {
        struct node metric = node_key(node, i), methods = node_value(node, i);
        if ((err = node_check_key(metric)) < 0)
            return err;
        int found =
            node_read_word(metric, "papers", metrics, sizeof metrics / sizeof *metrics, PAPER_CHOICES);
        if (found < 0)
            return found;
        if (!node_is_map(methods))
            return node_fail(methods, "papers", "%s: found %s, expected {METHOD: text, ...}",
                             node_text(metric), node_shape(methods));
        for (size_t k = 0; !err && k < node_count(methods); k++)
            err = add_paper(e, metric, node_key(methods, k), node_value(methods, k));
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
