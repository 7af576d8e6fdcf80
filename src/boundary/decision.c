/* SPDX-License-Identifier: MIT
 *
 * Where the largest logit changes. Within a region logits are affine, so that the part of it where class k
 * wins is the region cut by k's difference to each rival: its new edges are what we look for. Where a
 * difference vanishes along an edge of the region itself (a kink at 0, or a neighbour that is 0 all over) a
 * look across the edge tells whether the class changes there. A draw goes to the lower class. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "boundary/polygon.h"
#include "boundary/regions.h"

enum { OWN_EDGE = -1 };

/* How far the look goes: more than what polygon_thin blurs. */
static const double across = 1e-9;

struct decision {
    const struct piecewise *net;
    size_t classes;
    double *logit;     /* (classes, 4) a, b, c and tolerance, in the window as it is inside */
    size_t *candidate; /* (classes) those that may win somewhere in the region */
    size_t candidates;
    double *low, *high; /* (classes) */
    size_t room;
    double *cell, *next_cell; /* (room, 2) */
    int *tag, *next_tag;      /* (room) */
};

int decision_new(struct decision **out, const struct piecewise *net)
{
    struct decision *decision = mem_get(1, sizeof *decision);
    if (!decision)
        return SPH_EMEMORY;
    size_t outputs = net->node[net->count - 1].m, classes = outputs == 1 ? 2 : outputs;
    decision->net = net;
    decision->classes = classes;
    decision->logit = mem_get(4 * classes, sizeof(double));
    decision->candidate = mem_get(classes, sizeof *decision->candidate);
    decision->low = mem_get(classes, sizeof(double));
    decision->high = mem_get(classes, sizeof(double));
    if (!decision->logit || !decision->candidate || !decision->low || !decision->high) {
        decision_free(decision);
        return SPH_EMEMORY;
    }
    *out = decision;
    return 0;
}

void decision_free(struct decision *decision)
{
    if (!decision)
        return;
    void *owned[] = {decision->logit, decision->candidate, decision->low, decision->high,
                     decision->cell,  decision->next_cell, decision->tag, decision->next_tag};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
    mem_free(decision);
}

/* Of one output: class 1 has it, class 0 has 0. */
static void take_logits(struct decision *decision, const struct region_found *found)
{
    const struct piecewise_node *last = &decision->net->node[decision->net->count - 1];
    size_t first = decision->classes - last->m;
    memset(decision->logit, 0, 4 * sizeof(double));
    for (size_t j = 0; j < last->m; j++) {
        double *logit = decision->logit + 4 * (first + j);
        for (size_t row = 0; row < 3; row++)
            logit[row] = found->map[row * last->ld + j];
        logit[3] = found->tolerance[j];
    }
}

/* k's logit less j's. */
static struct line difference(const struct decision *decision, size_t k, size_t j)
{
    const double *a = decision->logit + 4 * k, *b = decision->logit + 4 * j;
    return (struct line){a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] + b[3]};
}

/* Leaves out whom one other class beats at every vertex. */
static void find_candidates(struct decision *decision, const struct region_found *found)
{
    double floor = -INFINITY, blur = 0;
    for (size_t k = 0; k < decision->classes; k++) {
        const double *logit = decision->logit + 4 * k;
        struct line line = {logit[0], logit[1], logit[2], logit[3]};
        decision->low[k] = INFINITY;
        decision->high[k] = -INFINITY;
        for (size_t i = 0; i < found->vertices; i++) {
            double value = line_at(&line, found->vertex + 2 * i);
            decision->low[k] = fmin(decision->low[k], value);
            decision->high[k] = fmax(decision->high[k], value);
        }
        floor = fmax(floor, decision->low[k]);
        blur = fmax(blur, line.tolerance);
    }
    decision->candidates = 0;
    for (size_t k = 0; k < decision->classes; k++)
        if (decision->high[k] >= floor - 2 * blur)
            decision->candidate[decision->candidates++] = k;
}

static int reserve(struct decision *decision, size_t count)
{
    double **cells[] = {&decision->cell, &decision->next_cell, NULL};
    int **tags[] = {&decision->tag, &decision->next_tag, NULL};
    return polygon_reserve(&decision->room, count, cells, tags);
}

