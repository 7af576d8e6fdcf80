/* SPDX-License-Identifier: MIT
 *
 * Depth first: one polygon is carried through the net, node by node. Entering a node, its affine map before
 * the activation tells which units cut the polygon; a cut keeps one part at work and leaves the other
 * pending, with the units that may still cut it. A polygon that no unit is left to cut goes on to the next
 * node, and behind the last one it is a region. So besides the regions themselves there is memory for one
 * path through the net: the maps of each node, and the parts pending along it.
 *
 * What is pending lies on stacks: the polygon last left behind is the next one to go on. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/polygon.h"
#include "boundary/regions.h"
#include "param/param.h"

/* A few roundings of the largest number that a sum may have met. */
static const double rounding = 8 * DBL_EPSILON;

struct stack {
    void *items;
    size_t count, capacity, size;
};

/* Where they lie now, or NULL when memory is short. */
static void *stack_push(struct stack *stack, const void *items, size_t count)
{
    if (!mem_reserve(&stack->items, &stack->capacity, stack->count + count + 1, stack->size))
        return NULL;
    char *at = (char *)stack->items + stack->count * stack->size;
    if (count)
        memcpy(at, items, count * stack->size);
    stack->count += count;
    return at;
}

static void stack_pop(struct stack *stack, void *items, size_t count)
{
    stack->count -= count;
    if (count)
        memcpy(items, (char *)stack->items + stack->count * stack->size, count * stack->size);
}

/* A part left behind while its node was being cut. */
struct pending {
    size_t node, vertices, units;
};

/* The path that led to a polygon; (nodes) of (3, ld), (ld) or one number each. */
struct path {
    double **z, **map;
    double **tolerance; /* of each unit: what counts as 0 */
    double **largest;   /* of each unit: the largest |z| in the polygon it entered with */
    double *bound;      /* at least the length of the vector of a node's largest values */
    double *reach;      /* (widest) that vector, of the node at work */
};

struct cutter {
    const struct piecewise *net;
    const struct subdivision *to;
    struct stack pending, vertex, unit, bits;

    /* the polygon at work */
    size_t node, vertices, units;
    size_t vertex_room;
    double *polygon, *above, *under; /* (vertex_room, 2) */
    int *tag, *above_tag;   /* (vertex_room) edges of polygon, all 0; those of above, the new one 1 */
    uint32_t *list, *spare; /* (widest) units that cut it and have not yet */
    uint8_t *pattern;       /* (pattern_bytes) */

    struct path path;
    struct mem_owned owned;
};

static int is_set(const uint8_t *bits, size_t unit)
{
    return bits[unit / 8] >> (7 - unit % 8) & 1;
}

static void set_bit(uint8_t *bits, size_t unit, int on)
{
    uint8_t mask = (uint8_t)(0x80 >> unit % 8);
    bits[unit / 8] = (uint8_t)(on ? bits[unit / 8] | mask : bits[unit / 8] & ~mask);
}

static uint8_t *node_bits(const struct cutter *cutter)
{
    return cutter->pattern + cutter->net->node[cutter->node].byte;
}

static struct line unit_line(const struct cutter *cutter, size_t unit)
{
    size_t ld = cutter->net->node[cutter->node].ld;
    const double *z = cutter->path.z[cutter->node];
    return (struct line){z[unit], z[ld + unit], z[2 * ld + unit], cutter->path.tolerance[cutter->node][unit]};
}

/* ---------------------------------------------------------------- entering and leaving a node */

static int not_finite(const struct cutter *cutter)
{
    const char *path = cutter->net->node[cutter->node].path;
    char number[32];
    snprintf(number, sizeof number, "node %zu", cutter->node);
    return sph_fail_key(SPH_EARG, path ? path : number,
                        "its values overflow in the window; use a smaller window");
}

/* The largest value of each unit in the polygon, and what is 0 to it: a distance, or what rounding may do.
 * The difference of any two values is finite. */
static int measure(struct cutter *cutter)
{
    const struct piecewise_node *node = &cutter->net->node[cutter->node];
    size_t ld = node->ld;
    const double *a = cutter->path.z[cutter->node], *b = a + ld, *c = b + ld;
    double *largest = cutter->path.largest[cutter->node], *tolerance = cutter->path.tolerance[cutter->node];
    double in =
        cutter->path.bound[node->in[0]] + (node->in[1] == NET_NOWHERE ? 0 : cutter->path.bound[node->in[1]]);
    memset(largest, 0, ld * sizeof *largest);
    for (size_t v = 0; v < cutter->vertices; v++) {
        double x = cutter->polygon[2 * v], y = cutter->polygon[2 * v + 1];
        for (size_t j = 0; j < ld; j++) {
            double size = fabs(a[j] * x + b[j] * y + c[j]);
            largest[j] = size > largest[j] ? size : largest[j];
        }
    }
    for (size_t j = 0; j < node->m; j++) {
        double sum = node->w ? fabs(node->b[j]) + node->norm[j] * in : in;
        tolerance[j] = polygon_thin * hypot(a[j], b[j]) + rounding * sum;
        if (!isfinite(2 * (fabs(a[j]) + fabs(b[j]) + fabs(c[j]))) || !isfinite(tolerance[j]))
            return not_finite(cutter);
    }
    return 0;
}

