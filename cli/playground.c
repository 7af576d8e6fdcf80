/* SPDX-License-Identifier: MIT
 *
 * spherelu playground: the page that trains in a browser, or the page with a run's recorded boundaries in it. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

enum { POINTS_MOST = 5000 };

static const char mark[] = "/*REPLAY*/"; /* in the page: where a run's record goes */

/* ---------------------------------------------------------------- files */

static int exists(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode);
}

/* Beside an installed program in share/spherelu; beside a program in its build folder. */
static int find_page(char *out, size_t size)
{
    static const char *const places[] = {"../share/spherelu/playground.html", "playground.html"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return 0;
    self[length] = 0;
    *(strrchr(self, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if ((size_t)snprintf(out, size, "%s%s", self, places[i]) < size && exists(out))
            return 1;
    return 0;
}

/* A whole file in memory, ended by a 0; NULL with errno set. Caller frees. */
static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;
    if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET) &&
        (bytes = malloc((size_t)size + 1)) && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    int error = errno;
    if (file)
        fclose(file);
    errno = error;
    if (bytes) {
        bytes[size] = 0;
        *length = (size_t)size;
    }
    return bytes;
}

/* JSON inside a script of the page: no name in it may end that script. */
static int put_record(const char *record, FILE *file)
{
    int failed = 0;
    for (; *record && !failed; record++)
        failed = (*record == '<' ? fputs("\\u003c", file) : putc(*record, file)) == EOF;
    return failed ? -1 : 0;
}

/* page <- with the record in place of its mark; record NULL: as it is. The file appears whole or not at all. */
static int write_page(const struct args *args, const char *path, const char *page, const char *record)
{
    char part[PATH_MAX];
    const char *at = record ? strstr(page, mark) : NULL;
    if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
        return cli_fail_at(args->command, path, "the path is too long");
    FILE *file = fopen(part, "wb");
    int failed = !file;
    if (file) {
        size_t head = at ? (size_t)(at - page) : strlen(page);
        failed = fwrite(page, 1, head, file) != head ||
                 (at && (put_record(record, file) < 0 || fputs(at + sizeof mark - 1, file) < 0));
        failed |= fclose(file) != 0;
        failed = failed || rename(part, path) != 0;
    }
    if (!failed)
        return 0;
    int error = errno;
    unlink(part);
    return cli_fail_at(args->command, path, "cannot be written: %s", strerror(error));
}

/* ---------------------------------------------------------------- a run's record */

static json_t *base64(const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(4 * (length / 3 + 1) + 1), *to = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < length; i += 3) {
        unsigned long group = (unsigned long)bytes[i] << 16 | (i + 1 < length ? bytes[i + 1] : 0u) << 8 |
                              (i + 2 < length ? bytes[i + 2] : 0u);
        for (int k = 0; k < 4; k++)
            *to++ = i + (size_t)k > length ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    *to = 0;
    json_t *value = json_string(text);
    free(text);
    return value;
}

/* The points that the run was trained on, as far as its options say how to open them; without them the page shows lines
 * alone. */
static void put_points(json_t *object, const sph_run *run)
{
    sph_data_opts opts;
    sph_data *data = NULL;
    const char *source = sph_run_get(run, "data"), *rows = sph_run_get(run, "rows"),
               *seed = sph_run_get(run, "seed"), *noise = sph_run_get(run, "noise"),
               *target = sph_run_get(run, "target");
    sph_data_defaults(&opts);
    opts.rows = rows && *rows ? (size_t)strtoull(rows, NULL, 10) : 0;
    opts.seed = seed && *seed ? strtoull(seed, NULL, 10) : 0;
    opts.noise = noise && *noise ? strtod(noise, NULL) : (double)NAN;
    opts.target = target && *target ? target : NULL;
    if (!source || !*source || sph_data_open(&data, source, &opts) < 0 ||
        sph_data_features(data) != sph_net_inputs(sph_run_net(run)) || !sph_data_x(data)) {
        sph_data_free(data);
        return;
    }
    json_t *x = json_array(), *y = json_array(), *classes = json_array();
    size_t n = sph_data_features(data), count = sph_data_rows(data);
    for (size_t i = 0; i < count && i < POINTS_MOST; i++) {
        for (size_t k = 0; k < n; k++)
            json_array_append_new(x, cli_number(sph_data_x(data)[i * n + k]));
        json_array_append_new(y, cli_number(sph_data_y(data)[i * sph_data_targets(data)]));
    }
    for (size_t k = 0; sph_data_class(data, k); k++)
        json_array_append_new(classes, json_string(sph_data_class(data, k)));
    json_object_set_new(object, "x", x);
    json_object_set_new(object, "y", y);
    json_object_set_new(object, "classes", classes);
    json_object_set_new(object, "task",
                        json_string(sph_word(SPH_WORDS_TASK, (int)sph_data_task(data))->word));
    sph_data_free(data);
}

/* *out <- the run as the page reads it, one line of JSON; caller frees. */
static int make_record(const struct args *args, const sph_run *run, char **out)
{
    const char *dir = args->word[0];
    const sph_net *net = sph_run_net(run);
    size_t inputs, length, units = sph_net_layer(net, 0, &inputs)->units;
    const sph_layer *layer = sph_net_layer(net, 0, NULL);
    char path[PATH_MAX];
    if (inputs > 2)
        return cli_fail_at(args->command, dir,
                           "the network has %zu inputs; the playground shows networks with 1 or 2", inputs);
    snprintf(path, sizeof path, "%s/boundaries.npz", dir);
    char *bytes = read_file(path, &length);
    if (!bytes)
        return cli_fail_at(args->command, dir,
                           "no boundaries were recorded; train with --record boundaries:every");
    json_t *object = json_object();
    json_object_set_new(object, "run", json_string(dir));
    json_object_set_new(object, "param", json_string(sph_word(SPH_WORDS_PARAM, (int)layer->param)->word));
    json_object_set_new(object, "norm", json_string(sph_word(SPH_WORDS_NORM, (int)layer->norm)->word));
    json_object_set_new(object, "inputs", json_integer((json_int_t)inputs));
    json_object_set_new(object, "units", json_integer((json_int_t)units));
    put_points(object, run);
    json_object_set_new(object, "npz", base64((const unsigned char *)bytes, length));
    free(bytes);
    *out = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(object);
    return *out && !cli_json_is_short() ? 0 : cli_no_memory(args->command);
}

/* ---------------------------------------------------------------- the browser */

static int has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* 1: a program was found that opens it. */
static int open_browser(const char *path)
{
    char *words[] = {"xdg-open", (char *)(size_t)path, NULL};
    pid_t child;
    int state = 1;
    if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) != 0)
        return 0;
    return waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static int print_path(const struct args *args, const char *path)
{
    int opened = !args_on(args, "no-open") && has_display() && open_browser(path);
    if (!args_on(args, "json")) {
        printf("%s\n", path);
        return EXIT_DONE;
    }
    json_t *object = json_object();
    json_object_set_new(object, "page", json_string(path));
    json_object_set_new(object, "opened", json_boolean(opened));
    return cli_print_json(args->command, object, 17);
}

