/* SPDX-License-Identifier: MIT
 *
 * Model files: safetensors that hold a net. Tensors carry the net's own names; the metadata's key `spherelu`
 * is
 *
 *   {"format": 1, "architecture": {...}, "standardisation": {"features": n, "targets": k, "x_mean": [...],
 * ...}, "data": the caller's own}
 *
 * where the last two may be absent. A file without it is read if its tensors are layers.0.weight,
 * layers.0.bias and so on and nothing else: a relu network.
 *
 * An ensemble is one file too: "members": K stands beside the architecture, which all members have, and the tensors are
 * members.0.PATH.weight and so on. */
#ifndef SPH_STORE_MODEL_H
#define SPH_STORE_MODEL_H

#include "file/json.h"
#include "spherelu.h"

#define MODEL_METADATA "spherelu"
#define MODEL_MEMBERS  "members"
enum {
    MODEL_FORMAT = 1,
    MODEL_FORMAT_CLIPPED = 2 /* features are clipped (x_clip): older versions would leave that out */
};

/* The members of an ensemble, all of one shape and standardisation; one member is a plain net. data: an object kept beside
 * them, or NULL. Replaces the file whole. */
int model_save_members(const char *path, sph_net *const *nets, size_t count, const json_t *data);

/* A file of dense layers like another: without a description, with its metadata and the biases that it had. */
struct chain;
struct safetensors;
int model_save_chain(const char *path, sph_net *net, const struct chain *chain,
                     const struct safetensors *like);

/* SPH_EARG: the two are not of one shape. */
int model_check_member(const char *path, const sph_net *first, const sph_net *other, size_t member);

/* Caller frees with model_free_members. A file of one net is an ensemble of one. */
int model_open_members(sph_net ***nets, size_t *count, json_t **data, const char *path);
void model_free_members(sph_net **nets, size_t count);

/* Of one net; an ensemble is refused. Caller frees the net with sph_net_free and *data, NULL where the file has none, with json_decref. data may
 * be NULL. Every tensor of the net must be there, and no other. */
int model_open(sph_net **out, json_t **data, const char *path);

/* The description of the data becomes the note of the nets, so that a converted or edited model still predicts. data NULL: none. */
int model_keep_data(sph_net *const *nets, size_t count, const json_t *data);

/* What the net's note says about its data; *data is NULL if it has no note. A new reference. path: for messages. */
int model_note(json_t **data, const sph_net *net, const char *path);

/* What the file says about its data and no more; *data is NULL if it says nothing. A new reference. */
int model_read_data(json_t **data, const char *path);

/* Under other names: torchvision's are for its resnets, sp with bn; standardisation and class names do not go along. */
int sph_net_save_as(const sph_net *net, const char *path, sph_names names);

/* sph_net_load_tensors for a net that is to learn something else: the output layer stays as it is, whatever the file has in
 * its place; all other learned tensors, and what the file's description says of the layers, must be the net's. */
int sph_net_load_body(sph_net *net, const char *path);

#endif