/* list <- those of the units from[count] that cut the polygon; the others' bits are set. */
static size_t sift(const struct cutter *cutter, size_t vertices, const double *polygon, const uint32_t *from,
                   size_t count, uint8_t *bits, uint32_t *list)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        struct line line = unit_line(cutter, from[i]);
        int side = polygon_side(vertices, polygon, &line);
        if (side)
            set_bit(bits, from[i], side > 0);
        else
            list[left++] = from[i];
    }
    return left;
}

/* A unit whose scale is 0 shows nothing of its boundary. */
static int enter(struct cutter *cutter)
{
    const struct piecewise_node *node = &cutter->net->node[cutter->node];
    size_t count = 0;
    piecewise_map(cutter->net, cutter->node, cutter->path.map, cutter->path.z[cutter->node]);
    if (!cutter->node)
        return 0;
    int err = measure(cutter);
    if (err < 0 || !piecewise_cuts(node))
        return err;
    uint8_t *bits = node_bits(cutter);
    memset(bits, 0, (node->m + 7) / 8);
    for (size_t j = 0; j < node->m; j++)
        if (!node->s || node->s[j] != 0)
            cutter->spare[count++] = (uint32_t)j;
    cutter->units = sift(cutter, cutter->vertices, cutter->polygon, cutter->spare, count, bits, cutter->list);
    return 0;
}

/* The node's map behind its activation. */
static int leave(struct cutter *cutter)
{
    const struct piecewise_node *node = &cutter->net->node[cutter->node];
    const double *z = cutter->path.z[cutter->node], *largest = cutter->path.largest[cutter->node];
    double *map = cutter->path.map[cutter->node], *reach = cutter->path.reach;
    size_t ld = node->ld;
    if (!cutter->node) {
        for (size_t j = 0; j < node->m; j++)
            reach[j] = fabs(z[j]) + fabs(z[ld + j]) + fabs(z[2 * ld + j]);
        memcpy(map, z, 3 * ld * sizeof *map);
    } else {
        const uint8_t *bits = node_bits(cutter);
        int cuts = piecewise_cuts(node);
        for (size_t j = 0; j < node->m; j++) {
            double factor = (!cuts || is_set(bits, j) ? 1 : node->below) * (cuts && node->s ? node->s[j] : 1);
            for (size_t row = 0; row < 3; row++)
                map[row * ld + j] = factor * z[row * ld + j];
            reach[j] = factor * largest[j];
        }
        if (cuts)
            cutter->to->regions[cutter->node]++;
    }
    cutter->path.bound[cutter->node] = param_length(node->m, reach);
    return isfinite(cutter->path.bound[cutter->node]) ? 0 : not_finite(cutter);
}

/* ---------------------------------------------------------------- cutting */

static int reserve_vertices(struct cutter *cutter, size_t count)
{
    double **lists[] = {&cutter->polygon, &cutter->above, &cutter->under, NULL};
    int **tags[] = {&cutter->tag, &cutter->above_tag, NULL};
    return polygon_reserve(&cutter->vertex_room, count, lists, tags);
}

/* The edge that a cut gave the part above: later cuts divide it, and none removes any of it. */
static int tell_edge(const struct cutter *cutter, uint32_t unit, size_t above)
{
    for (size_t i = 0; i < above; i++)
        if (cutter->above_tag[i]) {
            const double *from = cutter->above + 2 * i, *to = cutter->above + 2 * (i + 1 < above ? i + 1 : 0);
            return cutter->to->edge(cutter->to->self, cutter->node, unit, from, to);
        }
    return 0;
}

/* The part where the unit is not active stays behind, the other one is at work. */
static int cut(struct cutter *cutter)
{
    const struct piecewise_node *node = &cutter->net->node[cutter->node];
    uint32_t unit = cutter->list[--cutter->units];
    struct line line = unit_line(cutter, unit), back = {-line.a, -line.b, -line.c, line.tolerance};
    if (!reserve_vertices(cutter, 2 * cutter->vertices))
        return SPH_EMEMORY;
    size_t above = polygon_cut(cutter->vertices, cutter->polygon, cutter->tag, &line, 1, cutter->above,
                               cutter->above_tag);
    size_t under = polygon_cut(cutter->vertices, cutter->polygon, NULL, &back, 0, cutter->under, NULL);

    int err = tell_edge(cutter, unit, above);
    if (err < 0)
        return err;
    size_t bytes = (node->m + 7) / 8;
    uint8_t *bits = stack_push(&cutter->bits, node_bits(cutter), bytes);
    if (!bits || !stack_push(&cutter->vertex, cutter->under, under))
        return SPH_EMEMORY;
    set_bit(bits, unit, 0);
    struct pending pending = {cutter->node, under, 0};
    pending.units = sift(cutter, under, cutter->under, cutter->list, cutter->units, bits, cutter->spare);
    if (!stack_push(&cutter->unit, cutter->spare, pending.units) ||
        !stack_push(&cutter->pending, &pending, 1))
        return SPH_EMEMORY;

    double *polygon = cutter->polygon;
    cutter->polygon = cutter->above;
    cutter->above = polygon;
    cutter->vertices = above;
    set_bit(node_bits(cutter), unit, 1);
    cutter->units =
        sift(cutter, above, cutter->polygon, cutter->list, cutter->units, node_bits(cutter), cutter->list);
    return 0;
}

