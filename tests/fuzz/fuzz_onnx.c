/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an ONNX file becomes a net whose numbers can be written and read, or is refused. Start from
 * tests/bad/onnx and tests/golden/onnx. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    sph_net *net = NULL;
    if (sph_net_import(&net, fuzz_file("a.onnx", bytes, length), NULL) < 0)
        return 0;
    char again[FUZZ_PATH];
    snprintf(again, sizeof again, "%s/b.onnx", fuzz_home());
    fuzz_sum += (double)sph_net_learned(net);
    if (sph_net_export(net, again, &(sph_export_opts){0}) < 0)
        fuzz_sum += 1; /* numbers that f32 does not hold */
    sph_net_free(net);
    return 0;
}
