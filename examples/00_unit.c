/* SPDX-License-Identifier: MIT
 *
 * One unit under geometric parameterization: z = r relu(u(theta)^T x + lambda).
 *
 * theta gives the direction u of the unit's boundary {x : u^T x = -lambda}, lambda how far the boundary lies
 * from the origin, r how steeply the output rises behind it. Each does its own job and leaves the others'
 * alone. */
#include <math.h>
#include <stdio.h>

#include <spherelu.h>

static const double pi = 3.14159265358979323846;

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, sph_error());
    return 1;
}

/* Says what was expected and counts what was not so. */
static int wrong;

static void expect(const char *what, double found, double wanted)
{
    int fine = fabs(found - wanted) < 1e-12;
    printf("  %-52s %8.4f%s\n", what, found, fine ? "" : "   WRONG");
    wrong += !fine;
}

static double output(sph_net *net, double x1, double x2)
{
    double z = NAN;
    sph_net_forward(net, (double[]){x1, x2}, 1, &z);
    return z;
}

int main(void)
{
    /* A net is a graph: an input of two features, and one layer of one unit that is also the output. */
    sph_net *net = NULL;
    sph_layer unit = {
        .size = sizeof(sph_layer), .path = "unit", .units = 1, .param = SPH_PARAM_GMP, .act = SPH_ACT_RELU};
    if (sph_net_new(&net, SPH_F64) < 0)
        return failed("new");
    int node = sph_net_dense(net, sph_net_input(net, 2), &unit);
    if (node < 0 || sph_net_ready(net, node, 0) < 0)
        return failed("build");

    /* Two inputs have one angle; with lambda and r these are all learned numbers, as many as w and b would
     * be. */
    double theta = pi / 3, lambda = -0.5, r = 2;
    if (sph_net_set(net, "unit.theta", &theta, 1) < 0 || sph_net_set(net, "unit.lambda", &lambda, 1) < 0 ||
        sph_net_set(net, "unit.r", &r, 1) < 0)
        return failed("set");
    double u[2] = {cos(theta), sin(theta)};
    printf("theta = pi/3, lambda = -0.5, r = 2: %zu learned numbers\n", sph_net_learned(net));

    /* The point of the boundary nearest to the origin is -lambda u. There, and anywhere along the boundary, z
     * = 0; a distance d behind it z = r d. */
    double on[2] = {-lambda * u[0], -lambda * u[1]}, along[2] = {-u[1], u[0]};
    expect("z at -lambda u", output(net, on[0], on[1]), 0);
    expect("z on the boundary, 3 further along", output(net, on[0] + 3 * along[0], on[1] + 3 * along[1]), 0);
    expect("z at distance 0.7 behind it", output(net, on[0] + 0.7 * u[0], on[1] + 0.7 * u[1]), 2 * 0.7);
    expect("z at distance 0.7 before it", output(net, on[0] - 0.7 * u[0], on[1] - 0.7 * u[1]), 0);

    /* What a layer computes with: s relu(W x + b), the size of r folded into W and b, its sign left in s. */
    double w[2], b, s;
    if (sph_net_weight(net, 0, w, &b, &s) < 0)
        return failed("weight");
    printf("materialised: W = |r| u, b = |r| lambda, s = sign(r)\n");
    expect("W_1 = 2 cos(pi/3)", w[0], 2 * u[0]);
    expect("W_2 = 2 sin(pi/3)", w[1], 2 * u[1]);
    expect("b = 2 lambda", b, -1);
    expect("s", s, 1);

    r = -3;
    if (sph_net_set(net, "unit.r", &r, 1) < 0 || sph_net_weight(net, 0, w, &b, &s) < 0)
        return failed("r");
    printf("r = -3: the boundary stays where it was, the slope behind it is -3\n");
    expect("distance of the boundary, -b / |W|", -b / hypot(w[0], w[1]), 0.5);
    expect("s", s, -1);
    expect("z at distance 0.7 behind it", output(net, on[0] + 0.7 * u[0], on[1] + 0.7 * u[1]), -3 * 0.7);

    double before = atan2(w[1], w[0]);
    theta += 0.1;
    if (sph_net_set(net, "unit.theta", &theta, 1) < 0 || sph_net_weight(net, 0, w, &b, &s) < 0)
        return failed("theta");
    printf("theta + 0.1: the boundary turns by 0.1, whatever r and lambda are\n");
    expect("turn", atan2(w[1], w[0]) - before, 0.1);
    expect("distance of the boundary", -b / hypot(w[0], w[1]), 0.5);

    sph_net_free(net);
    return wrong != 0;
}
