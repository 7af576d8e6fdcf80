/* SPDX-License-Identifier: MIT */
#include "compute/kernels.h"

#include "compute/onednn.h"

/* SPH_TWO_TABLES: the playground, a small program that is fast in f32 and the oracle in f64. The others are not linked. */
extern const struct kernels kernels_plain_f32, kernels_base_f32, kernels_plain_f64, kernels_base_f64;
#ifdef SPH_HAVE_AVX2
extern const struct kernels kernels_avx2_f32, kernels_avx2_f64;
#endif
#ifdef SPH_HAVE_AVX512
extern const struct kernels kernels_avx512_f32;

/* oneDNN may be told to do without (DNNL_MAX_CPU_ISA); then nobody uses it, as images lie in its blocks. */
static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && onednn_block() != 8;
}
#endif

const struct kernels *kernels_pick(sph_dtype dtype, enum kernel_choice choice)
{
    int wide = dtype == SPH_F64;
#ifdef SPH_TWO_TABLES
    (void)choice;
    return wide ? &kernels_plain_f64 : &kernels_base_f32;
#endif
    if (choice == KERNELS_PLAIN)
        return wide ? &kernels_plain_f64 : &kernels_plain_f32;
#ifdef SPH_HAVE_AVX512
    if (choice == KERNELS_FASTEST && !wide && has_avx512())
        return &kernels_avx512_f32;
#endif
#ifdef SPH_HAVE_AVX2
    if (choice != KERNELS_BASE && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return wide ? &kernels_avx2_f64 : &kernels_avx2_f32;
#endif
    return wide ? &kernels_base_f64 : &kernels_base_f32;
}
