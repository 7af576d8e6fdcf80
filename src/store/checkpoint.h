/* SPDX-License-Identifier: MIT
 *
 * Checkpoints: the complete state of a trainer, bit for bit, as safetensors. The metadata describe the
 * network; a checkpoint of another network is rejected with the first difference. */
#ifndef SPH_STORE_CHECKPOINT_H
#define SPH_STORE_CHECKPOINT_H

#include "file/json.h"
#include "train/trainer.h"

/* What is saved: the trainers of one net, or of the members of an ensemble, whose spans are members.K.NAME then. */
struct checkpoint_parts {
    struct trainer *const *trainers; /* (count) */
    size_t count;
    const sph_net *net; /* the first one's: all have its shape */
};

/* Between steps. extra: an object of the caller's, or NULL. Replaces the file whole. */
int checkpoint_save(const char *path, const struct checkpoint_parts *parts, const json_t *extra);

/* Into trainers made with the same options for the same net and data. They are changed only if everything fits.
 * *extra: what was saved, NULL where nothing was; caller frees with json_decref. extra may be NULL. */
int checkpoint_load(const char *path, const struct checkpoint_parts *parts, json_t **extra);

/* Only what the caller added. */
int checkpoint_extra(const char *path, json_t **extra);

#endif
