/* SPDX-License-Identifier: MIT
 *
 * ResNet-18 and ResNet-50 with torchvision's names: conv1.weight, bn1.running_mean,
 * layer1.0.downsample.0.weight, fc.bias. Such a file has no description; the names and shapes determine the
 * network, its widths, channels and classes. The image size is not in the file; 224 is assumed. */
#ifndef SPH_STORE_TORCHVISION_H
#define SPH_STORE_TORCHVISION_H

#include "store/tensors.h"

/* Whether the file's tensors are named so. */
int torchvision_recognise(const struct safetensors *file);

extern const struct tensor_names torchvision_names;

int torchvision_open(sph_net **out, const struct safetensors *file);

/* Refused (SPH_EARG) for all but a plain resnet with bn and relu. bnX.num_batches_tracked is written as 0, so
 * that load_state_dict finds every key; standardisation and class names have no place there. */
int torchvision_save(const char *path, const sph_net *net);

#endif
