/* SPDX-License-Identifier: MIT */
#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "report/tool.h"

extern char **environ;

static const char program[] = "gnuplot";

enum { SECONDS_MOST = 300 }; /* for one picture or animation, unless SPHERELU_GNUPLOT_SECONDS is set */

static double seconds_most(void)
{
    double seconds;
    const char *text = getenv("SPHERELU_GNUPLOT_SECONDS");
    return text && text_to_double(text, &seconds) && seconds > 0 && seconds < 1e6 ? seconds : SECONDS_MOST;
}

/* out <- the first gnuplot in the absolute folders of PATH. Relative ones could start a program from the folder of the figures. 1: it was
 * found. */
static int gnuplot_path(char *out, size_t size)
{
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (size_t length; *path; path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        int used = snprintf(out, size, "%.*s/%s", (int)length, path, program);
        if (*path == '/' && used > 0 && (size_t)used < size && access(out, X_OK) == 0)
            return 1;
    }
    return 0;
}

const char *sph_gnuplot(char *out, size_t size)
{
    if (!out)
        return NULL;
    return gnuplot_path(out, size) ? out : NULL;
}

/* gnuplot prints the line, a caret below it, then `"NAME.gp" line 12: problem`. Returns the last line. */
static const char *last_line(char *said)
{
    size_t length = strlen(said);
    while (length && strchr("\r\n \t", said[length - 1]))
        said[--length] = '\0';
    char *line = strrchr(said, '\n');
    line = line ? line + 1 : said;
    return line + strspn(line, " \t");
}

/* Reads the output of gnuplot until it ends. 1: it took too long. */
static int read_all(struct text *out, int fd, double end)
{
    char piece[4096];
    for (double left; (left = end - clock_seconds()) > 0;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, (int)(left * 1000) + 1) <= 0)
            continue; /* timeout or signal */
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        if (out->length < sizeof piece * 16) /* further output only repeats */
            text_add_bytes(out, piece, (size_t)got);
    }
    return 1;
}

/* Waits for the end of the process, which can come long after its last output. 1: it took too long. */
static int wait_for(pid_t child, int *status, double end)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    for (;;) {
        pid_t got = waitpid(child, status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR))
            return 0;
        if (clock_seconds() >= end)
            return 1;
        nanosleep(&moment, NULL);
    }
}

static int spawn_in(pid_t *child, const char *path, int folder, char *const arguments[], int errors)
{
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason)
        return reason;
    if (!(reason = posix_spawn_file_actions_addfchdir_np(&actions, folder)) &&
        !(reason = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) &&
        !(reason = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)) &&
        !(reason = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)))
        reason = posix_spawn(child, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

int gnuplot_run(const char *dir, int folder, const char *script, const char *commands)
{
    char path[PATH_MAX];
    if (!gnuplot_path(path, sizeof path))
        return 1;
    int ends[2], err = 0, status = 0;
    struct text said = {0};
    char *arguments[] = {(char *)(uintptr_t)program, "-d", "-e", (char *)(uintptr_t)commands,
                         (char *)(uintptr_t)script,  NULL};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return sph_fail_at(SPH_EIO, dir, "cannot run gnuplot: %s", strerror(errno));
    pid_t child = 0;
    int reason = spawn_in(&child, path, folder, arguments, ends[1]);
    close(ends[1]);
    if (reason) {
        close(ends[0]);
        return sph_fail_at(SPH_EIO, dir, "cannot run gnuplot: %s", strerror(reason));
    }
    double most = seconds_most(), end = clock_seconds() + most;
    int late = read_all(&said, ends[0], end) || wait_for(child, &status, end);
    close(ends[0]);
    if (late) {
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    snprintf(path, sizeof path, "%s/%s", dir, script);
    if (said.failed)
        err = SPH_EMEMORY;
    else if (late)
        err = sph_fail_at(SPH_EIO, path, "gnuplot was terminated after %g seconds", most);
    else if (WIFSIGNALED(status))
        err = sph_fail_at(SPH_EIO, path, "gnuplot was terminated by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        err = sph_fail_at(SPH_EIO, path, "gnuplot: %s",
                          said.chars ? last_line(said.chars) : "failed without an error message");
    text_free(&said);
    return err;
}
