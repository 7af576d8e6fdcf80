/* SPDX-License-Identifier: MIT
 *
 * A build without oneDNN. */
#include "compute/onednn.h"

#include "base/error.h"

#ifndef SPH_ONEDNN

size_t onednn_block(void)
{
    return 0;
}

const char *onednn_version(void)
{
    return NULL;
}

int onednn_conv_new(struct onednn_conv **out, const struct onednn_conv_spec *spec)
{
    (void)spec;
    *out = NULL;
    return sph_fail(SPH_EARG, "this build has no oneDNN");
}

void onednn_conv_free(struct onednn_conv *conv)
{
    (void)conv;
}

size_t onednn_conv_scratch(const struct onednn_conv *conv)
{
    (void)conv;
    return 0;
}

int onednn_conv_is_winograd(const struct onednn_conv *conv)
{
    (void)conv;
    return 0;
}

int onednn_conv_is_reference(const struct onednn_conv *conv)
{
    (void)conv;
    return 0;
}

int onednn_conv_check(const struct onednn_conv *conv)
{
    (void)conv;
    return 0;
}

void onednn_conv_forward(struct onednn_conv *conv, const float *x, const float *w, size_t ldw,
                         const float *bias, float *y, void *scratch)
{
    (void)conv, (void)x, (void)w, (void)ldw, (void)bias, (void)y, (void)scratch;
}

void onednn_conv_backward_data(struct onednn_conv *conv, const float *dy, const float *w, size_t ldw,
                               float *dx, void *scratch)
{
    (void)conv, (void)dy, (void)w, (void)ldw, (void)dx, (void)scratch;
}

void onednn_conv_backward_weights(struct onednn_conv *conv, const float *x, const float *dy, float *dw,
                                  size_t ldw, void *scratch)
{
    (void)conv, (void)x, (void)dy, (void)dw, (void)ldw, (void)scratch;
}

int onednn_conv_time(const struct onednn_conv_spec *spec, size_t repeats, double *seconds)
{
    (void)spec, (void)repeats;
    *seconds = 0;
    return sph_fail(SPH_EARG, "this build has no oneDNN");
}

#endif