static void take_pending(struct cutter *cutter)
{
    struct pending pending;
    stack_pop(&cutter->pending, &pending, 1);
    cutter->node = pending.node;
    cutter->vertices = pending.vertices;
    cutter->units = pending.units;
    stack_pop(&cutter->vertex, cutter->polygon, pending.vertices);
    stack_pop(&cutter->unit, cutter->list, pending.units);
    stack_pop(&cutter->bits, node_bits(cutter), (cutter->net->node[pending.node].m + 7) / 8);
}

/* From a polygon in the middle of a node to a region. */
static int carry_on(struct cutter *cutter)
{
    size_t last = cutter->net->count - 1;
    int err = 0;
    for (;;) {
        while (cutter->units)
            if ((err = cut(cutter)) < 0)
                return err;
        if ((err = leave(cutter)) < 0)
            return err;
        if (cutter->node == last)
            break;
        cutter->node++;
        if ((err = enter(cutter)) < 0)
            return err;
    }
    struct region_found found = {cutter->vertices, cutter->polygon, cutter->pattern, cutter->path.map[last],
                                 cutter->path.tolerance[last]};
    return cutter->to->add(cutter->to->self, &found);
}

/* ---------------------------------------------------------------- all of it */

static void cutter_free(struct cutter *cutter)
{
    void *grown[] = {cutter->pending.items, cutter->vertex.items, cutter->unit.items,
                     cutter->bits.items,    cutter->polygon,      cutter->above,
                     cutter->under,         cutter->tag,          cutter->above_tag};
    for (size_t i = 0; i < sizeof grown / sizeof *grown; i++)
        mem_free(grown[i]);
    mem_free_owned(&cutter->owned);
}

static int cutter_make(struct cutter *cutter)
{
    const struct piecewise *net = cutter->net;
    struct mem_owned *owned = &cutter->owned;
    cutter->pending.size = sizeof(struct pending);
    cutter->vertex.size = 2 * sizeof(double);
    cutter->unit.size = sizeof(uint32_t);
    cutter->bits.size = 1;
    cutter->list = mem_own(owned, net->widest, sizeof *cutter->list);
    cutter->spare = mem_own(owned, net->widest, sizeof *cutter->spare);
    cutter->pattern = mem_own(owned, net->pattern_bytes, 1);
    cutter->path.z = mem_own(owned, net->count, sizeof *cutter->path.z);
    cutter->path.map = mem_own(owned, net->count, sizeof *cutter->path.map);
    cutter->path.tolerance = mem_own(owned, net->count, sizeof *cutter->path.tolerance);
    cutter->path.largest = mem_own(owned, net->count, sizeof *cutter->path.largest);
    cutter->path.bound = mem_own(owned, net->count, sizeof *cutter->path.bound);
    cutter->path.reach = mem_own(owned, net->widest, sizeof *cutter->path.reach);
    for (size_t i = 0; i < net->count && !owned->failed; i++) {
        size_t ld = net->node[i].ld;
        cutter->path.z[i] = mem_own(owned, 3 * ld, sizeof(double));
        cutter->path.map[i] = mem_own(owned, 3 * ld, sizeof(double));
        cutter->path.tolerance[i] = mem_own(owned, ld, sizeof(double));
        cutter->path.largest[i] = mem_own(owned, ld, sizeof(double));
    }
    return owned->failed || !reserve_vertices(cutter, 16) ? SPH_EMEMORY : 0;
}

int subdivide(const struct piecewise *net, const struct subdivision *subdivision)
{
    static const double window[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    struct cutter cutter = {.net = net, .to = subdivision};
    int err = cutter_make(&cutter);
    if (!err) {
        cutter.vertices = 4;
        memcpy(cutter.polygon, window, sizeof window);
        if (!(err = enter(&cutter)))
            err = carry_on(&cutter);
        while (!err && cutter.pending.count) {
            take_pending(&cutter);
            err = carry_on(&cutter);
        }
    }
    cutter_free(&cutter);
    return err;
}
