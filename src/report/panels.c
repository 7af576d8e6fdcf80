/* SPDX-License-Identifier: MIT */
#include "report/panels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data.h"

/* ---------------------------------------------------------------- into the script */

void panels_text(struct figure *figure, const char *key, size_t number, const char *format, ...)
{
    char name[64], value[512];
    va_list list;
    va_start(list, format);
    vsnprintf(value, sizeof value, format, list);
    va_end(list);
    snprintf(name, sizeof name, "%s_%zu", key, number);
    figure_text(figure, name, value);
}

void panels_number(struct figure *figure, const char *key, size_t number, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%zu", key, number);
    figure_number(figure, name, value);
}

void panels_columns(struct figure *figure, size_t number, const char *tail, const char *header)
{
    char name[64];
    snprintf(name, sizeof name, "p%zu%s", number, tail);
    figure_columns(figure, name, header);
}

void panels_head(struct figure *figure, size_t rows, size_t columns)
{
    figure_number(figure, "down", (double)rows);
    figure_number(figure, "across", (double)columns);
}

void panels_title(struct figure *figure, const struct panel *panel, size_t number)
{
    panels_text(figure, "title", number, "%s%s%s", panel->method, *panel->point ? ", " : "", panel->point);
}

const char *panel_without_model(const struct panel *panel)
{
    return panel->finished ? "diverged: no model" : "not finished";
}

void panels_score(struct figure *figure, const struct panel *panel, size_t number)
{
    if (panel->last && !isnan(panel->score))
        panels_text(figure, "score", number, "test %s %.3f", panel->metric, panel->score);
    else
        panels_text(figure, "score", number, "%s", panel->last ? "" : panel_without_model(panel));
}

/* A name that gnuplot's enhanced text shows as it is. */
static char *plain(const char *name)
{
    struct text text = {0};
    for (; *name; name++)
        text_add(&text, "%s%c", strchr("_^{}@&~\\", *name) ? "\\" : "", *name);
    if (text.failed)
        text_free(&text);
    return text.chars;
}

int panels_axes(struct figure *figure, const struct panel *panel)
{
    const sph_data *data = panel->data;
    int named = data->named && !data->made;
    char *feature = named ? data_feature_name(data, 0) : NULL;
    char *x = feature ? plain(feature) : NULL;
    char *y = named && data->targets ? plain(data_target_name(data, 0)) : NULL;
    int err = named && !(x && (y || !data->targets)) ? SPH_EMEMORY : 0;
    figure_text(figure, "x_name", x ? x : "{/:Italic x}");
    figure_text(figure, "y_name", y ? y : "{/:Italic y}");
    mem_free(feature);
    mem_free(x);
    mem_free(y);
    return err;
}

void panels_method(struct figure *figure, size_t column, const char *method, const char *point)
{
    panels_text(figure, "method", column, "%s", method);
    panels_text(figure, "label", column, "%s%s%s", method, *point ? ", " : "", point);
}

/* ---------------------------------------------------------------- from the record */

void panel_name(char name[128], const struct panel *panel, size_t layer, const char *what)
{
    snprintf(name, 128, "%s.%s", sph_net_layer(panel->first, layer, NULL)->path, what);
}

int panel_has(const struct panel *panel, const char *name)
{
    size_t shape[4], ndim;
    return panel->record && npz_find(panel->record, name, shape, &ndim);
}

const char *panel_empty(const struct panel *panel)
{
    char name[128];
    size_t shape[4], ndim;
    if (!panel->record || !npz_find(panel->record, "frame_step", shape, &ndim))
        return NULL;
    if (ndim == 1 && !shape[0])
        return "no frame recorded";
    panel_name(name, panel, 0, "phi");
    return panel_has(panel, name) ? NULL : "no hyperplanes";
}

void panels_note(struct figure *figure, size_t number, const char *note)
{
    panels_text(figure, "note", number, "%s", note ? note : "");
}

int panels_all_empty(const struct panels *panels, const char *note)
{
    int frames = !strcmp(note, "no frame recorded");
    return sph_fail_at(SPH_EFORMAT, panels->list[0].where, "%s%s", note,
                       frames ? ": the chosen steps never came"
                              : ": a norm that treats each row on its own (ln) leaves none");
}

int panel_shape(const struct panel *panel, const char *name, size_t ndim, size_t shape[4])
{
    size_t found = 0;
    if (!panel->record)
        return sph_fail_at(SPH_EFORMAT, panel->where,
                           "no recorded boundaries; train it with --record boundaries");
    if (!npz_find(panel->record, name, shape, &found))
        return sph_fail_at(SPH_EFORMAT, panel->where, "boundaries.npz: no array '%s'", name);
    if (found != ndim)
        return sph_fail_at(SPH_EFORMAT, panel->where, "boundaries.npz: '%s' has %zu axes, expected %zu", name,
                           found, ndim);
    return 0;
}

int panel_read(const struct panel *panel, const char *name, size_t ndim, size_t shape[4], double **values)
{
    size_t count = 1;
    int err = panel_shape(panel, name, ndim, shape);
    if (err < 0)
        return err;
    for (size_t i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(count, shape[i], &count))
            return sph_fail_at(SPH_EFORMAT, panel->where, "boundaries.npz: '%s' is too large", name);
    if (!(*values = mem_get(count, sizeof **values)))
        return SPH_EMEMORY;
    if (count && (err = npz_read(panel->record, name, *values, 0, count)) < 0) {
        mem_free(*values);
        *values = NULL;
    }
    return err;
}

/* One of x_mean, x_scale into values (n), which stay where there is none. */
static int read_features(const struct panel *panel, const char *name, size_t n, double *values)
{
    size_t shape[4];
    if (!panel_has(panel, name))
        return 0;
    int err = panel_shape(panel, name, 1, shape);
    if (!err && shape[0] != n)
        err = sph_fail_at(SPH_EFORMAT, panel->where, "boundaries.npz: '%s' has %zu numbers, expected %zu",
                          name, shape[0], n);
    return err ? err : npz_read(panel->record, name, values, 0, n);
}

int panel_scale(const struct panel *panel, size_t n, double *scale, double *mean)
{
    for (size_t i = 0; i < n; i++) {
        scale[i] = 1;
        mean[i] = 0;
    }
    int err = read_features(panel, "x_scale", n, scale);
    return err ? err : read_features(panel, "x_mean", n, mean);
}

/* ---------------------------------------------------------------- from the data */

void panel_window(const struct panel *panel, size_t feature, double share, double *low, double *high)
{
    const sph_data *data = panel->data;
    *low = *high = data->rows ? data->x[feature] : 0;
    for (size_t i = 0; i < data->rows; i++) {
        double x = data->x[i * data->features + feature];
        *low = x < *low ? x : *low; /* a missing cell is in neither comparison */
        *high = x > *high ? x : *high;
    }
    double wide = (*high > *low ? *high - *low : 1) * share;
    *low -= wide;
    *high += wide;
}

int panels_plane(struct figure *figure, const struct panel *first, double window[4])
{
    static const char *const border[] = {"x_low", "x_high", "y_low", "y_high"};
    for (size_t k = 0; k < 2; k++) {
        char *name = data_feature_name(first->data, k);
        if (!name)
            return SPH_EMEMORY;
        figure_text(figure, k ? "y_name" : "x_name", name);
        mem_free(name);
        panel_window(first, k, 0.06, &window[2 * k], &window[2 * k + 1]);
    }
    for (int i = 0; i < 4; i++)
        figure_number(figure, border[i], window[i]);
    return 0;
}