/* cell <- the part of the region where k wins. *count is 0 where it wins nowhere. */
static int find_cell(struct decision *decision, const struct region_found *found, size_t k, size_t *count)
{
    *count = found->vertices;
    if (!reserve(decision, *count))
        return SPH_EMEMORY;
    memcpy(decision->cell, found->vertex, 2 * *count * sizeof(double));
    for (size_t i = 0; i < *count; i++)
        decision->tag[i] = OWN_EDGE;
    for (size_t r = 0; r < decision->candidates && *count; r++) {
        size_t rival = decision->candidate[r];
        if (rival == k)
            continue;
        struct line line = difference(decision, k, rival);
        int side = polygon_side(*count, decision->cell, &line), draw = side != 0;
        for (size_t i = 0; draw && i < *count; i++)
            draw = fabs(line_at(&line, decision->cell + 2 * i)) <= line.tolerance;
        if (draw ? rival < k : side < 0)
            *count = 0;
        if (side)
            continue;
        if (!reserve(decision, 2 * *count))
            return SPH_EMEMORY;
        *count = polygon_cut(*count, decision->cell, decision->tag, &line, (int)rival, decision->next_cell,
                             decision->next_tag);
        double *cell = decision->cell;
        decision->cell = decision->next_cell;
        decision->next_cell = cell;
        int *tag = decision->tag;
        decision->tag = decision->next_tag;
        decision->next_tag = tag;
    }
    return 0;
}

/* ---------------------------------------------------------------- edges */

/* The class at a place outside the region; k where it lies outside the window. */
static size_t class_at(const struct decision *decision, const double place[2], size_t k)
{
    if (fabs(place[0]) > 1 || fabs(place[1]) > 1)
        return k;
    const double *value = piecewise_at(decision->net, place);
    size_t first = decision->classes - decision->net->node[decision->net->count - 1].m, top = 0;
    for (size_t c = 1; c < decision->classes; c++) {
        double best = top < first ? 0 : value[top - first];
        double blur = decision->logit[4 * c + 3] + decision->logit[4 * top + 3];
        if (value[c - first] > best + blur)
            top = c;
    }
    return top;
}

static int is_draw(const struct decision *decision, size_t k, const double *from, const double *to)
{
    for (size_t r = 0; r < decision->candidates; r++) {
        if (decision->candidate[r] == k)
            continue;
        struct line line = difference(decision, k, decision->candidate[r]);
        if (fabs(line_at(&line, from)) <= line.tolerance && fabs(line_at(&line, to)) <= line.tolerance)
            return 1;
    }
    return 0;
}

/* The class beyond an edge of the region where k draws with another; k if there is none such. */
static size_t beyond(const struct decision *decision, size_t k, const double *from, const double *to)
{
    double x = to[0] - from[0], y = to[1] - from[1], length = sqrt(x * x + y * y);
    if (!(length > across) || !is_draw(decision, k, from, to))
        return k;
    double place[2] = {(from[0] + to[0]) / 2 + across * y / length,
                       (from[1] + to[1]) / 2 - across * x / length};
    return class_at(decision, place, k);
}

static int add_segment(const struct decision *decision, sph_regions *regions, const double *from,
                       const double *to, size_t low, size_t high)
{
    if (!mem_reserve((void **)&regions->segment, &regions->room.segments, regions->segments + 1,
                     sizeof *regions->segment))
        return SPH_EMEMORY;
    sph_segment *segment = &regions->segment[regions->segments++];
    *segment = (sph_segment){.low = low, .high = high, .region = regions->count - 1};
    regions_place(regions, decision->net, from, segment->from);
    regions_place(regions, decision->net, to, segment->to);
    return 0;
}

/* Each line is an edge of two cells: the higher class has it. */
int decision_add(struct decision *decision, const struct region_found *found, sph_regions *regions)
{
    take_logits(decision, found);
    find_candidates(decision, found);
    int err = 0;
    for (size_t c = 0; c < decision->candidates && decision->candidates > 1 && !err; c++) {
        size_t k = decision->candidate[c], count;
        err = find_cell(decision, found, k, &count);
        for (size_t i = 0; i < count && !err; i++) {
            const double *from = decision->cell + 2 * i, *to = decision->cell + 2 * ((i + 1) % count);
            size_t other =
                decision->tag[i] == OWN_EDGE ? beyond(decision, k, from, to) : (size_t)decision->tag[i];
            if (other < k)
                err = add_segment(decision, regions, from, to, other, k);
        }
    }
    return err;
}
