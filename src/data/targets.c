/* SPDX-License-Identifier: MIT
 *
 * What is to be learnt: regression or classes, which classes, and whether there is anything to learn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "data/build.h"
#include "base/levels.h"

const char *targets_list(char *const *texts, size_t count, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t need = strlen(texts[i]) + 2;
        if (used + need + 6 > size) {
            snprintf(buffer + used, size - used, "%s...", i ? ", " : "");
            break;
        }
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", texts[i]);
    }
    return buffer;
}

int targets_are_numbers(char *const *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cell cell;
        cell_read(&cell, labels[i]);
        if (cell.kind != CELL_NUMBER)
            return 0;
    }
    return count > 0;
}

static double number_of(const char *label)
{
    struct cell cell;
    cell_read(&cell, label);
    return cell.value;
}

/* Labels are numbers in ascending order, or words in bytewise order (data.h). */
ptrdiff_t targets_find(const sph_data *data, const struct cell *cell)
{
    ptrdiff_t found = cell->text ? levels_find(data->labels, data->classes, cell->text) : -1;
    if (found >= 0 || cell->kind != CELL_NUMBER)
        return found;
    /* the same number written otherwise, or labels in numeric order */
    for (size_t low = 0, high = data->classes; low < high;) {
        size_t middle = low + (high - low) / 2;
        struct cell label;
        cell_read(&label, data->labels[middle]);
        if (label.kind != CELL_NUMBER)
            return -1;
        if (label.value == cell->value)
            return (ptrdiff_t)middle;
        if (label.value < cell->value)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* The shortest text that reads back as value. */
static char *number_text(double value)
{
    char text[40];
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(text, sizeof text, "%.0f", value + 0.0); /* no "-0" */
        return mem_text(text);
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (number_of(text) == value)
            break;
    }
    return mem_text(text);
}

/* Makes classes of the different values in y. */
static int number_classes(sph_data *data)
{
    double *sorted = mem_get(data->rows, sizeof *sorted);
    if (!sorted)
        return SPH_EMEMORY;
    memcpy(sorted, data->y, data->rows * sizeof *sorted);
    qsort(sorted, data->rows, sizeof *sorted, by_double);
    size_t count = 0;
    for (size_t i = 0; i < data->rows; i++)
        if (!i || sorted[i] != sorted[i - 1])
            sorted[count++] = sorted[i];
    int err = 0;
    data->labels = mem_get(count, sizeof *data->labels);
    if (!data->labels)
        err = SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        data->labels[i] = number_text(sorted[i]);
        if (data->labels[i])
            data->classes++;
        else
            err = SPH_EMEMORY;
    }
    for (size_t i = 0; i < data->rows && !err; i++) {
        const double *at = bsearch(&data->y[i], sorted, count, sizeof *sorted, by_double);
        data->y[i] = (double)(at - sorted);
    }
    mem_free(sorted);
    return err;
}

/* The number of different values, 3 standing for more. */
static size_t count_values_to_three(const double *y, size_t rows)
{
    double seen[2] = {0};
    size_t count = 0;
    for (size_t i = 0; i < rows && count < 3; i++) {
        if ((count > 0 && y[i] == seen[0]) || (count > 1 && y[i] == seen[1]))
            continue;
        if (count < 2)
            seen[count] = y[i];
        count++;
    }
    return count;
}

static int check_varies(const sph_data *data, const char *path)
{
    for (size_t j = 0; j < data->targets; j++) {
        size_t i = 1;
        while (i < data->rows && data->y[i * data->targets + j] == data->y[j])
            i++;
        if (i < data->rows)
            continue;
        const char *name = data_target_name(data, j);
        if (data->task == SPH_TASK_REGRESSION)
            return sph_fail_of(SPH_EFORMAT, path, 0, name,
                               "target '%s' is %g in all %zu rows, so there is nothing to learn", name,
                               data->y[j], data->rows);
        return sph_fail_of(SPH_EFORMAT, path, 0, name,
                           "target '%s' is the class '%s' in all %zu rows, so there is nothing to learn",
                           name, data->labels[(size_t)data->y[j]], data->rows);
    }
    return 0;
}

