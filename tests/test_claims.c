/* SPDX-License-Identifier: MIT
 *
 * Claims: a number has one owner, whatever ends gives it back, and nothing is left on the disk. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "failure.h"
#include "fault_system.h"
#include "file/claims.h"
#include "file/file.h"

static char dir[64], file[80];

static int make_folder(void **state)
{
    (void)state;
    sys_plan(0, FAIL);
    strcpy(dir, "/tmp/spherelu-claims-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(file, sizeof file, "%s/.claims", dir);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    sys_plan(0, FAIL);
    unlink(file);
    return rmdir(dir);
}

/* Another process, which does one thing after the other as it is told, and answers. */
struct other {
    pid_t pid;
    int ask[2], answer[2];
};

enum { SHARE = 's', ALONE = 'a', TAKE = 't', GIVE = 'g', FORK = 'f', END = 'e' };

static void be_other(const struct other *other)
{
    struct claims claims = CLAIMS_NONE;
    char order, mark = 0;
    while (read(other->ask[0], &order, 1) == 1) {
        int done = order == SHARE   ? claims_begin(&claims, dir, CLAIMS_SHARED, NULL)
                   : order == ALONE ? claims_begin(&claims, dir, CLAIMS_ALONE, NULL)
                   : order == TAKE  ? claims_take(&claims, 7, &mark)
                   : order == GIVE  ? claims_give(&claims, 7, 'x')
                                    : 0;
        if (order == END)
            claims_end(&claims);
        if (order == FORK && !fork()) { /* a child, which outlives its parent for a while */
            close(other->ask[0]);
            close(other->answer[1]);
            usleep(200000);
            _exit(0);
        }
        char answer = (char)done;
        if (write(other->answer[1], &answer, 1) < 1)
            break;
    }
    _exit(0);
}

static struct other begin_other(void)
{
    struct other other;
    assert_int_equal(pipe(other.ask), 0);
    assert_int_equal(pipe(other.answer), 0);
    if (!(other.pid = fork()))
        be_other(&other);
    return other;
}

static int tell(const struct other *other, char order)
{
    char answer = 99;
    assert_int_equal(write(other->ask[1], &order, 1), 1);
    assert_int_equal(read(other->answer[0], &answer, 1), 1);
    return answer;
}

static void end_other(struct other *other)
{
    kill(other->pid, SIGKILL);
    waitpid(other->pid, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(other->ask[i]);
        close(other->answer[i]);
    }
}

static void a_number_has_one_owner(void **state)
{
    (void)state;
    struct claims claims;
    struct other other = begin_other();
    char mark;
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_SHARED, NULL), 0);
    assert_int_equal(tell(&other, SHARE), 0);
    assert_int_equal(tell(&other, TAKE), 1);
    assert_int_equal(tell(&other, TAKE), 1); /* again, by its owner */
    assert_int_equal(claims_take(&claims, 7, &mark), 0);
    assert_int_equal(claims_take(&claims, 8, &mark), 1);
    assert_int_equal(mark, 0);
    assert_int_equal(claims_take(&claims, (size_t)1 << 40, &mark), 1);
    assert_int_equal(tell(&other, GIVE), 0);
    assert_int_equal(claims_take(&claims, 7, &mark), 1);
    assert_int_equal(mark, 'x');
    assert_int_equal(claims_give(&claims, 7, 0), 0);
    assert_int_equal(tell(&other, TAKE), 1);
    end_other(&other);
    claims_end(&claims);
    assert_false(file_exists(file));
}

static void what_dies_gives_back_when_its_children_have_died(void **state)
{
    (void)state;
    struct claims claims;
    struct other other = begin_other();
    char mark = 0;
    int taken, tries = 0;
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_SHARED, NULL), 0);
    assert_int_equal(tell(&other, SHARE), 0);
    assert_int_equal(tell(&other, TAKE), 1);
    assert_int_equal(tell(&other, FORK), 0);
    end_other(&other);
    assert_int_equal(claims_take(&claims, 7, &mark), 0);
    while ((taken = claims_take(&claims, 7, &mark)) == 0 && tries++ < 3000)
        usleep(10000);
    assert_int_equal(taken, 1);
    assert_int_equal(mark, 0);
    claims_end(&claims);
    assert_false(file_exists(file));
}

static void who_is_alone_is_alone(void **state)
{
    (void)state;
    struct claims claims;
    struct other other = begin_other();
    enum claims_kind others = CLAIMS_ALONE;
    assert_int_equal(tell(&other, SHARE), 0);
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_ALONE, &others), 1);
    assert_int_equal(others, CLAIMS_SHARED);
    assert_int_equal(tell(&other, TAKE), 1); /* which is for writing */
    others = CLAIMS_ALONE;
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_ALONE, &others), 1);
    assert_int_equal(others, CLAIMS_SHARED);
    assert_int_equal(tell(&other, END), 0);
    assert_false(file_exists(file));
    assert_int_equal(tell(&other, ALONE), 0);
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_SHARED, &others), 1);
    assert_int_equal(others, CLAIMS_ALONE);
    others = CLAIMS_SHARED;
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_ALONE, &others), 1);
    assert_int_equal(others, CLAIMS_ALONE);
    end_other(&other);
    assert_true(file_exists(file)); /* of a process that was killed: no hindrance */
    assert_int_equal(claims_begin(&claims, dir, CLAIMS_ALONE, &others), 0);
    claims_end(&claims);
    claims_end(&claims); /* does nothing */
    assert_false(file_exists(file));
}

/* The last one to leave removes the file while others open it: nobody holds a lock on a file that has no name. */
static void the_file_goes_and_comes_under_many(void **state)
{
    (void)state;
    pid_t pid[4];
    char counter[80];
    snprintf(counter, sizeof counter, "%s/inside", dir);
    for (int i = 0; i < 4; i++) {
        if ((pid[i] = fork()))
            continue;
        int wrong = 0;
        for (int k = 0; k < 300; k++) {
            struct claims claims;
            int begun = claims_begin(&claims, dir, CLAIMS_ALONE, NULL);
            wrong |= begun < 0;
            if (begun)
                continue;
            wrong |= mkdir(counter, 0777) != 0; /* fails where another is inside */
            wrong |= rmdir(counter) != 0;
            claims_end(&claims);
        }
        _exit(wrong);
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        waitpid(pid[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_false(file_exists(file));
}

static void without_locks_one_process_works_and_several_are_refused(void **state)
{
    (void)state;
    static const int reasons[] = {ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct claims claims;
        sys.no_locks = reasons[i];
        assert_int_equal(claims_begin(&claims, dir, CLAIMS_ALONE, NULL), 0);
        claims_end(&claims);
        assert_false(file_exists(file));
        assert_fails(claims_begin(&claims, dir, CLAIMS_SHARED, NULL), SPH_EIO, .path = dir);
        claims_end(&claims);
        assert_false(file_exists(file));
    }
}

static void a_link_is_not_followed(void **state)
{
    (void)state;
    struct claims claims;
    assert_int_equal(symlink("/tmp/spherelu-elsewhere", file), 0);
    assert_fails(claims_begin(&claims, dir, CLAIMS_ALONE, NULL), SPH_EIO, .path = file);
    assert_fails(claims_begin(&claims, dir, CLAIMS_SHARED, NULL), SPH_EIO, .path = file);
    assert_false(file_exists("/tmp/spherelu-elsewhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_number_has_one_owner, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_dies_gives_back_when_its_children_have_died, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(who_is_alone_is_alone, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_file_goes_and_comes_under_many, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(without_locks_one_process_works_and_several_are_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_link_is_not_followed, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
