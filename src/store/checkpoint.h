/* SPDX-License-Identifier: MIT
 *
 * Checkpoints: everything a trainer is made of, bit by bit, as safetensors. The metadata names the network,
 * so that a checkpoint of another one is refused with the first difference. */
#ifndef SPH_STORE_CHECKPOINT_H
#define SPH_STORE_CHECKPOINT_H

#include "file/json.h"
#include "train/trainer.h"

/* Between steps. extra: an object of the caller's, or NULL. Replaces the file whole. */
int checkpoint_save(const char *path, struct trainer *trainer, const sph_net *net, const json_t *extra);

/* Into a trainer made with the same options for the same net and data. It is changed only if everything fits.
 * *extra: what was saved, NULL where nothing was; caller frees with json_decref. extra may be NULL. */
int checkpoint_load(const char *path, struct trainer *trainer, const sph_net *net, json_t **extra);

#endif
