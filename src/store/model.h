/* SPDX-License-Identifier: MIT
 *
 * Model files: safetensors that hold a net. Tensors carry the net's own names; the metadata's key `spherelu`
 * is
 *
 *   {"format": 1, "architecture": {...}, "standardisation": {"features": n, "targets": k, "x_mean": [...],
 * ...}, "data": the caller's own}
 *
 * where the last two may be absent. A file without it is read if its tensors are layers.0.weight,
 * layers.0.bias and so on and nothing else: a relu network. */
#ifndef SPH_STORE_MODEL_H
#define SPH_STORE_MODEL_H

#include "file/json.h"
#include "spherelu.h"

#define MODEL_METADATA "spherelu"
enum { MODEL_FORMAT = 1 };

/* data: an object kept beside the net, or NULL. Replaces the file whole. */
int model_save(const char *path, const sph_net *net, const json_t *data);

/* Caller frees the net with sph_net_free and *data, NULL where the file has none, with json_decref. data may
 * be NULL. Every tensor of the net must be there, and no other. */
int model_open(sph_net **out, json_t **data, const char *path);

#endif
