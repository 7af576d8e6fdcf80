/* SPDX-License-Identifier: MIT
 *
 * Jobs in processes of their own: all are run once, whatever happens to some of them. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"
#include "compare/crew.h"
#include "failure.h"
#include "fault.h"

enum { JOBS = 12 };

struct log {
    int err[JOBS], ended[JOBS], stopped[JOBS];
    double real[JOBS];
    char message[JOBS][sizeof(((struct failure *)0)->text)];
    size_t most_running, calls, stop_after;
    double share;
};

static int ended(void *self, size_t job, const struct crew_slot *slot)
{
    struct log *log = self;
    log->ended[job]++;
    log->err[job] = slot->err;
    log->stopped[job] = slot->stopped;
    log->real[job] = slot->real;
    memcpy(log->message[job], slot->failure.text, sizeof slot->failure.text);
    return 0;
}

static int progress(void *self, const struct crew_progress *p)
{
    struct log *log = self;
    log->calls++;
    if (p->running > log->most_running)
        log->most_running = p->running;
    assert_true(p->share >= log->share - 1e-12);
    log->share = p->share;
    return log->stop_after && p->ended >= log->stop_after;
}

static int square(void *self, size_t job, struct crew_slot *slot)
{
    (void)self;
    slot->real = (double)(job * job);
    return 0;
}

static void every_job_is_run_once_whatever_the_number_of_workers(void **state)
{
    (void)state;
    for (size_t workers = 0; workers < 5; workers++) {
        struct log log = {0};
        struct crew crew = {JOBS, workers, &log, square, NULL, ended, progress};
        int stopped = 7;
        assert_int_equal(crew_run(&crew, &stopped), 0);
        assert_int_equal(stopped, 0);
        for (size_t i = 0; i < JOBS; i++) {
            assert_int_equal(log.ended[i], 1);
            assert_int_equal(log.err[i], 0);
            assert_true(log.real[i] == (double)(i * i));
        }
        assert_true(log.most_running <= (workers ? workers : 1));
        assert_true(log.share == 1);
    }
}

/* Every third one is somebody else's. */
static int take_some(void *self, size_t job)
{
    struct log *log = self;
    assert_int_equal(log->ended[job], 0);
    return job % 3 != 2;
}

static int take_none(void *self, size_t job)
{
    (void)self;
    (void)job;
    return 0;
}

static int take_badly(void *self, size_t job)
{
    (void)self;
    return job == 4 ? sph_fail(SPH_EIO, "no") : 1;
}

static void jobs_that_are_not_taken_are_left_out(void **state)
{
    (void)state;
    for (size_t workers = 0; workers < 4; workers++) {
        struct log log = {0};
        struct crew crew = {JOBS, workers, &log, square, take_some, ended, progress};
        int stopped;
        assert_int_equal(crew_run(&crew, &stopped), 0);
        for (size_t i = 0; i < JOBS; i++)
            assert_int_equal(log.ended[i], i % 3 != 2);
        memset(&log, 0, sizeof log);
        crew.take = take_none;
        assert_int_equal(crew_run(&crew, &stopped), 0);
        for (size_t i = 0; i < JOBS; i++)
            assert_int_equal(log.ended[i], 0);
        memset(&log, 0, sizeof log);
        crew.take = take_badly;
        assert_fails(crew_run(&crew, &stopped), SPH_EIO);
        assert_int_equal(log.ended[4], 0);
    }
}

static const char said_by_7[] = "a reason with 100 % in it";

/* Each dies its own death. */
static int die(void *self, size_t job, struct crew_slot *slot)
{
    (void)self;
    (void)slot;
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
    signal(SIGABRT, SIG_DFL);
    if (job == 1)
        raise(SIGSEGV);
    if (job == 3)
        raise(SIGKILL);
    if (job == 5)
        _exit(3);
    if (job == 7)
        return sph_fail(SPH_EFORMAT, "%s", said_by_7);
    return 0;
}

static void a_job_that_dies_is_a_report_and_the_others_go_on(void **state)
{
    (void)state;
    struct log log = {0};
    struct crew crew = {JOBS, 2, &log, die, NULL, ended, NULL};
    int stopped;
    assert_int_equal(crew_run(&crew, &stopped), 0);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(log.ended[i], 1);
        int dies = i == 1 || i == 3 || i == 5;
        assert_int_equal(log.err[i], dies ? SPH_EIO : i == 7 ? SPH_EFORMAT : 0);
    }
    assert_string_not_equal(log.message[1], log.message[3]); /* each says which signal */
    assert_string_not_equal(log.message[1], log.message[5]);
    assert_string_equal(log.message[7], said_by_7);
}

static int wait_for_stop(void *self, size_t job, struct crew_slot *slot)
{
    (void)self;
    if (job == 0)
        return 0;
    double end = clock_seconds() + 30;
    while (!atomic_load(&slot->stop) && clock_seconds() < end)
        usleep(1000);
    slot->stopped = 1;
    return 0;
}

