/* SPDX-License-Identifier: MIT
 *
 * Files: what is written is what is read, and whatever fails or is killed on the way leaves the old file or
 * the new. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "failure.h"
#include "fault_system.h"
#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"
#include "file/file_sys.h"
#include "base/memory.h"
#include "short_memory.h"
#include "temporaries.h"

/* ---------------------------------------------------------------- a folder for each test */

static char dir[64], path[80]; /* path: a file in dir */

static int make_folder(void **state)
{
    (void)state;
    sys_plan(0, FAIL);
    strcpy(dir, "/tmp/spherelu-file-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/a", dir);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char joined[160]; /* until the next call */
    snprintf(joined, sizeof joined, "%s/%s", dir, name);
    return joined;
}

static void assert_holds(const char *name, const char *expected)
{
    char *bytes = NULL;
    size_t length = 0;
    assert_int_equal(file_read(&bytes, &length, name), 0);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(bytes, expected);
    mem_free(bytes);
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* ---------------------------------------------------------------- reading */

static void read_gives_all_bytes_and_a_nul(void **state)
{
    (void)state;
    enum { SIZE = 100001 };
    char *bytes = malloc(SIZE), *back;
    size_t length;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 7);
    assert_int_equal(file_replace_with(path, bytes, SIZE), 0);
    assert_int_equal(file_read(&back, &length, path), 0);
    assert_int_equal(length, SIZE);
    assert_memory_equal(back, bytes, SIZE);
    assert_int_equal(back[SIZE], 0);
    mem_free(back);
    free(bytes);
}

static void read_follows_files_that_do_not_know_their_size(void **state)
{
    (void)state;
    char *bytes;
    size_t length;
    assert_int_equal(file_read(&bytes, &length, "/proc/self/status"), 0);
    assert_true(length > 100);
    assert_int_equal(strlen(bytes), length);
    mem_free(bytes);
    assert_fails(file_read(&bytes, &length, "/dev/null"), SPH_EIO, .path = "/dev/null");
    assert_int_equal(file_read_stream(&bytes, &length, "/dev/null"), 0);
    assert_int_equal(length, 0);
    assert_string_equal(bytes, "");
    mem_free(bytes);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 30000; i++)
            if (write(ends[1], "0123456789", 10) != 10)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    char name[64];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_fails(file_read(&bytes, &length, name), SPH_EIO, .path = name);
    assert_int_equal(file_read_stream(&bytes, &length, name), 0);
    assert_int_equal(length, 300000);
    mem_free(bytes);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void what_cannot_be_read_is_named_with_its_reason(void **state)
{
    (void)state;
    char *bytes;
    size_t length;
    struct file_map map;
    int files = open_files();
    assert_fails(file_read(&bytes, &length, in_folder("none")), SPH_EIO, .path = in_folder("none"));
    assert_null(bytes);
    assert_fails(file_read(&bytes, &length, dir), SPH_EIO, .path = dir);
    assert_fails(file_map(&map, in_folder("none")), SPH_EIO, .path = in_folder("none"));
    assert_fails(file_map(&map, dir), SPH_EIO, .path = dir);
    assert_fails(file_map(&map, "/dev/null"), SPH_EIO, .path = "/dev/null");
    assert_int_equal(open_files(), files);
}

static void map_shows_the_bytes_and_an_empty_file_is_no_exception(void **state)
{
    (void)state;
    struct file_map map;
    assert_int_equal(file_replace_with(path, "seven b", 7), 0);
    assert_int_equal(file_map(&map, path), 0);
    assert_int_equal(map.length, 7);
    assert_memory_equal(map.data, "seven b", 7);
    file_unmap(&map);
    assert_null(map.data);
    file_unmap(&map);
    assert_int_equal(file_replace_with(in_folder("b"), "", 0), 0);
    assert_int_equal(file_map(&map, in_folder("b")), 0);
    assert_non_null(map.data);
    assert_int_equal(map.length, 0);
    file_unmap(&map);
}

/* ---------------------------------------------------------------- directories */

