/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <signal.h>

static volatile sig_atomic_t came;

static void on_signal(int number)
{
    came = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

void stop_catch(void)
{
    static int caught;
    if (caught++)
        return;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int stop_signal(void)
{
    return came;
}
