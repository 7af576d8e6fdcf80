/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 10, LINE_MAX_CHARS = 240 };

static const double REDRAW_SECONDS = 0.1, LINE_SECONDS = 30, LONG_EPOCH = 1;

/* Coarse is fine enough for ten frames a second and costs a training step nothing. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_init(struct progress *progress, int quiet, int verbose)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    const char *given = getenv("SPHERELU_PROGRESS_SECONDS");
    int terminal = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
    *progress = (struct progress){0};
    progress->lines = verbose && !quiet;
    progress->bar = terminal && !quiet && !verbose;
    progress->now_and_then = !terminal && !quiet && !verbose;
    progress->every = given && atof(given) > 0 ? atof(given) : LINE_SECONDS;
    progress->colour = !(no_colour && *no_colour);
}

static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 ? 80 : size.ws_col;
}

void progress_time(char *out, size_t size, double seconds)
{
    unsigned long s = seconds < 0 ? 0 : seconds > 3e7 ? 30000000 : (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%lu:%02lu", s / 60, s % 60);
}

static void draw(struct progress *progress, double share, const char *text)
{
    char bar[BAR_CELLS + 1], line[LINE_MAX_CHARS];
    int full = (int)(share * BAR_CELLS + 0.5);
    full = full < 0 ? 0 : full > BAR_CELLS ? BAR_CELLS : full;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(BAR_CELLS - full));
    bar[BAR_CELLS] = '\0';
    size_t columns = terminal_columns() - 1, prefix = BAR_CELLS + 3;
    int length = snprintf(line, sizeof line, "%s", text);
    if (length > 0 && (size_t)length + prefix > columns)
        line[columns > prefix ? columns - prefix : 0] = '\0'; /* a wrapped line could not be redrawn */
    fprintf(stderr, "\r%s[%s]%s %s\033[K", progress->colour ? "\033[32m" : "", bar,
            progress->colour ? "\033[0m" : "", line);
    fflush(stderr);
    progress->drawn = 1;
}

/* Three digits: 1234 steps/s, 12.3 steps/s, 4.56 s/step. */
static void rate_text(char *out, size_t size, double rate)
{
    if (rate >= 100)
        snprintf(out, size, "%.0f steps/s", rate);
    else if (rate >= 1)
        snprintf(out, size, "%.*f steps/s", rate >= 10 ? 1 : 2, rate);
    else
        snprintf(out, size, "%.3g s/step", 1 / rate);
}

/* Of the last while rather than of all: the first steps are slow, and other work comes between. */
static double recent_rate(struct progress *progress, const sph_view *view, double clock)
{
    enum { KEEP = 10 }; /* seconds */
    if (clock - progress->mark_clock > 2 * KEEP) {
        progress->mark_clock = progress->next_clock;
        progress->mark_step = progress->next_step;
    }
    if (clock - progress->next_clock > KEEP) {
        progress->next_clock = clock;
        progress->next_step = view->step;
    }
    double spent = clock - progress->mark_clock;
    return spent > 0 ? (double)(view->step - progress->mark_step) / spent : 0;
}

/* Behind the last step of an epoch come its scores, before the epoch is counted. */
static int at_epoch_end(const sph_view *view)
{
    return view->epochs && view->step && view->step * view->epochs == (view->epoch + 1) * view->steps;
}

static void step_text(struct progress *progress, const sph_view *view, double clock, char *text, size_t size)
{
    double rate = recent_rate(progress, view, clock);
    char left[32] = "?", speed[32] = "? steps/s";
    size_t each = view->epochs ? (size_t)(view->steps / view->epochs) : 0;
    char within[48] = "", loss[32] = "";
    if (rate > 0) {
        rate_text(speed, sizeof speed, rate);
        if (view->steps >= view->step)
            progress_time(left, sizeof left, (double)(view->steps - view->step) / rate);
    }
    if (at_epoch_end(view))
        snprintf(within, sizeof within, " scoring");
    else if (each > 1)
        snprintf(within, sizeof within, " step %zu/%zu", (size_t)(view->step - view->epoch * each), each);
    if (!isnan(view->loss)) /* an ensemble may not have taken a step yet */
        snprintf(loss, sizeof loss, "  loss %.3g", view->loss);
    snprintf(text, size, "epoch %zu/%zu%s  %s  %s left%s  %s", view->epoch, view->epochs, within, speed, left,
             loss, progress->watched);
}

