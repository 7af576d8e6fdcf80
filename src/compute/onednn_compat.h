/* SPDX-License-Identifier: MIT
 *
 * The differences between oneDNN 2 and oneDNN 3, for onednn.c only. In version 2 a memory descriptor is a
 * struct, in version 3 a handle that must be freed: `struct layout` owns one and `layout_ref` borrows it. */
#ifndef SPH_COMPUTE_ONEDNN_COMPAT_H
#define SPH_COMPUTE_ONEDNN_COMPAT_H

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

struct layout {
    dnnl_memory_desc_t it;
};

/* What a window does, in oneDNN's terms. */
struct conv_moves {
    dnnl_dims_t stride, pad;
};

#if DNNL_VERSION_MAJOR >= 3

typedef const_dnnl_memory_desc_t layout_ref;

static inline layout_ref layout_of(const struct layout *layout)
{
    return layout->it;
}

static inline void layout_free(struct layout *layout)
{
    if (layout->it)
        dnnl_memory_desc_destroy(layout->it);
    layout->it = NULL;
}

static inline dnnl_status_t layout_by_tag(struct layout *out, int count, const dnnl_dims_t dims,
                                          dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(&out->it, count, dims, dnnl_f32, tag);
}

static inline dnnl_status_t layout_by_strides(struct layout *out, int count, const dnnl_dims_t dims,
                                              const dnnl_dims_t strides)
{
    return dnnl_memory_desc_create_with_strides(&out->it, count, dims, dnnl_f32, strides);
}

static inline dnnl_status_t append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
}

static inline dnnl_status_t describe_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                             dnnl_alg_kind_t algorithm, layout_ref src, layout_ref weights,
                                             layout_ref bias, layout_ref dst, const struct conv_moves *moves,
                                             const_dnnl_primitive_attr_t attr)
{
    return dnnl_convolution_forward_primitive_desc_create(out, engine, dnnl_forward_training, algorithm, src,
                                                          weights, bias, dst, moves->stride, NULL, moves->pad,
                                                          moves->pad, attr);
}

static inline dnnl_status_t describe_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                   dnnl_alg_kind_t algorithm, layout_ref diff_src,
                                                   layout_ref weights, layout_ref diff_dst,
                                                   const struct conv_moves *moves,
                                                   const_dnnl_primitive_desc_t forward,
                                                   const_dnnl_primitive_attr_t attr)
{
    return dnnl_convolution_backward_data_primitive_desc_create(out, engine, algorithm, diff_src, weights,
                                                                diff_dst, moves->stride, NULL, moves->pad,
                                                                moves->pad, forward, attr);
}

static inline dnnl_status_t describe_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                      dnnl_alg_kind_t algorithm, layout_ref src,
                                                      layout_ref diff_weights, layout_ref diff_dst,
                                                      const struct conv_moves *moves,
                                                      const_dnnl_primitive_desc_t forward,
                                                      const_dnnl_primitive_attr_t attr)
{
    return dnnl_convolution_backward_weights_primitive_desc_create(out, engine, algorithm, src, diff_weights,
                                                                   NULL, diff_dst, moves->stride, NULL,
                                                                   moves->pad, moves->pad, forward, attr);
}

#else

typedef const dnnl_memory_desc_t *layout_ref;

static inline layout_ref layout_of(const struct layout *layout)
{
    return &layout->it;
}

static inline void layout_free(struct layout *layout)
{
    (void)layout;
}

static inline dnnl_status_t layout_by_tag(struct layout *out, int count, const dnnl_dims_t dims,
                                          dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(&out->it, count, dims, dnnl_f32, tag);
}

static inline dnnl_status_t layout_by_strides(struct layout *out, int count, const dnnl_dims_t dims,
                                              const dnnl_dims_t strides)
{
    return dnnl_memory_desc_init_by_strides(&out->it, count, dims, dnnl_f32, strides);
}

static inline dnnl_status_t append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1);
}

static inline dnnl_status_t describe_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                             dnnl_alg_kind_t algorithm, layout_ref src, layout_ref weights,
                                             layout_ref bias, layout_ref dst, const struct conv_moves *moves,
                                             const_dnnl_primitive_attr_t attr)
{
    dnnl_convolution_desc_t what;
    dnnl_status_t status =
        dnnl_convolution_forward_desc_init(&what, dnnl_forward_training, algorithm, src, weights, bias, dst,
                                           moves->stride, moves->pad, moves->pad);
    return status ? status : dnnl_primitive_desc_create(out, &what, attr, engine, NULL);
}

static inline dnnl_status_t describe_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                   dnnl_alg_kind_t algorithm, layout_ref diff_src,
                                                   layout_ref weights, layout_ref diff_dst,
                                                   const struct conv_moves *moves,
                                                   const_dnnl_primitive_desc_t forward,
                                                   const_dnnl_primitive_attr_t attr)
{
    dnnl_convolution_desc_t what;
    dnnl_status_t status = dnnl_convolution_backward_data_desc_init(
        &what, algorithm, diff_src, weights, diff_dst, moves->stride, moves->pad, moves->pad);
    return status ? status : dnnl_primitive_desc_create(out, &what, attr, engine, forward);
}

static inline dnnl_status_t describe_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                      dnnl_alg_kind_t algorithm, layout_ref src,
                                                      layout_ref diff_weights, layout_ref diff_dst,
                                                      const struct conv_moves *moves,
                                                      const_dnnl_primitive_desc_t forward,
                                                      const_dnnl_primitive_attr_t attr)
{
    dnnl_convolution_desc_t what;
    dnnl_status_t status = dnnl_convolution_backward_weights_desc_init(
        &what, algorithm, src, diff_weights, NULL, diff_dst, moves->stride, moves->pad, moves->pad);
    return status ? status : dnnl_primitive_desc_create(out, &what, attr, engine, forward);
}

#endif
#endif
