/* SPDX-License-Identifier: MIT
 *
 * A library to be preloaded (LD_PRELOAD) into the tool, unchanged as users have it: the N-th call of a kind goes wrong,
 * in whichever library or process of the command it is made. tests/cli/lib_faults.bash walks through them.
 *
 *   FAULT=KIND:HOW:N   KIND  memory, map, open, read, write, sync, rename, process, thread, wait
 *                      HOW   ENOMEM, EIO, ENOSPC, EINTR, EAGAIN, EMFILE (what errno will be), or short: a read or write
 *                            of one byte where more was asked for; INT or TERM: the signal comes before the call
 *                      N     from 1; 0: none fails
 *   FAULT_IN=TEXT      only calls made by a program or library whose path holds TEXT count
 *   FAULT_NOTE=FILE    gets a line `hit: ...` when it happens, and `calls: COUNT` when the command ends
 *   FAULT_STACKS=FILE  gets the numbers of those calls that are the first or the last to be made from their place: by the same
 *                      functions, each called from the same line of the one before it
 *   FAULT_OWN=N        of a place only our own functions count, the N innermost, and the first of another library that
 *                      they call: what goes on inside of a library is one place
 *   FAULT_CLOCK=jumps  the clock of the day jumps two days ahead, then back, at each reading; other clocks run
 *
 * Calls count from main on: what the loader and the constructors of libraries do before it is not the tool's. The clock
 * stands still, so that two commands that do the same write the same bytes. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind { MEMORY, MAP, OPEN, READ, WRITE, SYNC, RENAME, PROCESS, THREAD, WAIT, KINDS };

static const char *const kind_word[KINDS] = {"memory", "map",    "open",    "read",   "write",
                                             "sync",   "rename", "process", "thread", "wait"};

static const struct {
    const char *word;
    int number;
} reasons[] = {{"ENOMEM", ENOMEM}, {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
               {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"INT", -SIGINT},   {"TERM", -SIGTERM}};

static enum kind chosen = KINDS;
static long long at;
static int reason; /* an errno; 0: short; a negative signal */
static const char *note, *within, *stacks_file;
static int armed;
static atomic_llong *calls; /* shared with all processes that the command forks */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* ---------------------------------------------------------------- whether it is this call */

static void write_note(const char *text)
{
    int fd =
        note ? (int)syscall(SYS_openat, AT_FDCWD, note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, text, strlen(text));
    syscall(SYS_close, fd);
}

/* ---------------------------------------------------------------- where calls come from */

enum { STACKS = 1 << 16, DEPTH = 128 };

static struct stack {
    atomic_ullong hash; /* 0: free */
    atomic_llong first, last;
} * stacks; /* (STACKS) shared as calls is */

/* Where our own functions lie: the tool, and our library where it is one of its own. */
static struct {
    size_t begin, end;
} own[4];
static int owns, own_most;

