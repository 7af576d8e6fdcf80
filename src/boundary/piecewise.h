/* SPDX-License-Identifier: MIT
 *
 * A network as a piecewise linear function on a plane: dense layers with their normalization folded in, and
 * the plane as an affine map into the network's input. All numbers are f64.
 *
 * Points on the plane are (x, y) in [-1, 1] x [-1, 1], which is the window: s = middle + half * x. */
#ifndef SPH_BOUNDARY_PIECEWISE_H
#define SPH_BOUNDARY_PIECEWISE_H

#include <stdint.h>

#include "base/memory.h"
#include "net/net.h"

/* A node of the net, numbered as there; node 0 is the input. Its values are f_j z_j with z = w in + b, the
 * sum of its two inputs, or its input, and f_j = s_j above 0 and below * s_j else. */
struct piecewise_node {
    const char *path; /* of a weight layer; else NULL. Borrowed from the net */
    size_t in[2];     /* NET_NOWHERE: none                                    */
    size_t m, ld;
    double *w;    /* (n, ld) unit-minor, NULL: none  */
    double *b;    /* (ld), NULL: none                */
    double *s;    /* (ld), NULL: 1                   */
    double *norm; /* (m) length of w's rows, NULL: 1 */
    double below; /* slope below 0: 1 where there is no activation */
    size_t byte;  /* of a pattern: where its bits begin            */
};

struct piecewise {
    const struct kernels *k; /* f64 */
    struct piecewise_node *node;
    size_t count;         /* the last node is the output */
    size_t pattern_bytes; /* of all nodes that have an activation */
    size_t widest;
    double *plane; /* (3, ld of node 0): x, y and 1 into the net's input */
    double middle[2], half[2];
    double **value; /* (count) of (ld) each: a place's values, for piecewise_at */
    struct mem_owned owned;
};

static inline int piecewise_cuts(const struct piecewise_node *node)
{
    return node->below != 1;
}

/* Refuses what is not piecewise linear in dense layers, by name. opts: plane and window, checked here. */
int piecewise_new(struct piecewise *out, const sph_net *net, const sph_regions_opts *opts);
void piecewise_free(struct piecewise *net); /* of zeroes is fine */

/* z (3, ld of the node) <- the node's affine map before its activation; map[i] (3, ld) are those of the nodes
 * before it, activation and all. */
void piecewise_map(const struct piecewise *net, size_t node, double *const *map, double *z);

/* The output's values at a place, borrowed until the next call. */
const double *piecewise_at(const struct piecewise *net, const double place[2]);

#endif
