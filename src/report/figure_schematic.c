/* SPDX-License-Identifier: MIT
 *
 * The definition of a boundary, for single units z = relu(u(theta) . x + lambda): Figures 1(a), 5 and 6 of the paper. Lines, phi and
 * arrows are computed from theta and lambda. */
#include <math.h>
#include <stddef.h>

#include "report/figures.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct unit {
    double degrees, lambda; /* theta, lambda */
};

/* The range of both inputs. */
struct window {
    double low, high;
};

static const double arrow_length = 0.55; /* of the arrows to both sides */

/* ---------------------------------------------------------------- on the plane */

/* The ends of the boundary in the window: the range of t for which phi + t (-u2, u1) is inside. */
static void clip(double ends[2], struct window window, const double phi[2], const double along[2])
{
    ends[0] = -INFINITY;
    ends[1] = INFINITY;
    for (int k = 0; k < 2; k++) {
        if (fabs(along[k]) < 1e-12)
            continue;
        double a = (window.low - phi[k]) / along[k], b = (window.high - phi[k]) / along[k];
        ends[0] = fmax(ends[0], fmin(a, b));
        ends[1] = fmin(ends[1], fmax(a, b));
    }
}

/* Four arrows to each side, spread over the visible part of the boundary and away from phi and its labels. */
static void add_arrows(struct figure *figure, const double u[2], const double phi[2], const double ends[2])
{
    static const double where[] = {0.15, 0.33, 0.67, 0.85};
    for (size_t i = 0; i < COUNT(where); i++)
        for (int side = 1; side >= -1; side -= 2) {
            double t = ends[0] + where[i] * (ends[1] - ends[0]), length = side * arrow_length;
            figure_row(figure,
                       (double[]){phi[0] - t * u[1], phi[1] + t * u[0], length * u[0], length * u[1], side},
                       5);
        }
}

static void add_planes(struct figure *figure, struct window window, const struct unit *unit, size_t count)
{
    for (int what = 0; what < 3; what++) {
        if (what == 0)
            figure_columns(figure, "unit", "theta/degrees lambda u_1 u_2 phi_1 phi_2");
        else if (what == 1)
            figure_columns(figure, "line",
                           "x_1 x_2: the ends of the boundary in the window, one data set per unit");
        else
            figure_columns(figure, "arrow",
                           "x_1 x_2 dx_1 dx_2 side: 1 active, -1 inactive; one data set per unit");
        for (size_t i = 0; i < count; i++) {
            double theta = unit[i].degrees * 3.14159265358979323846 / 180, lambda = unit[i].lambda, ends[2];
            double u[2] = {cos(theta), sin(theta)}, phi[2] = {-lambda * u[0], -lambda * u[1]};
            clip(ends, window, phi, (double[]){-u[1], u[0]});
            if (what == 0)
                figure_row(figure, (double[]){unit[i].degrees, lambda, u[0], u[1], phi[0], phi[1]}, 6);
            else if (what == 2)
                add_arrows(figure, u, phi, ends);
            for (int k = 0; k < 2 && what == 1; k++)
                figure_row(figure, (double[]){phi[0] - ends[k] * u[1], phi[1] + ends[k] * u[0]}, 2);
            if (what && i + 1 < count)
                figure_gap(figure, 2);
        }
    }
    figure_number(figure, "low", window.low);
    figure_number(figure, "high", window.high);
    figure_number(figure, "units", (double)count);
}

static int fill_boundary(struct figure *figure, struct panels *panels)
{
    static const struct unit unit = {40, -1.9};
    (void)panels;
    add_planes(figure, (struct window){-1, 3.4}, &unit, 1);
    return 0;
}

static int fill_lines(struct figure *figure, struct panels *panels)
{
    static const struct unit unit[] = {{35, -1.4}, {145, -1.4}, {215, -1.4}, {325, -1.4},
                                       {35, 1.4},  {145, 1.4},  {215, 1.4},  {325, 1.4}};
    (void)panels;
    add_planes(figure, (struct window){-3, 3}, unit, COUNT(unit));
    return 0;
}

/* ---------------------------------------------------------------- on the line */

static int fill_points(struct figure *figure, struct panels *panels)
{
    static const struct unit unit[] = {{0, -1}, {180, -1}, {0, 1}, {180, 1}};
    static const struct window window = {-3, 3};
    (void)panels;
    figure_columns(figure, "unit", "theta/degrees lambda u phi");
    for (size_t i = 0; i < COUNT(unit); i++) {
        double u =
            unit[i].degrees > 90 ? -1 : 1; /* theta is 0 or 180 degrees: the two directions of a line */
        figure_row(figure, (double[]){unit[i].degrees, unit[i].lambda, u, -unit[i].lambda * u}, 4);
    }
    figure_columns(figure, "response", "x z: relu(u x + lambda), one data set per unit");
    for (size_t i = 0; i < COUNT(unit); i++) {
        double u = unit[i].degrees > 90 ? -1 : 1, phi = -unit[i].lambda * u;
        double x[3] = {window.low, phi, window.high};
        for (int k = 0; k < 3; k++)
            figure_row(figure, (double[]){x[k], fmax(0, u * x[k] + unit[i].lambda)}, 2);
        if (i + 1 < COUNT(unit))
            figure_gap(figure, 2);
    }
    figure_number(figure, "low", window.low);
    figure_number(figure, "high", window.high);
    figure_number(figure, "units", (double)COUNT(unit));
    return 0;
}

/* ---------------------------------------------------------------- rows */

const struct figure_kind figure_boundary = {
    .fill = fill_boundary,
    .letters = "a",
    .caption = "One unit: its boundary, the spatial location φ (the point nearest to the origin), and its "
               "active side.",
};

const struct figure_kind figure_points = {
    .fill = fill_points,
    .letters = "abcd",
    .caption = "A boundary in one dimension is a point, at −λ or λ.",
};

const struct figure_kind figure_lines = {
    .fill = fill_lines,
    .letters = "abcdefgh",
    .caption = "A boundary in two dimensions is a line; it follows the angle θ and the offset λ.",
};
