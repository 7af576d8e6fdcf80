/* SPDX-License-Identifier: MIT */
#include "compare/crew.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum { TICK_MILLISECONDS = 100, GRACE_MILLISECONDS = 3000 };

struct worker {
    pid_t pid; /* 0: idle */
    int pipe;  /* to its end of which nobody writes: it closes when the process is gone */
    size_t job;
    struct crew_slot *slot;
};

struct running {
    const struct crew *crew;
    struct worker *workers; /* (count) */
    struct pollfd *polls;   /* (count) */
    struct crew_slot *slots;
    size_t count, busy, next, ended;
    int stopping;
    struct crew_slot *here; /* of the job in this process, if one is at work */
    double told;            /* when its progress was told */
};

static void slot_clear(struct crew_slot *slot)
{
    memset(slot, 0, sizeof *slot);
}

static void do_job(const struct crew *crew, size_t job, struct crew_slot *slot)
{
    slot->err = crew->work(crew->self, job, slot);
    if (slot->err < 0)
        failure_save(&slot->failure);
    slot->ended = 1;
}

static int tell_progress(struct running *r)
{
    if (!r->crew->progress)
        return 0;
    struct crew_progress progress = {.jobs = r->crew->jobs, .ended = r->ended, .running = r->busy};
    double share = (double)r->ended;
    for (size_t i = 0; i < r->count; i++)
        if (r->workers[i].pid)
            share += atomic_load(&r->slots[i].share);
    if (r->here)
        share += atomic_load(&r->here->share);
    progress.share = share / (double)r->crew->jobs;
    int answer = r->crew->progress(r->crew->self, &progress);
    if (answer > 0 && !r->stopping) {
        r->stopping = 1;
        for (size_t i = 0; i < r->count; i++)
            atomic_store(&r->slots[i].stop, 1);
        if (r->here)
            atomic_store(&r->here->stop, 1);
    }
    return answer < 0 ? answer : 0;
}

/* Makes `next` the number of a job that is to be begun, or that of none. */
static int find_next(struct running *r)
{
    for (; r->crew->take && r->next < r->crew->jobs; r->next++, r->ended++) {
        int taken = r->crew->take(r->crew->self, r->next);
        if (taken)
            return taken < 0 ? taken : 0;
    }
    return 0;
}

/* ---------------------------------------------------------------- in this process */

int crew_wants_stop(struct crew_slot *slot)
{
    struct running *r = slot->here;
    double now = r ? clock_seconds() : 0;
    int err = 0;
    if (r && now - r->told >= TICK_MILLISECONDS / 1e3) {
        r->told = now;
        err = tell_progress(r);
    }
    return err < 0 ? err : atomic_load_explicit(&slot->stop, memory_order_relaxed);
}

static int run_here(struct running *r)
{
    const struct crew *crew = r->crew;
    struct crew_slot slot;
    int err = tell_progress(r);
    for (; !err && !r->stopping && !(err = find_next(r)) && r->next < crew->jobs; r->next++) {
        slot_clear(&slot);
        slot.here = r;
        r->here = &slot;
        r->busy = 1;
        do_job(crew, r->next, &slot);
        r->here = NULL;
        r->busy = 0;
        r->ended++;
        err = crew->ended(crew->self, r->next, &slot);
        if (!err)
            err = tell_progress(r);
    }
    return err;
}

/* ---------------------------------------------------------------- in processes of their own */

/* The child. A terminal's Ctrl-C reaches it too: the crew decides what that means. Whatever ends the crew
 * ends it: nobody would take its result. */
static void be_worker(const struct crew *crew, size_t job, struct crew_slot *slot, pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(1);
    size_t held = mem_held(),
           most = sph_max_memory(); /* what is held already is shared, the rest is parted */
    sph_set_max_memory(most > held ? held + (most - held) / crew->workers : most);
    do_job(crew, job, slot);
    _exit(0);
}

static int start(struct running *r, struct worker *worker)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe(ends) < 0)
        return sph_fail(SPH_EIO, "cannot start a job: %s", strerror(errno));
    slot_clear(worker->slot);
    worker->job = r->next;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_worker(r->crew, worker->job, worker->slot, parent);
    }
    close(ends[1]);
    if (pid < 0) {
        int reason = errno;
        close(ends[0]);
        return sph_fail(SPH_EIO, "cannot start a job: %s", strerror(reason));
    }
    worker->pid = pid;
    worker->pipe = ends[0];
    r->busy++;
    r->next++;
    return 0;
}