static void directories_are_made_with_their_parents(void **state)
{
    (void)state;
    assert_false(file_exists(in_folder("x")));
    assert_int_equal(file_make_directory(in_folder("x/y//z/")), 0);
    assert_true(file_is_directory(in_folder("x/y/z")));
    assert_int_equal(file_make_directory(in_folder("x/y/z")), 0);
    assert_int_equal(file_make_directory("/"), 0);
    assert_int_equal(file_replace_with(in_folder("x/f"), "1", 1), 0);
    assert_true(file_exists(in_folder("x/f")));
    assert_false(file_is_directory(in_folder("x/f")));
    assert_fails(file_make_directory(in_folder("x/f")), SPH_EIO, .path = in_folder("x/f"));
    assert_fails(file_make_directory(in_folder("x/f/g")), SPH_EIO, .path = in_folder("x/f"));
    assert_int_equal(file_make_directory(""), SPH_EIO);
}

static void each_folder_that_is_made_is_synced_into_its_parent(void **state)
{
    (void)state;
    sys_plan(0, FAIL);
    assert_int_equal(file_make_directory(in_folder("p/q//r/")), 0);
    assert_int_equal(sys.calls, 3);
    assert_int_equal(file_make_directory(in_folder("p/q/r")), 0);
    assert_int_equal(sys.calls, 3); /* nothing was made */
    for (int at = 1; at <= 2; at++) {
        char name[16];
        snprintf(name, sizeof name, "s%d/t", at);
        sys_plan(at, FAIL);
        assert_fails(file_make_directory(in_folder(name)), SPH_EIO, .path = at == 1 ? "/s1" : "/s2/t");
    }
    char held[256];
    assert_non_null(getcwd(held, sizeof held));
    assert_int_equal(chdir(dir), 0);
    sys_plan(0, FAIL);
    assert_int_equal(file_make_directory("here"), 0);
    assert_int_equal(sys.calls, 1);
    assert_int_equal(chdir(held), 0);
}

static void join_puts_one_slash_between(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"/", "b", "/b"}, {"a", "b/c", "a/b/c"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *joined = file_join(cases[i][0], cases[i][1]);
        assert_string_equal(joined, cases[i][2]);
        mem_free(joined);
    }
}

static void between_folders_leads_from_one_to_the_other(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"a", "a", "."},         {"a/b/c", "a", "../.."},
                                           {"a", "a/b/c", "b/c"},   {"a/b", "ab", "../../ab"},
                                           {"ab", "a/b", "../a/b"}, {"link", "a", ".."}};
    char *path_there = NULL;
    assert_int_equal(file_make_directory(in_folder("a/b/c")), 0);
    assert_int_equal(file_make_directory(in_folder("ab")), 0);
    assert_int_equal(symlink("a/b", in_folder("link")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *from = strdup(in_folder(cases[i][0]));
        assert_int_equal(file_between(&path_there, from, in_folder(cases[i][1])), 0);
        assert_string_equal(path_there, cases[i][2]);
        mem_free(path_there);
        free(from);
    }
    assert_int_equal(file_between(&path_there, "/", "/usr/bin"), 0);
    assert_string_equal(path_there + strlen(path_there) - 3, "bin");
    mem_free(path_there);
    assert_fails(file_between(&path_there, in_folder("none"), "/"), SPH_EIO, .path = in_folder("none"));
}

/* ---------------------------------------------------------------- replacing */

static void replace_shows_the_new_file_only_after_commit(void **state)
{
    (void)state;
    struct file_replace file;
    int files = open_files();
    assert_int_equal(file_replace_with(path, "old", 3), 0);
    assert_int_equal(file_replace_begin(&file, path), 0);
    assert_int_equal(file_replace_write(&file, "ne", 2), 0);
    assert_holds(path, "old");
    assert_int_equal(file_replace_write(&file, "wer", 3), 0);
    assert_int_equal(file_replace_commit(&file), 0);
    assert_holds(path, "newer");
    assert_int_equal(temporaries_in(dir, "a.", 0), 0);
    file_replace_abort(&file); /* after commit: nothing */
    assert_holds(path, "newer");

    assert_int_equal(file_replace_begin(&file, path), 0);
    assert_int_equal(file_replace_write(&file, "x", 1), 0);
    assert_int_equal(temporaries_in(dir, "a.", 0), 1);
    file_replace_abort(&file);
    file_replace_abort(&file);
    assert_int_equal(temporaries_in(dir, "a.", 0), 0);
    assert_holds(path, "newer");
    struct file_replace zero = {0};
    file_replace_abort(&zero); /* must not close descriptor 0 */
    assert_int_equal(open_files(), files);
}

