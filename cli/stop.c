/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static char last_words[4200];
static size_t last_length;

/* The work did not come to a place where it can stop: what is on the disk is whole at any moment. */
static void leave(int number)
{
    (void)number;
    if (last_length && write(STDERR_FILENO, last_words, last_length) < 0)
        last_length = 0;
    _exit(128 + came);
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

void stop_catch(const char *words)
{
    static int caught;
    if (caught++)
        return;
    size_t length = strlen(words);
    if (length + 1 < sizeof last_words) {
        memcpy(last_words, words, length);
        last_words[length] = '\n';
        last_length = length + 1;
    }
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
