/* SPDX-License-Identifier: MIT
 *
 * A finished run as an ONNX graph. */
#include "base/error.h"
#include "job/nets.h"
#include "job/run.h"
#include "job/tool.h"

int sph_run_export(sph_run *run, const char *path, const sph_export_opts *opts)
{
    NEED(run, path);
    return nets_export(run->nets, run->members, run->schema, (sph_loss)run->spec->options.loss, path, opts);
}