static void others_files_stay_and_links_are_not_followed(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(file_replace_with(in_folder("a.tmp"), "mine", 4), 0);
    assert_int_equal(file_replace_with(in_folder("outside"), "old", 3), 0);
    assert_int_equal(symlink("outside", path), 0);
    assert_int_equal(file_replace_with(path, "new", 3), 0);
    assert_holds(path, "new");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_holds(in_folder("outside"), "old");
    assert_holds(in_folder("a.tmp"), "mine");
}

static void temporaries_are_new_files_of_names_that_differ(void **state)
{
    (void)state;
    struct file_replace one, other;
    assert_int_equal(file_replace_begin(&one, path), 0);
    assert_int_equal(file_replace_begin(&other, path), 0); /* does not sweep away what is being written */
    assert_string_not_equal(one.temporary, other.temporary);
    assert_int_equal(file_replace_write(&one, "one", 3), 0);
    assert_int_equal(file_replace_write(&other, "other", 5), 0);
    assert_int_equal(file_replace_commit(&other), 0);
    assert_holds(path, "other");
    assert_int_equal(file_replace_commit(&one), 0);
    assert_holds(path, "one");
    assert_int_equal(temporaries_in(dir, "a.", 0), 0);

    char name[257], longest[400];
    memset(name, 'n', 255);
    name[255] = '\0';
    snprintf(longest, sizeof longest, "%s/%s", dir, name);
    assert_int_equal(file_replace_with(longest, "x", 1), 0);
    assert_holds(longest, "x");
}

static void the_temporary_of_a_killed_writer_goes_with_the_next(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct file_replace file;
        if (!file_replace_begin(&file, path) && !file_replace_write(&file, "half", 4))
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(temporaries_in(dir, "a.", 0), 1);
    assert_int_equal(file_replace_with(in_folder("ab"), "other", 5), 0); /* of another file */
    assert_int_equal(temporaries_in(dir, "a.", 0), 1);
    assert_int_equal(file_replace_with(path, "new", 3), 0);
    assert_int_equal(temporaries_in(dir, "a.", 0), 0);
}

static void what_the_user_names_may_be_a_pipe_but_no_folder(void **state)
{
    (void)state;
    struct file_replace file;
    assert_int_equal(file_replace_begin(&file, path), 0);
    assert_int_equal(file_replace_write(&file, "file", 4), 0);
    assert_int_equal(file_replace_commit(&file), 0);
    assert_holds(path, "file");
    assert_int_equal(file_replace_begin(&file, "/dev/null"), 0);
    assert_null(file.temporary);
    assert_int_equal(file_replace_write(&file, "gone", 4), 0);
    assert_int_equal(file_replace_commit(&file), 0);
    assert_int_equal(file_replace_begin(&file, "/dev/full"), 0);
    assert_fails(file_replace_write(&file, "gone", 4), SPH_EIO, .path = "/dev/full");
    assert_fails(file_replace_begin(&file, dir), SPH_EIO, .path = dir);
}

/* ---------------------------------------------------------------- folders that are not left */

/* dir/run with a folder, a file and links that lead out of it; dir/secret and dir/away lie outside. */
static void make_trap(void)
{
    assert_int_equal(file_make_directory(in_folder("run/real/deep")), 0);
    assert_int_equal(file_make_directory(in_folder("away")), 0);
    assert_int_equal(file_replace_with(in_folder("secret"), "mine", 4), 0);
    assert_int_equal(file_replace_with(in_folder("away/file"), "mine", 4), 0);
    assert_int_equal(file_replace_with(in_folder("run/real/deep/file"), "ours", 4), 0);
    assert_int_equal(symlink("../secret", in_folder("run/link")), 0);
    assert_int_equal(symlink("../away", in_folder("run/folder")), 0);
    assert_int_equal(symlink("real", in_folder("run/inner")), 0);
    assert_int_equal(symlink("run", in_folder("named")), 0);
}