static int check_classes(const sph_data *data, const char *path)
{
    char list[200];
    const char *name = data_target_name(data, 0);
    if (data->task == SPH_TASK_BINARY && data->classes > 2)
        return sph_fail_of(SPH_EARG, path, 0, name,
                           "target '%s' has %zu classes (%s), expected 2 for the task binary", name,
                           data->classes, targets_list(data->labels, data->classes, list, sizeof list));
    if (data->classes > 2 && data->classes > data->rows / 2)
        return sph_fail_of(SPH_EFORMAT, path, 0, name,
                           "target '%s' has %zu different values in %zu rows, which is too many for classes",
                           name, data->classes, data->rows);
    return 0;
}

/* Of a set that is made here these are numbers of classes; in a file they may be anything. */
static int all_whole(const double *y, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (y[i] != floor(y[i]))
            return 0;
    return 1;
}

/* Different values of y, where they are at most WHOLE_MOST whole numbers; 0: otherwise. */
enum { WHOLE_MOST = 20 };
static size_t whole_values(const sph_data *data, double *least, double *most)
{
    double seen[WHOLE_MOST];
    size_t count = 0;
    *least = *most = data->y[0];
    for (size_t i = 0; i < data->rows; i++) {
        double y = data->y[i];
        size_t at = 0;
        if (y != floor(y))
            return 0;
        while (at < count && seen[at] != y)
            at++;
        if (at == WHOLE_MOST)
            return 0;
        if (at == count)
            seen[count++] = y;
        *least = fmin(*least, y);
        *most = fmax(*most, y);
    }
    return count;
}

/* Whole numbers 0, 1, ... or 1, 2, ... without a gap are classes; others may be meant as them. Rows so few that most
 * values stand alone tell nothing. */
static int is_numbered(sph_data *data)
{
    double least, most;
    size_t count = whole_values(data, &least, &most);
    const char *name = data_target_name(data, 0);
    if (count < 3 || count * 2 > data->rows)
        return 0;
    int numbered = (least == 0 || least == 1) && most - least == (double)(count - 1);
    if (numbered)
        data_note(data,
                  "target '%s': %zu whole numbers from %g to %g, treated as classes; for regression use "
                  "--task regression",
                  name, count, least, most);
    else
        data_note(data,
                  "target '%s': %zu different whole numbers from %g to %g, treated as regression; for "
                  "classes use --task classes",
                  name, count, least, most);
    return numbered;
}

int targets_settle(sph_data *data, const char *path, int task)
{
    int err = 0;
    if (data->rows < 2)
        return sph_fail_at(SPH_EFORMAT, path, "one row of data, expected at least 2");
    if (data->targets > 1) {
        if (task > 0)
            return sph_fail_of(SPH_EARG, path, 0, "target", "%zu targets, expected one for a task of classes",
                               data->targets);
        data->task = SPH_TASK_REGRESSION;
        return check_varies(data, path);
    }
    if (task < 0) {
        int binary = data->labels ? data->classes <= 2 : count_values_to_three(data->y, data->rows) == 2;
        int classes =
            data->labels || (data->reading.made ? all_whole(data->y, data->rows)
                                                : !binary && !data->reading.known && is_numbered(data));
        task = binary ? SPH_TASK_BINARY : classes ? SPH_TASK_CLASSES : SPH_TASK_REGRESSION;
    }
    data->task = (sph_task)task;
    if (data->task != SPH_TASK_REGRESSION && !data->labels)
        err = number_classes(data);
    if (!err)
        err = check_varies(data, path);
    if (!err && data->task != SPH_TASK_REGRESSION)
        err = check_classes(data, path);
    return err;
}