static int keep_own(struct dl_phdr_info *object, size_t size, void *self)
{
    (void)size, (void)self;
    if (*object->dlpi_name && !strstr(object->dlpi_name, "libspherelu"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && owns < 4; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            own[owns].begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            own[owns].end = own[owns].begin + object->dlpi_phdr[i].p_memsz;
            owns++;
        }
    return 0;
}

static int is_own(const void *address)
{
    size_t at_address = (size_t)address;
    for (int i = 0; i < owns; i++)
        if (at_address >= own[i].begin && at_address < own[i].end)
            return 1;
    return 0;
}

static void keep_stack(long long number)
{
    static _Thread_local int within_it;
    void *frame[DEPTH];
    unsigned long long hash = 14695981039346656037u, none;
    if (within_it)
        return;
    within_it = 1;
    for (int i = 0, depth = backtrace(frame, DEPTH), met = 0; i < depth && (!own_most || met < own_most); i++)
        if (!own_most || (met += is_own(frame[i]), is_own(frame[i])) ||
            (i + 1 < depth && is_own(frame[i + 1])))
            hash = (hash ^ (unsigned long long)(size_t)frame[i]) * 1099511628211u;
    within_it = 0;
    hash |= 1;
    for (size_t at_slot = hash >> 48, tried = 0; tried < STACKS; at_slot++, tried++) {
        struct stack *stack = &stacks[at_slot % STACKS];
        none = 0;
        if (atomic_compare_exchange_strong(&stack->hash, &none, hash))
            atomic_store(&stack->first, number);
        else if (none != hash)
            continue;
        atomic_store(&stack->last, number);
        return;
    }
}

static void write_number(int fd, long long number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%lld\n", number);
    syscall(SYS_write, fd, text, (size_t)length);
}

static void write_stacks(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, stacks_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    for (size_t i = 0; fd >= 0 && i < STACKS; i++) {
        struct stack *stack = &stacks[i];
        if (atomic_load(&stack->hash))
            write_number(fd, atomic_load(&stack->first));
        if (atomic_load(&stack->first) != atomic_load(&stack->last))
            write_number(fd, atomic_load(&stack->last));
    }
    syscall(SYS_close, fd);
}

static int hit(enum kind kind, const char *name, const void *caller)
{
    Dl_info where = {0};
    if (!armed || kind != chosen)
        return 0;
    if (within && (!dladdr(caller, &where) || !strstr(where.dli_fname, within)))
        return 0;
    long long number = atomic_fetch_add(calls, 1) + 1;
    if (stacks)
        keep_stack(number);
    if (number != at)
        return 0;
    char text[512];
    dladdr(caller, &where);
    snprintf(text, sizeof text, "hit: %s in %s+%#zx (%s)\n", name, where.dli_fname ? where.dli_fname : "?",
             (size_t)((const char *)caller - (const char *)where.dli_fbase),
             where.dli_sname ? where.dli_sname : "?");
    write_note(text);
    if (reason < 0) {
        raise(-reason);
        return 0;
    }
    errno = reason;
    return 1;
}

static int uninterrupted(void)
{
    if (reason != EINTR)
        return 1;
    errno = 0;
    return 0;
}

#define HIT(kind)   hit(kind, __func__, __builtin_return_address(0))
#define FAILS(kind) (HIT(kind) && reason)

/* Of calls that no signal interrupts. */
#define FAILS_ALONE(kind) (FAILS(kind) && uninterrupted())

/* The function that this one stands before; ISO C knows no cast from void * to it. */
#define NEXT(name)                                                                                           \
    __typeof__(&name) next;                                                                                  \
    do {                                                                                                     \
        void *address = dlsym(RTLD_NEXT, #name);                                                             \
        memcpy(&next, &address, sizeof address);                                                             \
    } while (0)

/* ---------------------------------------------------------------- memory */

void *malloc(size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    int kept = errno;
    if (FAILS(MEMORY)) {
        errno = kept;
        return ENOMEM;
    }
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

static void *map(void *address, size_t length, int protection, int flags, int fd, off_t offset, int fails)
{
    return fails ? MAP_FAILED : (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(address, length, protection, flags, fd, offset, FAILS(MAP));
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(address, length, protection, flags, fd, offset, FAILS(MAP));
}

/* ---------------------------------------------------------------- files */

/* Folders are made and read without waiting, and stdio's files are no fifos: no signal interrupts those calls. */

static int open_at(int dir, const char *path, int flags, va_list more, int fails)
{
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
    return fails ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

#define OPENS(name, dir, parameters)                                                                         \
    int name parameters                                                                                      \
    {                                                                                                        \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        int fd = open_at(dir, path, flags, more, FAILS(OPEN));                                               \
        va_end(more);                                                                                        \
        return fd;                                                                                           \
    }
OPENS(open, AT_FDCWD, (const char *path, int flags, ...))
OPENS(open64, AT_FDCWD, (const char *path, int flags, ...))
OPENS(openat, dir, (int dir, const char *path, int flags, ...))
OPENS(openat64, dir, (int dir, const char *path, int flags, ...))

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return FAILS_ALONE(OPEN) ? NULL : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(opendir);
    return FAILS_ALONE(OPEN) ? NULL : next(path);
}

struct dirent *readdir(DIR *dir)
{
    NEXT(readdir);
    return FAILS_ALONE(READ) ? NULL : next(dir);
}

int mkdir(const char *path, mode_t mode)
{
    return FAILS_ALONE(OPEN) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return FAILS_ALONE(OPEN) ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

ssize_t read(int fd, void *bytes, size_t length)
{
    if (HIT(READ)) {
        if (reason)
            return -1;
        length = length > 1;
    }
    return syscall(SYS_read, fd, bytes, length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    if (HIT(READ)) {
        if (reason)
            return -1;
        length = length > 1;
    }
    return syscall(SYS_pread64, fd, bytes, length, offset);
}

/* What stands on stderr is what a fault is judged by. */
ssize_t write(int fd, const void *bytes, size_t length)
{
    if (fd != STDERR_FILENO && length && HIT(WRITE)) {
        if (reason)
            return -1;
        length = 1;
    }
    return syscall(SYS_write, fd, bytes, length);
}

int ftruncate(int fd, off_t length)
{
    return FAILS(WRITE) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate64(int fd, off_t length)
{
    return FAILS(WRITE) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

/* Does not sync: nobody cuts the power here, and thousands of syncs would take minutes. */
int fsync(int fd)
{
    (void)fd;
    return FAILS(SYNC) ? -1 : 0;
}

int rename(const char *from, const char *to)
{
    return FAILS(RENAME) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return FAILS(RENAME) ? -1 : (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
}

/* ---------------------------------------------------------------- processes and threads */

pid_t fork(void)
{
    NEXT(fork);
    return FAILS(PROCESS) ? -1 : next();
}

int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[])
{
    NEXT(posix_spawn);
    return FAILS(PROCESS) ? reason : next(child, path, actions, attributes, arguments, variables);
}

int pipe(int ends[2])
{
    return FAILS(PROCESS) ? -1 : (int)syscall(SYS_pipe2, ends, 0);
}

int pipe2(int ends[2], int flags)
{
    return FAILS(PROCESS) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    NEXT(pthread_create);
    return FAILS(THREAD) ? reason : next(thread, attributes, start, argument);
}

int poll(struct pollfd *polls, nfds_t count, int milliseconds)
{
    NEXT(poll);
    return FAILS(WAIT) ? -1 : next(polls, count, milliseconds);
}

pid_t waitpid(pid_t child, int *status, int options)
{
    NEXT(waitpid);
    return FAILS(WAIT) ? -1 : next(child, status, options);
}

/* ---------------------------------------------------------------- the clock */

static time_t of_the_day(void)
{
    static atomic_int calls_so_far;
    const time_t jump = 2 * 86400;
    return 1000000000 + (!getenv("FAULT_CLOCK") ? 0 : atomic_fetch_add(&calls_so_far, 1) % 2 ? jump : -jump);
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    if (getenv("FAULT_CLOCK") && which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, which, out);
    *out = (struct timespec){.tv_sec = of_the_day()};
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    *out = (struct timeval){.tv_sec = of_the_day()};
    return 0;
}

time_t time(time_t *out)
{
    time_t now = of_the_day();
    if (out)
        *out = now;
    return now;
}

/* ---------------------------------------------------------------- from main on */

/* stdio writes by calls of its own that nobody can stand before: stdout is made of one that can. */
static ssize_t write_stdout(void *self, const char *bytes, size_t length)
{
    size_t sent = 0;
    (void)self;
    while (sent < length) {
        ssize_t wrote = write(STDOUT_FILENO, bytes + sent, length - sent);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return 0; /* the stream's word for an error */
        sent += (size_t)wrote;
    }
    return (ssize_t)sent;
}

static void read_plan(const char *plan)
{
    for (size_t i = 0; i < KINDS; i++) {
        size_t length = strlen(kind_word[i]);
        if (!strncmp(plan, kind_word[i], length) && plan[length] == ':') {
            chosen = (enum kind)i;
            plan += length + 1;
            break;
        }
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!strncmp(plan, reasons[i].word, strlen(reasons[i].word)))
            reason = reasons[i].number;
    const char *number = strrchr(plan, ':');
    at = number ? atoll(number + 1) : 0;
    if (chosen == KINDS || !number || (!reason && strncmp(plan, "short:", 6) != 0)) {
        fprintf(stderr, "FAULT: expected KIND:HOW:N\n");
        _exit(99);
    }
}

static pid_t first;
static int (*real_main)(int, char **, char **);

static void *shared(size_t size)
{
    return (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int main_under_faults(int argc, char **argv, char **variables)
{
    const char *plan = getenv("FAULT");
    note = getenv("FAULT_NOTE");
    within = getenv("FAULT_IN");
    calls = shared(sizeof *calls);
    if ((stacks_file = getenv("FAULT_STACKS"))) {
        void *frame[1];
        backtrace(frame, 1); /* loads what it needs */
        own_most = getenv("FAULT_OWN") ? atoi(getenv("FAULT_OWN")) : 0;
        dl_iterate_phdr(keep_own, NULL);
        stacks = shared(STACKS * sizeof *stacks);
    }
    first = getpid();
    stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_stdout});
    unsetenv("LD_PRELOAD"); /* programs that the tool starts have faults of their own */
    if (plan)
        read_plan(plan);
    armed = 1;
    return real_main(argc, argv, variables);
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack);
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack)
{
    NEXT(__libc_start_main);
    real_main = program;
    return next(main_under_faults, argc, argv, init, fini, loader_fini, stack);
}

__attribute__((destructor)) static void tell_calls(void)
{
    char text[64];
    if (!armed || getpid() != first)
        return;
    armed = 0;
    if (stacks)
        write_stacks();
    snprintf(text, sizeof text, "calls: %lld\n", (long long)atomic_load(calls));
    write_note(text);
}