/* Every call on path fails and names it, or leaves what lies behind a link alone. */
static void assert_refused(const char *where)
{
    char *bytes, **names;
    size_t count;
    int held;
    struct file_map map;
    struct file_log log;
    struct file_private folder;
    assert_fails(file_read(&bytes, NULL, where), SPH_EIO, .path = where);
    assert_fails(file_read_stream(&bytes, NULL, where), SPH_EIO, .path = where);
    assert_fails(file_map(&map, where), SPH_EIO, .path = where);
    assert_fails(file_log_open(&log, where, 0), SPH_EIO, .path = where);
    assert_fails(file_list(&names, &count, where), SPH_EIO, .path = where);
    assert_fails(file_make_directory(where), SPH_EIO);
    assert_fails(file_hold(&held, where, 0), SPH_EIO, .path = where);
    assert_fails(file_private_begin(&folder, where), SPH_EIO);
    assert_false(file_is_directory(where));
}

static void a_folder_that_was_entered_is_not_left_through_links(void **state)
{
    (void)state;
    struct file_replace file;
    char root[160], where[160], *bytes;
    make_trap();
    static const char *const ways[] = {"run", "run/", "named", "named//", "./run"};
    assert_int_equal(chdir(dir), 0);
    int open_before = open_files();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(file_enter(ways[i]), 0);
        static const char *const links[] = {"link",        "folder",     "folder/",
                                            "folder/file", "inner/deep", "./folder/./file"};
        for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
            snprintf(where, sizeof where, "%s/%s", ways[i], links[k]);
            assert_refused(where);
        }
        snprintf(where, sizeof where, "%s/folder/new", ways[i]);
        assert_fails(file_replace_begin(&file, where), SPH_EIO);
        assert_fails(file_make_directory(where), SPH_EIO);
        snprintf(where, sizeof where, "%s/folder/file", ways[i]);
        assert_int_equal(file_remove(where), -1);
        assert_fails(file_give_name(in_folder("secret"), where), SPH_EIO);
        snprintf(where, sizeof where, "%s/real//deep/./file", ways[i]);
        assert_holds(where, "ours");
        assert_true(file_exists(where) && file_is_inside(where));
        snprintf(where, sizeof where, "%s/real/../../secret",
                 ways[i]); /* not in the folder, as it is written */
        assert_false(file_is_inside(where));
        snprintf(where, sizeof where, "%s/real/../link", ways[i]);
        assert_fails(file_read(&bytes, NULL, where), SPH_EIO, .path = where);
        file_leave(ways[i]);
    }
    assert_int_equal(open_files(), open_before);
    assert_holds("named/link", "mine"); /* left: as any other path */
    assert_holds("away/file", "mine");
    snprintf(root, sizeof root, "%s", in_folder("run"));
    assert_int_equal(chdir("/"), 0);

    /* what is written takes the place of a link, or of a pipe */
    assert_int_equal(file_enter(root), 0);
    assert_int_equal(file_enter(root), 0);
    file_leave(root); /* entered once still */
    assert_int_equal(mkfifo(in_folder("run/pipe"), 0600), 0);
    assert_int_equal(file_replace_with(in_folder("run/pipe"), "new", 3), 0);
    assert_int_equal(file_replace_with(in_folder("run/link"), "new", 3), 0);
    assert_holds(in_folder("run/pipe"), "new");
    assert_holds(in_folder("run/link"), "new");
    assert_holds(in_folder("secret"), "mine");
    assert_int_equal(file_remove(in_folder("run/folder")), 0);
    assert_holds(in_folder("away/file"), "mine");
    file_leave(root);
    file_leave(root); /* once too often is fine */
    assert_false(file_is_inside(in_folder("run/link")));
}