/* ---------------------------------------------------------------- the command */

static int run_playground(const struct args *args)
{
    const char *out = args_value(args, "out");
    char found[PATH_MAX], beside[PATH_MAX], *page = NULL, *record = NULL;
    sph_run *run = NULL;
    size_t length = 0;
    int code = 0;
    if (!find_page(found, sizeof found))
        return cli_fail(args->command, EXIT_FAILED, NULL, "playground.html not found; run make playground");
    if (!args->words && !out)
        return print_path(args, found);
    if (args->words) {
        if ((code = cli_open_run(args->command, args->word[0], &run)))
            return code;
        code = make_record(args, run, &record);
        snprintf(beside, sizeof beside, "%s/playground.html", args->word[0]);
        out = out ? out : beside;
    }
    if (!code && !(page = read_file(found, &length)))
        code = cli_fail_at(args->command, found, "cannot be read: %s", strerror(errno));
    if (!code && record && !strstr(page, mark))
        code = cli_fail_at(args->command, found, "not a page of the playground");
    if (!code)
        code = write_page(args, out, page, record);
    if (!code)
        code = print_path(args, out);
    free(page);
    free(record);
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    {"out", "FILE.html", "", "page",
     "write the page to this file (default: with a run, RUN/playground.html)"},
    {"no-open", NULL, "", "page", "print the path only; do not open the browser"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_playground = {
    .name = "playground",
    .summary = "open the page that trains networks in the browser, or replay a run in it",
    .usage = "[RUN] [--out FILE.html] [--no-open]",
    .about =
        "Prints the path of the playground, one HTML file that trains networks side by side and draws where "
        "their "
        "units switch, and opens it in the browser if there is a display. With a run folder, the page "
        "replays the "
        "boundaries that were recorded (train with --record boundaries:every) of a network with one or two "
        "inputs. The page is looked for in share/spherelu beside an installed tool, then beside a tool in "
        "its "
        "build folder; `make playground` builds it.",
    .examples = "  spherelu playground\n"
                "  spherelu train --data crescents --hidden 10 --param gmp --record boundaries:every --out "
                "runs/first\n"
                "  spherelu playground runs/first --no-open\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 0,
    .run = run_playground,
};
