/* SPDX-License-Identifier: MIT
 *
 * A net's graph as JSON, as models and checkpoints keep it:
 *
 *   {"dtype": "f32", "output": 2, "nodes": [
 *     {"kind": "input", "features": 13},
 *     {"kind": "dense", "from": 0, "path": "layers.0", "units": 100, "param": "gmp", "norm": "none", "act":
 * "relu", "signs": false},
 *     {"kind": "add", "from": [0, 1]}]} */
#ifndef SPH_STORE_ARCHITECTURE_H
#define SPH_STORE_ARCHITECTURE_H

#include "file/json.h"
#include "net/net.h"

/* Caller frees with json_decref. */
int architecture_of(json_t **out, const sph_net *net);

/* The net, not ready yet: its shapes are known, its numbers are not laid out. *output is what sph_net_ready
 * takes. where: what messages begin with. */
int architecture_build(sph_net **out, int *output, const json_t *architecture, const char *where);

/* Fails where the described net's angles run over a conv's inputs in another order than the net's. */
int architecture_same_angles(const json_t *architecture, const sph_net *net, const char *path);

/* The first difference, "layers.0 has 100 units there, 50 here"; 0 if there is none. Never more than size
 * bytes. */
int architecture_difference(const json_t *there, const json_t *here, char *text, size_t size);

#endif