static void the_outermost_folder_decides(void **state)
{
    (void)state;
    char *bytes, outer[160], link[160];
    make_trap();
    snprintf(outer, sizeof outer, "%s", dir);
    snprintf(link, sizeof link, "%s", in_folder("named"));
    assert_int_equal(file_enter(link), 0);
    assert_holds(in_folder("named/real/deep/file"), "ours");
    assert_int_equal(file_enter(outer), 0);
    assert_fails(file_read(&bytes, NULL, in_folder("named/real/deep/file")), SPH_EIO);
    file_leave(outer);
    assert_holds(in_folder("named/real/deep/file"), "ours");
    file_leave(link);
}

static void a_pipe_is_not_waited_for(void **state)
{
    (void)state;
    char *bytes;
    struct file_map map;
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20); /* ends the program */
    assert_fails(file_read(&bytes, NULL, path), SPH_EIO, .path = path);
    assert_fails(file_map(&map, path), SPH_EIO, .path = path);
    assert_int_equal(file_enter(dir), 0);
    assert_fails(file_read_stream(&bytes, NULL, path), SPH_EIO, .path = path);
    file_leave(dir);
    alarm(0);
}

static void short_and_interrupted_writes_are_carried_on(void **state)
{
    (void)state;
    sys.piece = 3;
    sys.interrupted = 1;
    assert_int_equal(file_replace_with(path, "all of these bytes arrive", 25), 0);
    assert_true(sys.calls > 16);
    assert_holds(path, "all of these bytes arrive");
}

/* write, write, fsync, rename, fsync of the directory */
enum { REPLACE_CALLS = 5 };

static int replace_in_two_pieces(void)
{
    struct file_replace file;
    int err = file_replace_begin(&file, path);
    if (!err)
        err = file_replace_write(&file, "ne", 2);
    if (!err)
        err = file_replace_write(&file, "w", 1);
    if (!err)
        err = file_replace_commit(&file);
    return err;
}

static void each_call_that_fails_once_leaves_the_old_file_and_no_temporary(void **state)
{
    (void)state;
    int files = open_files();
    for (int at = 1; at <= REPLACE_CALLS + 1; at++) {
        sys_plan(0, FAIL);
        assert_int_equal(file_replace_with(path, "old", 3), 0);
        sys_plan(at, FAIL);
        int err = replace_in_two_pieces();
        if (at > REPLACE_CALLS) {
            assert_int_equal(err, 0);
            assert_int_equal(sys.calls, REPLACE_CALLS);
        } else {
            assert_fails(err, SPH_EIO, .path = path);
        }
        assert_holds(path, at >= REPLACE_CALLS ? "new" : "old");
        assert_int_equal(temporaries_in(dir, "a.", 0), 0);
        assert_int_equal(open_files(), files);
    }
}

static void killed_at_any_call_the_file_is_the_old_or_the_new_one(void **state)
{
    (void)state;
    for (int at = 1; at <= REPLACE_CALLS; at++)
        for (int after = 0; after < 2; after++) {
            sys_plan(0, FAIL);
            assert_int_equal(file_replace_with(path, "old", 3), 0);
            pid_t child = fork();
            if (child == 0) {
                sys_plan(at, after ? KILL_AFTER : KILL_BEFORE);
                _exit(replace_in_two_pieces() ? 1 : 0);
            }
            int status;
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            assert_holds(path, at == 5 || (at == 4 && after) ? "new" : "old");
            assert_int_equal(file_replace_with(path, "next", 4), 0);
            assert_holds(path, "next");
            assert_int_equal(temporaries_in(dir, "a.", 0), 0);
        }
}

static void a_limit_on_file_sizes_is_an_ordinary_failure(void **state)
{
    (void)state;
    assert_int_equal(file_replace_with(path, "old", 3), 0);
    struct rlimit held, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &held), 0);
    small = held;
    small.rlim_cur = 10;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int err = file_replace_with(path, "more than ten bytes", 19);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &held), 0);
    signal(SIGXFSZ, handler);
    assert_fails(err, SPH_EIO, .path = path);
    assert_holds(path, "old");
    assert_int_equal(temporaries_in(dir, "a.", 0), 0);
}

static void a_place_that_takes_no_file_is_refused_at_begin(void **state)
{
    (void)state;
    struct file_replace file;
    assert_fails(file_replace_begin(&file, in_folder("none/a")), SPH_EIO, .path = in_folder("none/a"));
    assert_fails(file_replace_with(dir, "x", 1), SPH_EIO, .path = dir);
    assert_int_equal(temporaries_in("/tmp", strrchr(dir, '/') + 1, 0), 0);
}

