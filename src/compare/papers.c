/* SPDX-License-Identifier: MIT
 *
 * The key `papers` of an experiment file: what was printed elsewhere, to stand beside what came out here.
 *
 *     papers:
 *       max_move: {SP: "up to 2^16", GmP: "below 1"}
 *       rmse: {SP: "0.5"}
 *       mae: {boston: {SP: "2.1 +- 0.1"}}          of one of several sets
 *       top5: {batch 256: {SP: "0.6248"}}          of one point of the grid, with table: all
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
    for (size_t i = 0; i < e->papers.count; i++) {
        mem_free(e->papers.list[i].metric);
        mem_free(e->papers.list[i].set);
        mem_free(e->papers.list[i].method);
        mem_free(e->papers.list[i].text);
    }
    mem_free(e->papers.list);
    e->papers.list = NULL;
    e->papers.count = e->papers.capacity = 0;
}

static int same_set(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* set NULL: of none in particular. */
static int add_paper(struct sph_experiment *e, struct node metric, const char *set, struct node method,
                     struct node value)
{
    int err = node_check_key(method);
    if (err < 0)
        return err;
    for (size_t i = 0; i < e->papers.count; i++)
        if (!strcmp(e->papers.list[i].metric, node_text(metric)) && same_set(e->papers.list[i].set, set) &&
            !strcmp(e->papers.list[i].method, node_text(method)))
            return node_fail(method, "papers", "%s of '%s' is given twice", node_text(metric),
                             node_text(method));
    if (e->papers.count == EXPERIMENT_MOST_PAPERS)
        return node_fail(method, "papers", "expected at most %d values", EXPERIMENT_MOST_PAPERS);
    if (!mem_reserve((void **)&e->papers.list, &e->papers.capacity, e->papers.count + 1,
                     sizeof *e->papers.list))
        return SPH_EMEMORY;
    struct experiment_paper *paper = &e->papers.list[e->papers.count++];
    *paper = (struct experiment_paper){.line = node_line(method)};
    if (!(paper->metric = mem_text(node_text(metric))) || !(paper->method = mem_text(node_text(method))) ||
        (set && !(paper->set = mem_text(set))))
        return SPH_EMEMORY;
    return node_read_text(&paper->text, value, "papers", "the papers' value, as text");
}

/* {METHOD: text, ...}, or {SET: {METHOD: text, ...}, ...}, or the same with points of the grid. */
static int read_metric(struct sph_experiment *e, struct node metric, struct node list)
{
    int err = 0;
    if (!node_is_map(list))
        return node_fail(list, "papers",
                         "%s: found %s, expected {METHOD: text, ...} or {SET: {METHOD: text, ...}}",
                         node_text(metric), node_shape(list));
    for (size_t k = 0; !err && k < node_count(list); k++) {
        struct node key = node_key(list, k), value = node_value(list, k);
        if (!node_is_map(value)) {
            err = add_paper(e, metric, NULL, key, value);
            continue;
        }
        err = node_check_key(key);
        for (size_t m = 0; !err && m < node_count(value); m++)
            err = add_paper(e, metric, node_text(key), node_key(value, m), node_value(value, m));
    }
    return err;
}

int experiment_read_papers(struct sph_experiment *e, struct node node)
{
    int err = node_check_map(node, "papers", "{METRIC: {METHOD: text, ...}, ...}");
    if (err < 0)
        return err;
    experiment_papers_free(e);
    for (size_t i = 0; !err && i < node_count(node); i++) {
        struct node metric = node_key(node, i);
        if ((err = node_check_key(metric)) < 0)
            return err;
        int found =
            node_read_word(metric, "papers", metrics, sizeof metrics / sizeof *metrics, PAPER_CHOICES);
        err = found < 0 ? found : read_metric(e, metric, node_value(node, i));
    }
    return err;
}

int experiment_paper_of(const struct sph_experiment *e, const struct experiment_paper *paper, size_t set,
                        const char *point)
{
    return !paper->set || !strcmp(paper->set, experiment_set_name(e, set)) || !strcmp(paper->set, point);
}

