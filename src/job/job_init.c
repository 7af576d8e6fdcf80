/* SPDX-License-Identifier: MIT
 *
 * Whether the first values of a file are for the features of the data. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "job/job.h"
#include "store/model.h"

/* *out (features, for mem_free_texts) <- names of the features. */
static int list_features(char ***out, const sph_data *data)
{
    if (!(*out = mem_get(data->features, sizeof **out)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->features; i++)
        if (!((*out)[i] = data_feature_name(data, i)))
            return SPH_EMEMORY;
    return 0;
}

int job_check_order(const char *path, const sph_data *data)
{
    json_t *schema = NULL;
    sph_data *there = NULL;
    char **names = NULL, **others = NULL, *first = NULL, *other = NULL;
    size_t n = data->features, at = 0, same = 0;
    int err = model_read_data(&schema, path);
    if (!err && json_is_array(json_object_get(schema, "columns")))
        err = data_of_schema(&there, schema);
    if (err < 0 || !there || !there->reading.named || !data->reading.named || there->features != n)
        goto out;
    if ((err = list_features(&names, data)) < 0 || (err = list_features(&others, there)) < 0)
        goto out;
    while (at < n && !strcmp(names[at], others[at]))
        at++;
    if (at == n)
        goto out;
    first = names[at];
    other = others[at];
    qsort(names, n, sizeof *names, by_text);
    qsort(others, n, sizeof *others, by_text);
    while (same < n && !strcmp(names[same], others[same]))
        same++;
    if (same == n)
        err = sph_fail_at(SPH_EFORMAT, path,
                          "cannot be used with --init: its features are in another order (feature %zu is "
                          "'%.80s', in the data '%.80s'); use --columns, or reorder the columns of the data",
                          at + 1, other, first);
out:
    mem_free_texts(names, names ? n : 0);
    mem_free_texts(others, others ? n : 0);
    sph_data_free(there);
    json_decref(schema);
    return err;
}
