/* SPDX-License-Identifier: MIT
 *
 * The wrongly classified test images with the highest probability. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "job/verdicts.h"
#include "report/figures.h"

enum { ACROSS = 8, DOWN_ALONE = 3, TILE_MOST = 64 };

/* Mistakes with the highest probability first; equal ones in the order of the rows. */
static int by_chance(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    int wrong_x = x->given != x->truth, wrong_y = y->given != y->truth;
    if (wrong_x != wrong_y)
        return wrong_y - wrong_x;
    if (x->chance > y->chance || x->chance < y->chance)
        return x->chance < y->chance ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The mean of the pixels of a channel that fall on pixel (x, y) of the tile. */
static double mean_of(const uint8_t *plane, size_t width, size_t height, size_t x, size_t y, size_t across,
                      size_t down)
{
    size_t x0 = x * width / across, x1 = (x + 1) * width / across, y0 = y * height / down,
           y1 = (y + 1) * height / down, sum = 0;
    for (size_t j = y0; j < y1; j++)
        for (size_t i = x0; i < x1; i++)
            sum += plane[j * width + i];
    return (double)sum / (double)((x1 - x0) * (y1 - y0));
}

/* Rows of x, y (from below), red, green, blue in the unit square. */
static void write_tile(struct figure *figure, const sph_data *data, const uint8_t *pixels)
{
    size_t w = data->image.width, h = data->image.height, across = w < TILE_MOST ? w : TILE_MOST,
           down = h < TILE_MOST ? h : TILE_MOST, plane = w * h;
    for (size_t y = 0; y < down; y++)
        for (size_t x = 0; x < across; x++) {
            double row[5] = {((double)x + 0.5) / (double)across, 1 - ((double)y + 0.5) / (double)down};
            for (size_t c = 0; c < 3; c++)
                row[2 + c] =
                    mean_of(pixels + (data->image.channels == 3 ? c : 0) * plane, w, h, x, y, across, down);
            figure_row(figure, row, 5);
        }
    figure_gap(figure, 2);
}

static int write_images(struct figure *figure, const sph_data *data, const struct verdict *list, size_t count)
{
    struct picture_stream *stream = NULL;
    int err = data->image.pictures
                  ? data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0)
                  : 0;
    for (size_t i = 0; i < count && !err; i++) {
        const uint8_t *pixels = data->image.pixels ? data->image.pixels + list[i].row * data->features : NULL;
        if (stream)
            err = stream->take(stream, list[i].row, &pixels);
        if (!err)
            write_tile(figure, data, pixels);
    }
    if (stream)
        stream->release(stream);
    return err;
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t number, size_t most)
{
    const sph_data *data = panel->run.data;
    const sph_split *split = &panel->run.split;
    size_t count = split->test_rows ? split->test_rows : split->val_rows, wrong = 0;
    struct verdict *list = mem_get(count, sizeof *list);
    int err = list ? verdicts_make(list, panel->run.nets, panel->run.members, data,
                                   split->test_rows ? split->test : split->val, count)
                   : SPH_EMEMORY;
    if (!err) {
        qsort(list, count, sizeof *list, by_chance);
        while (wrong < most && wrong < count && list[wrong].given != list[wrong].truth)
            wrong++;
        for (size_t i = 0; i < wrong; i++) {
            panels_text(figure, "truth", number * most + i, "%s", data->labels[list[i].truth]);
            panels_text(figure, "given", number * most + i, "%s %.2f", data->labels[list[i].given],
                        (double)list[i].chance);
        }
        panels_columns(figure, number, "", "x, y, red, green, blue; a block for each image");
        err = write_images(figure, data, list, wrong);
    }
    panels_number(figure, "images", number, (double)wrong);
    panels_note(figure, number, wrong || err ? "" : "no mistake");
    mem_free(list);
    return err;
}

static int fill(struct figure *figure, struct panels *panels)
{
    size_t count = panels_count(panels), most = count > 1 ? ACROSS : ACROSS * DOWN_ALONE, drawn = 0;
    int err = 0;
    panels_head(figure, panels->rows, panels->columns);
    figure_number(figure, "most", (double)most);
    figure_number(figure, "tiles", ACROSS);
    for (size_t i = 0; i < count && !err; i++) {
        const struct panel *panel;
        if ((err = panels_open(panels, i, &panel)) < 0)
            break;
        int rows = panel->run.split.test_rows || panel->run.split.val_rows;
        panels_title(figure, panel, i);
        panels_score(figure, panel, i);
        if (panel->run.nets && rows) {
            err = write_panel(figure, panel, i, most);
            drawn++;
        } else {
            panels_number(figure, "images", i, 0);
            panels_note(figure, i, rows ? panel_without_model(panel) : "the run has no test set");
        }
    }
    if (!err && !drawn)
        err = sph_fail_at(SPH_EFORMAT, panels->dir, "the run has no model or no test set");
    return err;
}

const struct figure_kind figure_wrong = {
    .needs = FIGURE_DATA | FIGURE_LAST | FIGURE_TESTED,
    .task = FIGURE_IMAGES,
    .fill = fill,
    .caption = "Wrongly classified test images with the highest probability. Each has its true class, and "
               "below it the predicted class with its probability.",
};