static int begins(const char **text, const char *piece)
{
    size_t length = strlen(piece);
    int same = !strncmp(*text, piece, length);
    *text += same ? length : 0;
    return same;
}

/* Whether name is what experiment_add_point calls the point; compared piece by piece, so that no memory is needed. */
static int is_point(const struct sph_experiment *e, const char *name, size_t point)
{
    for (size_t i = 0; i < e->grid.count; i++)
        if ((i && !begins(&name, ", ")) || !begins(&name, option_key(e->grid.axes[i].id)) ||
            !begins(&name, " ") ||
            !begins(&name, experiment_value_text(&e->grid.axes[i], experiment_value(e, point, i))))
            return 0;
    return !*name;
}

/* Of a set or a line of the table that the experiment has. */
static int has_set(const struct sph_experiment *e, const struct experiment_paper *paper)
{
    for (size_t i = 0; i < experiment_sets(e); i++)
        if (experiment_paper_of(e, paper, i, ""))
            return 1;
    for (size_t i = 0; e->table.all_points && i < experiment_points(e); i++)
        if (is_point(e, paper->set, i))
            return 1;
    return 0;
}

static int unknown_set(const struct sph_experiment *e, const struct experiment_paper *paper)
{
    size_t count = experiment_sets(e);
    const char **names = mem_get(count, sizeof *names);
    if (!names)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++)
        names[i] = experiment_set_name(e, i);
    const char *near = text_nearest(paper->set, names, count);
    int err = sph_fail_line_key(SPH_EFORMAT, e->path, paper->line, "papers",
                                "%s: no dataset or grid point '%s'%s%s%s", paper->metric, paper->set,
                                near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    mem_free(names);
    return err;
}

int experiment_check_papers(const struct sph_experiment *e)
{
    for (size_t i = 0; i < e->papers.count; i++) {
        const struct experiment_paper *paper = &e->papers.list[i];
        if (experiment_find_method(e, paper->method, strlen(paper->method)) < 0)
            return sph_fail_line_key(SPH_EFORMAT, e->path, paper->line, "papers", "%s: no method '%s'",
                                     paper->metric, paper->method);
        if (!e->call.picked && !has_set(e, paper))
            return unknown_set(e, paper);
    }
    return 0;
}

const char *experiment_paper(const struct sph_experiment *e, const char *metric, size_t set,
                             const char *point, const char *method)
{
    for (size_t i = 0; i < e->papers.count; i++)
        if (!strcmp(e->papers.list[i].metric, metric) && !strcmp(e->papers.list[i].method, method) &&
            experiment_paper_of(e, &e->papers.list[i], set, point))
            return e->papers.list[i].text;
    return NULL;
}

/* Those of one metric and set, which stand side by side in the list. */
void experiment_yaml_papers(const struct sph_experiment *e, struct yaml_out *out)
{
    const struct experiment_paper *before = NULL;
    for (size_t i = 0; i < e->papers.count; i++) {
        const struct experiment_paper *paper = &e->papers.list[i];
        if (!has_set(e, paper))
            continue;
        int metric = !before || strcmp(before->metric, paper->metric) != 0;
        int set = metric || !same_set(before->set, paper->set);
        if (!before) {
            yaml_key(out, "papers");
            yaml_map_block(out);
        }
        if (before && set && before->set)
            yaml_map_end(out);
        if (before && metric)
            yaml_map_end(out);
        if (metric) {
            yaml_key(out, paper->metric);
            yaml_map_block(out);
        }
        if (set && paper->set) {
            yaml_text(out, paper->set);
            yaml_map_block(out);
        }
        yaml_text(out, paper->method);
        yaml_text(out, paper->text);
        before = paper;
    }
    if (before && before->set)
        yaml_map_end(out);
    if (before) {
        yaml_map_end(out);
        yaml_map_end(out);
    }
}