/* ---------------------------------------------------------------- logs */

static void the_folder_of_a_drawing_goes_also_where_it_cannot_be_listed(void **state)
{
    (void)state;
    int files = open_files();
    for (int how = LISTED; how <= NOT_READ; how++) {
        struct file_private folder;
        assert_int_equal(file_private_begin(&folder, dir), 0);
        char *picture = file_join(folder.path, FILE_PRIVATE_NAME), *place = strdup(folder.path);
        int fd = open(picture, O_WRONLY | O_CREAT, 0600);
        assert_true(fd >= 0 && !close(fd));
        sys.listing = (__typeof__(sys.listing))how;
        file_private_end(&folder);
        sys.listing = LISTED;
        if (!access(place, F_OK))
            fail_msg("%s is left, way %d", place, how);
        mem_free(picture);
        free(place);
    }
    assert_int_equal(open_files(), files);
}

static void log_appends_on_flush_and_is_cut_to_an_offset(void **state)
{
    (void)state;
    struct file_log log;
    assert_int_equal(file_log_open(&log, path, 0), 0);
    assert_int_equal(file_log_add(&log, "one\n", 4), 0);
    assert_holds(path, "");
    assert_int_equal(log.offset, 0);
    assert_int_equal(file_log_flush(&log), 0);
    assert_int_equal(log.offset, 4);
    assert_int_equal(file_log_add(&log, "two\n", 4), 0);
    assert_int_equal(file_log_add(&log, "three\n", 6), 0);
    assert_int_equal(file_log_sync(&log), 0);
    assert_int_equal(log.offset, 14);
    assert_holds(path, "one\ntwo\nthree\n");
    assert_int_equal(file_log_add(&log, "lost", 4), 0);
    file_log_close(&log);
    file_log_close(&log);
    assert_holds(path, "one\ntwo\nthree\n");

    assert_int_equal(file_log_open(&log, path, 8), 0);
    assert_holds(path, "one\ntwo\n");
    assert_int_equal(file_log_add(&log, "3\n", 2), 0);
    assert_int_equal(file_log_flush(&log), 0);
    assert_int_equal(log.offset, 10);
    file_log_close(&log);
    assert_holds(path, "one\ntwo\n3\n");

    assert_fails(file_log_open(&log, path, 11), SPH_EIO, .path = path);
    assert_holds(path, "one\ntwo\n3\n");
    assert_int_equal(file_log_open(&log, path, 0), 0);
    assert_holds(path, "");
    file_log_close(&log);
    assert_fails(file_log_open(&log, in_folder("none/log"), 0), SPH_EIO, .path = in_folder("none/log"));
}

static void a_failed_flush_leaves_whole_lines_and_can_be_repeated(void **state)
{
    (void)state;
    struct file_log log;
    assert_int_equal(file_log_open(&log, path, 0), 0);
    assert_int_equal(file_log_add(&log, "one\n", 4), 0);
    assert_int_equal(file_log_flush(&log), 0);
    assert_int_equal(file_log_add(&log, "two\n", 4), 0);
    sys_plan(2, FAIL);
    sys.piece = 2; /* half the line arrives, then the disk is full */
    assert_fails(file_log_flush(&log), SPH_EIO, .path = path);
    assert_holds(path, "one\n");
    assert_int_equal(log.offset, 4);
    assert_int_equal(file_log_flush(&log), 0);
    assert_holds(path, "one\ntwo\n");
    sys_plan(1, FAIL);
    assert_fails(file_log_sync(&log), SPH_EIO, .path = path);
    file_log_close(&log);
}

