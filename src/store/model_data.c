/* SPDX-License-Identifier: MIT
 *
 * What a model file says about its data, without the network. */
#include <string.h>

#include "store/model.h"
#include "store/safetensors.h"

int model_read_data(json_t **data, const char *path)
{
    struct safetensors file;
    json_t *object = NULL;
    *data = NULL;
    int err = safetensors_open(&file, path);
    if (err < 0)
        return err;
    const char *text = safetensors_metadata(&file, MODEL_METADATA);
    if (text && !(err = json_parse(&object, path, text, strlen(text))))
        *data = json_incref(json_object_get(object, "data"));
    json_decref(object);
    safetensors_close(&file);
    return err;
}