static void a_crew_that_is_asked_to_stop_lets_the_running_ones_end_and_begins_no_more(void **state)
{
    (void)state;
    struct log log = {.stop_after = 1};
    struct crew crew = {JOBS, 3, &log, wait_for_stop, NULL, ended, progress};
    int stopped = 0;
    double began = clock_seconds();
    assert_int_equal(crew_run(&crew, &stopped), 0);
    assert_true(clock_seconds() - began < 20);
    assert_int_equal(stopped, 1);
    size_t run = 0, asked = 0;
    for (size_t i = 0; i < JOBS; i++) {
        run += (size_t)log.ended[i];
        asked += (size_t)log.stopped[i];
    }
    assert_int_equal(asked, run - 1);
    assert_true(run >= 2 && run <= 5);
}

static int ended_badly(void *self, size_t job, const struct crew_slot *slot)
{
    (void)self;
    (void)slot;
    return job == 2 ? sph_fail_key(SPH_EIO, "owner", "cannot go on") : 0;
}

static int sleep_but_not_2(void *self, size_t job, struct crew_slot *slot)
{
    (void)self;
    (void)slot;
    for (int i = 0; job > 2 && i < 3000; i++)
        usleep(10000);
    return 0;
}

/* Goes on until it is asked to end, as a training does. */
static int until_asked(void *self, size_t job, struct crew_slot *slot)
{
    (void)self;
    (void)job;
    double end = clock_seconds() + 20;
    int answer = 0;
    atomic_store(&slot->share, 0.5);
    while (!(answer = crew_wants_stop(slot)) && clock_seconds() < end)
        ;
    slot->stopped = answer > 0;
    return answer < 0 ? answer : 0;
}

static int third_call(void *self, const struct crew_progress *p)
{
    struct log *log = self;
    log->share = p->share;
    return ++log->calls >= 3 ? (log->stop_after ? 1 : sph_fail(SPH_EIO, "enough")) : 0;
}

static void a_job_in_this_process_is_stopped_before_it_ends(void **state)
{
    (void)state;
    for (size_t fails = 0; fails < 2; fails++) {
        struct log log = {.stop_after = !fails};
        struct crew crew = {JOBS, 0, &log, until_asked, NULL, ended, third_call};
        int stopped = 0;
        double began = clock_seconds();
        int err = crew_run(&crew, &stopped);
        assert_true(clock_seconds() - began < 10);
        assert_int_equal(err, fails ? SPH_EIO : 0);
        assert_int_equal(stopped, !fails);
        assert_int_equal(log.ended[0], 1);
        assert_int_equal(log.stopped[0], !fails);
        assert_int_equal(log.ended[1], 0);
    }
}

static void a_crew_whose_owner_fails_leaves_no_process_behind(void **state)
{
    (void)state;
    struct crew crew = {JOBS, 3, NULL, sleep_but_not_2, NULL, ended_badly, NULL};
    int stopped;
    double began = clock_seconds();
    assert_fails(crew_run(&crew, &stopped), SPH_EIO, .key = "owner");
    assert_true(clock_seconds() - began < 20);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* A crew in a process of its own, killed. Its jobs hold a pipe open for as long as they live. */
static int begun[2];

static int wait_for_ever(void *self, size_t job, struct crew_slot *slot)
{
    (void)self, (void)job, (void)slot;
    if (write(begun[1], "", 1) == 1)
        for (;;)
            pause();
    return 0;
}

static void a_crew_that_is_killed_takes_its_jobs_with_it(void **state)
{
    (void)state;
    assert_int_equal(pipe(begun), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct log log = {0};
        struct crew crew = {2, 2, &log, wait_for_ever, NULL, ended, NULL};
        int stopped;
        crew_run(&crew, &stopped);
        _exit(0);
    }
    close(begun[1]);
    char byte;
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(begun[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct pollfd end = {.fd = begun[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 60000), 1);
    assert_int_equal(read(begun[0], &byte, 1), 0);
    close(begun[0]);
}

static void each_allocation_fails_once(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        struct log log = {0};
        struct crew crew = {JOBS, 2, &log, square, NULL, ended, NULL};
        int stopped;
        fault_after(n);
        int err = crew_run(&crew, &stopped), happened = fault_happened();
        fault_off();
        assert_int_equal(err, happened ? SPH_EMEMORY : 0);
        if (!happened) {
            assert_true(n >= 2);
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_is_run_once_whatever_the_number_of_workers),
        cmocka_unit_test(jobs_that_are_not_taken_are_left_out),
        cmocka_unit_test(a_job_that_dies_is_a_report_and_the_others_go_on),
        cmocka_unit_test(a_crew_that_is_asked_to_stop_lets_the_running_ones_end_and_begins_no_more),
        cmocka_unit_test(a_job_in_this_process_is_stopped_before_it_ends),
        cmocka_unit_test(a_crew_whose_owner_fails_leaves_no_process_behind),
        cmocka_unit_test(a_crew_that_is_killed_takes_its_jobs_with_it),
        cmocka_unit_test(each_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