static void a_log_is_a_file_and_no_link_to_one(void **state)
{
    (void)state;
    struct file_log log;
    int files = open_files();
    assert_int_equal(file_replace_with(in_folder("outside"), "kept", 4), 0);
    assert_int_equal(symlink("outside", path), 0);
    assert_fails(file_log_open(&log, path, 0), SPH_EIO, .path = path);
    assert_holds(in_folder("outside"), "kept");
    assert_int_equal(symlink("absent", in_folder("b")), 0);
    assert_int_equal(file_log_open(&log, in_folder("b"), 0), SPH_EIO);
    assert_false(file_exists(in_folder("absent")));
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    assert_fails(file_log_open(&log, in_folder("fifo"), 0), SPH_EIO, .path = in_folder("fifo"));
    assert_int_equal(open_files(), files);
}

/* ---------------------------------------------------------------- memory */

static void each_allocation_that_fails_leaves_nothing_open_or_half_written(void **state)
{
    (void)state;
    int files = open_files(), failures, err;
    assert_int_equal(file_replace_with(path, "old", 3), 0);
    char *bytes = NULL;
    SHORT_OF_MEMORY(failures, err, err = file_read(&bytes, NULL, path));
    assert_true(failures >= 1);
    mem_free(bytes);
    SHORT_OF_MEMORY(failures, err, err = file_make_directory(in_folder("x/y")));
    assert_true(failures >= 1);
    char *joined = NULL;
    SHORT_OF_MEMORY(failures, err, err = (joined = file_join("a", "b")) ? 0 : SPH_EMEMORY);
    assert_true(failures >= 1);
    mem_free(joined);
    struct file_log log;
    SHORT_OF_MEMORY(failures, err, err = file_log_open(&log, in_folder("log"), 0));
    assert_true(failures >= 1);
    SHORT_OF_MEMORY(failures, err, err = file_log_add(&log, "text", 4));
    assert_true(failures >= 1);
    assert_int_equal(log.length, 4);
    file_log_close(&log);
    SHORT_OF_MEMORY(failures, err, err = replace_in_two_pieces();
                    assert_int_equal(temporaries_in(dir, "a.", 0), 0));
    assert_true(failures >= 3);
    assert_holds(path, "new");
    assert_int_equal(open_files(), files);
}

static void clock_does_not_run_backwards(void **state)
{
    (void)state;
    double before = clock_seconds();
    usleep(2000);
    double passed = clock_seconds() - before;
    assert_true(passed >= 0.002 && passed < 60);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(read_gives_all_bytes_and_a_nul),
        in_a_folder(read_follows_files_that_do_not_know_their_size),
        in_a_folder(what_cannot_be_read_is_named_with_its_reason),
        in_a_folder(map_shows_the_bytes_and_an_empty_file_is_no_exception),
        in_a_folder(directories_are_made_with_their_parents),
        in_a_folder(each_folder_that_is_made_is_synced_into_its_parent),
        in_a_folder(join_puts_one_slash_between),
        in_a_folder(between_folders_leads_from_one_to_the_other),
        in_a_folder(replace_shows_the_new_file_only_after_commit),
        in_a_folder(others_files_stay_and_links_are_not_followed),
        in_a_folder(temporaries_are_new_files_of_names_that_differ),
        in_a_folder(the_temporary_of_a_killed_writer_goes_with_the_next),
        in_a_folder(what_the_user_names_may_be_a_pipe_but_no_folder),
        in_a_folder(a_folder_that_was_entered_is_not_left_through_links),
        in_a_folder(the_outermost_folder_decides),
        in_a_folder(a_pipe_is_not_waited_for),
        in_a_folder(short_and_interrupted_writes_are_carried_on),
        in_a_folder(each_call_that_fails_once_leaves_the_old_file_and_no_temporary),
        in_a_folder(killed_at_any_call_the_file_is_the_old_or_the_new_one),
        in_a_folder(a_limit_on_file_sizes_is_an_ordinary_failure),
        in_a_folder(a_place_that_takes_no_file_is_refused_at_begin),
        in_a_folder(the_folder_of_a_drawing_goes_also_where_it_cannot_be_listed),
        in_a_folder(log_appends_on_flush_and_is_cut_to_an_offset),
        in_a_folder(a_failed_flush_leaves_whole_lines_and_can_be_repeated),
        in_a_folder(a_log_is_a_file_and_no_link_to_one),
        in_a_folder(each_allocation_that_fails_leaves_nothing_open_or_half_written),
        cmocka_unit_test(clock_does_not_run_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
