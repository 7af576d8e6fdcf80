/* SPDX-License-Identifier: MIT */
#include "report/sketch.h"

#include <math.h>

#include "report/html.h"

enum {
    WIDTH = 480,
    HEIGHT = 300,
    LEFT = 62,
    RIGHT = 12,
    TOP = 12,
    BOTTOM = 46,
    KEY_LINE = 18,
    TICKS = 5,
    POINTS_MOST = 2000 /* of a line or cloud: more cannot be told apart */
};

/* By colour and by dashes: Okabe and Ito's, which the figures use as well. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9"};
static const char *const dashes[] = {"none", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"};
enum { STYLES = sizeof colours / sizeof *colours };

struct axis {
    double low, high;
    int log;
};

struct frame {
    struct axis x, y;
    double height; /* of the whole, key included */
};

static double on_axis(const struct axis *axis, double value)
{
    double low = axis->log ? log10(axis->low) : axis->low, high = axis->log ? log10(axis->high) : axis->high;
    return ((axis->log ? log10(value) : value) - low) / (high - low);
}

static double across(const struct frame *frame, double x)
{
    return LEFT + on_axis(&frame->x, x) * (WIDTH - LEFT - RIGHT);
}

static double down(const struct frame *frame, double y)
{
    return HEIGHT - BOTTOM - on_axis(&frame->y, y) * (HEIGHT - BOTTOM - TOP);
}

static void widen(struct axis *axis, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            axis->low = fmin(axis->low, values[i]);
            axis->high = fmax(axis->high, values[i]);
        }
}

static void settle_axis(struct axis *axis)
{
    if (!(axis->low <= axis->high))
        *axis = (struct axis){.low = 0, .high = 1};
    if (axis->low == axis->high) {
        double around = axis->low != 0 ? fabs(axis->low) * 0.1 : 1;
        axis->low -= around;
        axis->high += around;
    }
    axis->log = axis->log && axis->low > 0 && axis->high / axis->low > 20;
    double margin = 0.03 * (axis->high - axis->low);
    if (axis->log) {
        axis->low /= 1.1;
        axis->high *= 1.1;
    } else {
        axis->low -= margin;
        axis->high += margin;
    }
}

static double nice_step(double span)
{
    double step = pow(10, floor(log10(span / TICKS))), ratio = span / TICKS / step;
    return step * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

/* The next tick at or above value. */
static double next_tick(const struct axis *axis, double value, double step)
{
    return axis->log ? pow(10, ceil(log10(value) - 1e-9)) : step * ceil(value / step - 1e-9);
}

static void number(struct text *svg, double value)
{
    text_add_general(svg, 6, fabs(value) < 1e-300 ? 0 : value);
}

static void draw_tick(struct text *svg, const struct frame *frame, int upright, double value)
{
    double at = upright ? down(frame, value) : across(frame, value);
    text_add(svg, "<path d=\"M");
    text_add_fixed(svg, 1, upright ? LEFT : at);
    text_add(svg, " ");
    text_add_fixed(svg, 1, upright ? at : TOP);
    text_add(svg, upright ? "H%d" : "V%d", upright ? WIDTH - RIGHT : HEIGHT - BOTTOM);
    text_add(svg, "\" class=\"grid\"/><text x=\"");
    text_add_fixed(svg, 1, upright ? LEFT - 6 : at);
    text_add(svg, "\" y=\"");
    text_add_fixed(svg, 1, upright ? at + 4 : HEIGHT - BOTTOM + 17);
    text_add(svg, "\" text-anchor=\"%s\">", upright ? "end" : "middle");
    number(svg, value);
    text_add(svg, "</text>\n");
}

static void draw_axis(struct text *svg, const struct frame *frame, int upright)
{
    const struct axis *axis = upright ? &frame->y : &frame->x;
    double step = nice_step(axis->high - axis->low);
    int drawn = 0;
    for (double tick = next_tick(axis, axis->low, step); tick <= axis->high && drawn < 2 * TICKS;
         tick = axis->log ? tick * 10 : step * (floor(tick / step + 0.5) + 1), drawn++)
        draw_tick(svg, frame, upright, tick);
}

static void point(struct text *svg, const struct frame *frame, double x, double y)
{
    text_add_fixed(svg, 1, across(frame, x));
    text_add(svg, " ");
    text_add_fixed(svg, 1, down(frame, y));
}

static int is_there(const struct frame *frame, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!frame->y.log || y > 0);
}

static void draw_line(struct text *svg, const struct frame *frame, const struct sketch_series *s,
                      size_t style)
{
    size_t every = s->count > POINTS_MOST ? (s->count + POINTS_MOST - 1) / POINTS_MOST : 1;
    int pen = 0;
    text_add(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"",
             colours[style], dashes[style]);
    for (size_t i = 0; i < s->count; i += every) {
        if (!is_there(frame, s->x[i], s->y[i])) {
            pen = 0;
            continue;
        }
        text_add(svg, pen ? "L" : "M");
        point(svg, frame, s->x[i], s->y[i]);
        pen = 1;
    }
    text_add(svg, "\"/>\n");
}

