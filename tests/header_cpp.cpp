/* SPDX-License-Identifier: MIT
 *
 * The public header compiles alone, twice over, as C++. Building this file is the test. */
#include "spherelu.h"
#include "spherelu.h"

int header_cpp_touches_the_api(sph_net **net);

int header_cpp_touches_the_api(sph_net **net)
{
    sph_mlp spec = sph_mlp();
    return sph_net_mlp(net, &spec);
}