static void draw_step(struct progress *progress, const sph_view *view, double clock)
{
    char text[LINE_MAX_CHARS];
    step_text(progress, view, clock, text, sizeof text);
    draw(progress, view->steps ? (double)view->step / (double)view->steps : 0, text);
}

void progress_regions(struct progress *progress, size_t regions, double share)
{
    char text[LINE_MAX_CHARS];
    double clock = now();
    if (!progress->bar || clock < progress->redraw)
        return;
    progress->redraw = clock + REDRAW_SECONDS;
    snprintf(text, sizeof text, "%zu regions  %.1f %% of the window", regions, 100 * share);
    draw(progress, share, text);
}

void progress_jobs(struct progress *progress, const sph_progress *view)
{
    char left[32] = "?", spent[32], text[LINE_MAX_CHARS];
    if (!progress->bar)
        return;
    if (!isnan(view->seconds_left))
        progress_time(left, sizeof left, view->seconds_left);
    progress_time(spent, sizeof spent, view->seconds);
    if (view->what)
        snprintf(text, sizeof text, "%s  %zu of %zu  %s", view->what, view->done, view->all, spent);
    else
        snprintf(text, sizeof text, "%zu of %zu jobs  %zu running  %s  %s left", view->done, view->all,
                 view->running, spent, left);
    draw(progress, view->share, text);
}

void progress_say(struct progress *progress, const char *what)
{
    if (progress->bar)
        draw(progress, 1, what);
}

void progress_share(struct progress *progress, const char *what, double share)
{
    char left[32] = "?", text[LINE_MAX_CHARS];
    if (!progress->bar)
        return;
    double clock = now();
    if (!progress->started) {
        progress->began = clock;
        progress->redraw = clock + REDRAW_SECONDS;
        progress->started = 1;
    }
    if (clock < progress->redraw)
        return;
    progress->redraw = clock + REDRAW_SECONDS;
    if (share > 0)
        progress_time(left, sizeof left, (clock - progress->began) * (1 - share) / share);
    snprintf(text, sizeof text, "%s  %.0f %%  %s left", what, 100 * share, left);
    draw(progress, share, text);
}

static int on_start(void *self, const sph_view *view)
{
    struct progress *progress = self;
    progress->first = view->step;
    progress->began = now();
    progress->redraw = progress->began + REDRAW_SECONDS;
    progress->mark_clock = progress->next_clock = progress->began;
    progress->mark_step = progress->next_step = view->step;
    progress->said = progress->epoch = progress->began;
    progress->started = 1;
    return 0;
}

static int on_step(void *self, const sph_view *view)
{
    struct progress *progress = self;
    if (!progress->bar && !progress->now_and_then)
        return 0;
    double clock = now();
    if (!progress->started)
        on_start(self, view);
    if (progress->now_and_then) {
        if (clock - progress->said >= progress->every) {
            char text[LINE_MAX_CHARS];
            step_text(progress, view, clock, text, sizeof text);
            fprintf(stderr, "%s\n", text);
            progress->said = clock;
        }
        return 0;
    }
    int long_scores = at_epoch_end(view) && clock - progress->epoch >= LONG_EPOCH;
    if (clock < progress->redraw && !long_scores)
        return 0;
    progress->redraw = clock + REDRAW_SECONDS;
    draw_step(progress, view, clock);
    return 0;
}

static int on_epoch(void *self, const sph_view *view)
{
    struct progress *progress = self;
    progress->epoch = now();
    if (progress->lines) {
        fprintf(stderr, "epoch %zu/%zu  lr %g", view->epoch, view->epochs, view->lr);
        for (size_t i = 0; i < view->values; i++)
            fprintf(stderr, "  %s %.6g", view->names[i], view->value[i]);
        fprintf(stderr, "%s\n", view->improved ? "  best" : "");
    }
    for (size_t i = 0; i < view->values; i++)
        if (!strncmp(view->names[i], "val_", 4)) {
            snprintf(progress->watched, sizeof progress->watched, "%s %.3g", view->names[i], view->value[i]);
            break;
        }
    return 0;
}

/* What comes now no step tells of. */
static int on_end(void *self, const sph_view *view)
{
    struct progress *progress = self;
    (void)view;
    if (progress->now_and_then && now() - progress->began >= progress->every)
        fprintf(stderr, "scoring all rows\n");
    progress_say(progress, "scoring all rows");
    return 0;
}

void progress_clear(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = 0;
}

sph_observer progress_observer(struct progress *progress)
{
    return (sph_observer){
        .self = progress, .start = on_start, .step = on_step, .epoch = on_epoch, .end = on_end};
}
