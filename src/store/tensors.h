/* SPDX-License-Identifier: MIT
 *
 * Compares and copies tensors between a file and a network. */
#ifndef SPH_STORE_TENSORS_H
#define SPH_STORE_TENSORS_H

#include "net/net.h"
#include "store/safetensors.h"

enum { TENSOR_NAME = 160 };

/* How a file differs from what the net calls things. Zeroes: not at all. */
struct tensor_names {
    void (*of)(const sph_net *net, const struct net_tensor *tensor, char out[static TENSOR_NAME]);
    int (*ignores)(const struct safetensors *file, const struct st_tensor *stranger);
    int no_bias;        /* a bias or lambda that is not there is 0 */
    const char *before; /* stands before every name of this net; other names are left alone. NULL: nothing */
};

/* Numbers of the net's largest tensor. */
size_t tensors_largest(const sph_net *net);

/* A tensor of real numbers and of this shape, or SPH_EFORMAT. */
int tensors_check_shape(const struct st_tensor *found, const size_t *shape, size_t ndim);

/* Before a net of a file's description is laid out: its weights are as large as the file says. Everything
 * else of a layer is smaller, so that no description makes a net larger than its file. before: as in tensor_names. */
int tensors_check_weights(const struct safetensors *file, const sph_net *net, const char *before);

/* The file's numbers into the net: all that fit, or none and an error. The file has every tensor of the net
 * (all) or every learned one, and no other. names may be NULL. but: the number of a layer that stays as it is,
 * whatever the file has under its path; -1: none. */
int tensors_take(sph_net *net, const struct safetensors *file, int all, const struct tensor_names *names,
                 int but);

/* The same without taking anything: whether it can be. */
int tensors_fit(const sph_net *net, const struct safetensors *file, int all, const struct tensor_names *names,
                int but);

/* Tensors to be written, under any name and in any order. A zeroed list is empty. */
struct tensor_list {
    struct st_item *items; /* (count) */
    struct tensor_source {
        const sph_net *net;
        const struct net_tensor *tensor; /* NULL: a single 0 of type I64 */
    } * from;                            /* (count) */
    size_t count, item_room, from_room;
    double *values; /* while a tensor is written */
    char *bytes;
};
int tensors_add(struct tensor_list *list, const sph_net *net, const struct net_tensor *tensor,
                const char *name);

/* Writes the list with this metadata (see safetensors_save). tensors_list_free is needed in any case. */
int tensors_save(struct tensor_list *list, const char *path, const sph_sink *sink, const struct st_meta *meta,
                 const struct safetensors *like);
void tensors_list_free(struct tensor_list *list);

#endif
