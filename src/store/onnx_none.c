/* SPDX-License-Identifier: MIT
 *
 * ONNX where the library was built without protobuf-c. */
#include "base/error.h"
#include "store/onnx.h"
#include "store/tool.h"

static int refuse(const char *path)
{
    return sph_fail_at(SPH_EARG, path,
                       "this build does not support ONNX; install libprotobuf-c-dev and protobuf-c-compiler, "
                       "and build again");
}

int onnx_save(sph_net *const *nets, size_t count, const char *path, const sph_export_opts *opts,
              const struct onnx_face *face)
{
    (void)nets;
    (void)count;
    (void)opts;
    (void)face;
    return refuse(path);
}

int sph_net_export(const sph_net *net, const char *path, const sph_export_opts *opts)
{
    NEED(net, path);
    (void)net;
    (void)opts;
    return refuse(path);
}

int sph_nets_import(sph_net ***out, size_t *count, const char *path, sph_imported *result)
{
    NEED(out, count, path);
    (void)result;
    return refuse(path);
}
