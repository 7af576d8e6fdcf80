/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t came;
static char last_words[5000];
static size_t last_length;

int stop_end(void)
{
    if (last_length && write(STDERR_FILENO, last_words, last_length) < 0)
        last_length = 0;
    return 128 + (came ? came : SIGTERM); /* 0: another process got it */
}

/* The work did not come to a place where it can stop: what is on the disk is whole at any moment. */
static void leave(int number)
{
    (void)number;
    _exit(stop_end());
}

static void on_signal(int number)
{
    static const struct itimerval patience = {.it_value = {.tv_usec = 600000}};
    came = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &patience, NULL);
}

void stop_catch(const struct command *command, const char *advice)
{
    static int caught;
    if (caught++)
        return;
    char text[4096];
    snprintf(text, sizeof text, "stopped; %s", advice ? advice : "");
    last_length = !advice ? 0
                          : cli_line(last_words, sizeof last_words, "error", "stopped", command,
                                     &(struct sph_failure){.text = text});
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void stop_over(void)
{
    static const struct itimerval never = {0};
    setitimer(ITIMER_REAL, &never, NULL);
}

int stop_signal(void)
{
    return came;
}
