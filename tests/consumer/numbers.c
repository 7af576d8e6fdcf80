/* SPDX-License-Identifier: MIT */
#include <spherelu/core.h>
#include <stdio.h>

int main(void)
{
    sph_net *net = NULL;
    const double x[] = {1, 2};
    double y = 0;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){4},
                    .depth = 1,
                    .param = SPH_PARAM_GMP,
                    .act = SPH_ACT_RELU};
    if (sph_net_mlp(&net, &spec) < 0 || sph_net_forward(net, x, 1, &y) < 0) {
        fprintf(stderr, "%s\n", sph_error());
        return 1;
    }
    printf("%s: %g\n", sph_version(), y);
    sph_net_free(net);
    return 0;
}