/* Starts what fits. Where the system has no process left, those that run are enough. */
static int start_all(struct running *r)
{
    for (size_t i = 0; i < r->count && r->next < r->crew->jobs && !r->stopping; i++) {
        if (r->workers[i].pid)
            continue;
        int err = find_next(r);
        if (err < 0 || r->next == r->crew->jobs)
            return err;
        if ((err = start(r, &r->workers[i])) < 0)
            return r->busy ? 0 : err;
    }
    return 0;
}

/* Waits for a process that has ended or will; its status, or -1. */
static int leave(struct running *r, struct worker *worker)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(worker->pid, &status, 0);
    while (got < 0 && errno == EINTR);
    close(worker->pipe);
    worker->pid = 0;
    r->busy--;
    return got > 0 ? status : -1;
}

static int finish(struct running *r, struct worker *worker)
{
    int status = leave(r, worker);
    r->ended++;
    struct crew_slot *slot = worker->slot;
    if (!slot->ended) {
        if (status >= 0 && WIFSIGNALED(status))
            slot->err =
                sph_fail(SPH_EIO, "the job's process was terminated by signal %d (%s)%s", WTERMSIG(status),
                         strsignal(WTERMSIG(status)), WTERMSIG(status) == SIGKILL ? ": out of memory?" : "");
        else
            slot->err = sph_fail(SPH_EIO, "the job's process ended without an error message");
        failure_save(&slot->failure);
    }
    return r->crew->ended(r->crew->self, worker->job, slot);
}

/* Calls end of each worker whose process has ended, or none within a tick. */
static int wait_a_little(struct running *r, int end(struct running *r, struct worker *worker))
{
    nfds_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->workers[i].pid)
            r->polls[count++] = (struct pollfd){.fd = r->workers[i].pipe, .events = POLLIN};
    if (poll(r->polls, count, TICK_MILLISECONDS) <= 0)
        return 0; /* time, or a signal: progress is due */
    nfds_t at = 0;
    int err = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->workers[i].pid || at >= count || r->polls[at].fd != r->workers[i].pipe)
            continue;
        if (r->polls[at++].revents) {
            int failed = end(r, &r->workers[i]);
            err = err ? err : failed;
        }
    }
    return err;
}

static int leave_quietly(struct running *r, struct worker *worker)
{
    leave(r, worker);
    return 0;
}

/* Jobs that are killed leave half a file behind, under its temporary name: they have a moment to stop by themselves. */
static void end_all(struct running *r)
{
    for (size_t i = 0; i < r->count; i++)
        atomic_store(&r->slots[i].stop, 1);
    for (int ticks = GRACE_MILLISECONDS / TICK_MILLISECONDS; ticks && r->busy; ticks--)
        wait_a_little(r, leave_quietly);
    for (size_t i = 0; i < r->count; i++)
        if (r->workers[i].pid) {
            kill(r->workers[i].pid, SIGKILL);
            leave(r, &r->workers[i]);
        }
}

static int run_beside(struct running *r)
{
    int err = tell_progress(r);
    while (!err && (r->busy || (r->next < r->crew->jobs && !r->stopping))) {
        if ((err = start_all(r)) < 0 || (r->busy && (err = wait_a_little(r, finish)) < 0))
            break;
        err = tell_progress(r);
    }
    if (err < 0) {
        struct failure failure;
        failure_save(&failure);
        end_all(r);
        return failure_set(&failure);
    }
    return 0;
}

int crew_run(const struct crew *crew, int *stopped)
{
    struct running r = {.crew = crew};
    int err = 0;
    *stopped = 0;
    if (!crew->jobs)
        return 0;
    if (!crew->workers) {
        err = run_here(&r);
    } else {
        r.count = crew->workers < crew->jobs ? crew->workers : crew->jobs;
        r.workers = mem_get(r.count, sizeof *r.workers);
        r.polls = mem_get(r.count, sizeof *r.polls);
        if (!r.workers || !r.polls) {
            err = SPH_EMEMORY;
            goto out;
        }
        void *shared =
            mmap(NULL, r.count * sizeof *r.slots, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) {
            err = sph_fail(SPH_EMEMORY, "out of memory for %zu jobs at a time", r.count);
            goto out;
        }
        r.slots = shared;
        for (size_t i = 0; i < r.count; i++)
            r.workers[i].slot = &r.slots[i];
        err = run_beside(&r);
        munmap(shared, r.count * sizeof *r.slots);
    }
    *stopped = r.stopping;
out:
    mem_free(r.workers);
    mem_free(r.polls);
    return err;
}