static void draw_dots(struct text *svg, const struct frame *frame, const struct sketch_series *s,
                      size_t style)
{
    size_t every = s->count > POINTS_MOST ? (s->count + POINTS_MOST - 1) / POINTS_MOST : 1;
    text_add(svg,
             "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linecap=\"round\" "
             "stroke-opacity=\"%s\" d=\"",
             colours[style], s->count < 60 ? "7" : "4.5", s->count < 60 ? "0.9" : "0.55");
    for (size_t i = 0; i < s->count; i += every)
        if (is_there(frame, s->x[i], s->y[i])) {
            text_add(svg, "M");
            point(svg, frame, s->x[i], s->y[i]);
            text_add(svg, "h0");
        }
    text_add(svg, "\"/>\n");
}

static void draw_key(struct text *svg, const struct sketch *sketch)
{
    double y = HEIGHT + 2;
    for (size_t i = 0; i < sketch->count; i++) {
        const struct sketch_series *s = &sketch->series[i];
        if (!s->name)
            continue;
        text_add(svg, "<path fill=\"none\" stroke=\"%s\" ", colours[i % STYLES]);
        if (s->dots)
            text_add(svg, "stroke-width=\"7\" stroke-linecap=\"round\" d=\"M%d ", LEFT + 14);
        else
            text_add(svg, "stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"M%d ", dashes[i % STYLES], LEFT);
        text_add_fixed(svg, 0, y);
        text_add(svg, s->dots ? "h0\"/>" : "h28\"/>");
        text_add(svg, "<text x=\"%d\" y=\"%.0f\">", LEFT + 36, y + 4);
        html_add_text(svg, s->name);
        text_add(svg, "</text>\n");
        y += KEY_LINE;
    }
    if (!isnan(sketch->mark) && sketch->marked) {
        text_add(svg, "<path class=\"mark\" d=\"M%d %.0fv-10\"/><text x=\"%d\" y=\"%.0f\">", LEFT + 14, y + 5,
                 LEFT + 36, y + 4);
        html_add_text(svg, sketch->marked);
        text_add(svg, "</text>\n");
    }
}

static void draw_names(struct text *svg, const struct sketch *sketch)
{
    text_add(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
    html_add_text(svg, sketch->x_name);
    text_add(svg, "</text><text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\">",
             (TOP + HEIGHT - BOTTOM) / 2);
    html_add_text(svg, sketch->y_name);
    text_add(svg, "</text>\n");
}

void sketch_draw(struct text *svg, const struct sketch *sketch)
{
    struct frame frame = {.x = {INFINITY, -INFINITY, 0}, .y = {INFINITY, -INFINITY, sketch->log_y}};
    size_t keys = !isnan(sketch->mark) && sketch->marked;
    for (size_t i = 0; i < sketch->count; i++) {
        widen(&frame.x, sketch->series[i].x, sketch->series[i].count);
        widen(&frame.y, sketch->series[i].y, sketch->series[i].count);
        keys += sketch->series[i].name != NULL;
    }
    if (sketch->diagonal) {
        frame.x.low = frame.y.low = fmin(frame.x.low, frame.y.low);
        frame.x.high = frame.y.high = fmax(frame.x.high, frame.y.high);
    }
    settle_axis(&frame.x);
    settle_axis(&frame.y);
    text_add(svg, "<svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"", WIDTH, HEIGHT + keys * KEY_LINE);
    html_add_text(svg, sketch->title);
    text_add(svg, "\">\n");
    draw_axis(svg, &frame, 0);
    draw_axis(svg, &frame, 1);
    text_add(svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n", LEFT, TOP,
             WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    if (sketch->diagonal) {
        text_add(svg, "<path class=\"mark\" d=\"M");
        point(svg, &frame, frame.x.low, frame.x.low);
        text_add(svg, "L");
        point(svg, &frame, frame.x.high, frame.x.high);
        text_add(svg, "\"/>\n");
    }
    if (!isnan(sketch->mark)) {
        text_add(svg, "<path class=\"mark\" d=\"M");
        text_add_fixed(svg, 1, across(&frame, sketch->mark));
        text_add(svg, " %dV%d\"/>\n", TOP, HEIGHT - BOTTOM);
    }
    for (size_t i = 0; i < sketch->count; i++)
        (sketch->series[i].dots ? draw_dots : draw_line)(svg, &frame, &sketch->series[i], i % STYLES);
    draw_names(svg, sketch);
    draw_key(svg, sketch);
    text_add(svg, "</svg>");
}
