/* SPDX-License-Identifier: MIT
 *
 * spherelu playground: the page that trains in a browser, optionally with the recorded boundaries of a run. */
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cli.h"
#include "report/tool.h"

extern char **environ;

static int has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* 1: a program opened the page. */
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
    return cli_print_json(args->command, json_pack("{s:s, s:b}", "page", path, "opened", opened), 17);
}

static int write_page(const struct args *args, const char *page)
{
    const char *out = args_value(args, "out");
    char beside[PATH_MAX];
    sph_run *run = NULL;
    int code = args->words ? cli_open_run(args->command, args->word[0], &run) : 0;
    if (code)
        return code;
    if (!out) {
        snprintf(beside, sizeof beside, "%s/playground.html", args->word[0]);
        out = beside;
    }
    int err = sph_playground_write(page, run, out);
    sph_run_free(run);
    return err ? cli_fail_with(args->command, err) : print_path(args, out);
}

static int run_playground(const struct args *args)
{
    char *page = NULL;
    int found = sph_playground_find(&page), code;
    if (found < 0)
        return cli_fail_with(args->command, found);
    if (!found)
        return cli_fail(args->command, EXIT_FAILED, NULL, "playground.html not found; run make playground");
    code = args->words || args_value(args, "out") ? write_page(args, page) : print_path(args, page);
    sph_playground_free(page);
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
        "their units switch, and opens it in the browser if there is a display. With a run folder, the page "
        "replays the boundaries that were recorded (train with --record boundaries:every) of a network with "
        "one or two "
        "inputs. The page is looked for in share/spherelu beside an installed tool, then beside a tool in "
        "its build folder; `make playground` builds it.",
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
