/* SPDX-License-Identifier: MIT
 *
 * config.yaml: it brings a job back, whatever the texts; broken ones are named by line and key; what a resume
 * takes from it and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bad_list.h"
#include "base/memory.h"
#include "base/random.h"
#include "failure.h"
#include "file/file.h"
#include "job/config.h"
#include "job/job.h"
#include "job/options.h"
#include "jobs.h"
#include "short_memory.h"
#include "spherelu.h"

static char folder[] = "/tmp/spherelu-options-XXXXXX", *config_path;

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    config_path = file_join(folder, "c.yaml");
    return config_path ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(config_path);
    mem_free(config_path);
    return rmdir(folder);
}

static void write_config(const char *text)
{
    assert_int_equal(file_replace_with(config_path, text, strlen(text)), 0);
}

static sph_job *through_file(const sph_job *job)
{
    char *text = NULL;
    sph_job *back = new_job();
    assert_int_equal(config_write(&job->request.asked, &text), 0);
    write_config(text);
    if (config_read(&back->request.asked, config_path))
        fail_msg("%s\n%s", sph_error(), text);
    mem_free(text);
    return back;
}

static void a_job_comes_back_from_its_config(void **state)
{
    (void)state;
    static const char *const values[][2] = {
        {"data", "a \"b\"\\c: #d.csv"},
        {"target", "price,2nd"},
        {"drop", "null"},
        {"delimiter", "tab"},
        {"task", "regression"},
        {"missing", "drop"},
        {"standardize", "both"},
        {"test", "0.1"},
        {"val", "0"},
        {"split", "sklearn"},
        {"rows", "1000"},
        {"hidden", "64,32,16"},
        {"param", "sphere"},
        {"norm", "imn"},
        {"activation", "srelu"},
        {"init", "x/y.safetensors"},
        {"loss", "mae"},
        {"optimizer", "sgd"},
        {"lr", "0.30000000000000004"},
        {"nesterov", "true"},
        {"batch", "full"},
        {"micro", "7"},
        {"schedule", "step:30,60,80:0.1"},
        {"monitor", "val_rmse"},
        {"seed", "18446744073709551615"},
        {"dtype", "f64"},
        {"threads", "2"},
    };
    sph_job *job = new_job();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        set(job, values[i][0], values[i][1]);
    set(job, "out", "runs/x");
    sph_job *back = through_file(job);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *name = option_row((enum option_id)i)->name;
        assert_string_equal(sph_job_get(back, name), i == OPTION_OUT ? "" : sph_job_get(job, name));
    }
    assert_int_equal(back->request.asked.options.hidden.count, 3);
    sph_job_free(back);
    /* the linear model and the untouched job, where many are unset */
    set(job, "hidden", "none");
    back = through_file(job);
    assert_string_equal(sph_job_get(back, "hidden"), "none");
    sph_job_free(back);
    sph_job_free(job);
    job = new_job();
    back = through_file(job);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *name = option_row((enum option_id)i)->name;
        assert_string_equal(sph_job_get(back, name), sph_job_get(job, name));
    }
    sph_job_free(back);
    sph_job_free(job);
}

static size_t put_utf8(char *out, uint32_t code)
{
    unsigned char *o = (unsigned char *)out;
    if (code < 0x80) {
        o[0] = (unsigned char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        o[i] = (unsigned char)(0x80 | (code & 0x3f));
    o[0] = (unsigned char)((0xf00u >> length & 0xffu) | code);
    return length;
}

static void a_config_of_version_0_1_0_is_read(void **state)
{
    (void)state;
    static const char *const values[][2] = {
        {"data", "t \xc3\xa9\".csv"},
        {"target", "y"},
        {"drop", "c\td"},
        {"task", "regression"},
        {"hidden", "5,4"},
        {"param", "wn"},
        {"norm", "ln"},
        {"loss", "mse"},
        {"lr", "0.30000000000000004"},
        {"nesterov", "true"},
        {"epsilon", "1e-08"},
        {"batch", "full"},
        {"schedule", "step:1,2:0.5"},
        {"record", "boundaries:0,2+patterns:epoch"},
        {"seed", "18446744073709551615"},
        {"fold", ""},
        {"out", ""},
    };
    sph_job *job = new_job();
    assert_int_equal(config_read(&job->request.asked, SPH_TESTS_DIR "/old/config-0.1.0.yaml"), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_string_equal(sph_job_get(job, values[i][0]), values[i][1]);
    char *old = NULL, *now = NULL;
    assert_int_equal(file_read(&old, NULL, SPH_TESTS_DIR "/old/config-0.1.0.yaml"), 0);
    assert_int_equal(config_write(&job->request.asked, &now), 0);
    /* libyaml has a shorter word for a tab */
    char *tab = strstr(old, "\\x09");
    assert_non_null(tab);
    memcpy(tab, "\\t", 2);
    memmove(tab + 2, tab + 4, strlen(tab + 4) + 1);
    char *line = strstr(old, "protocol:");
    for (char *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = '\0';
        if (!strstr(now, line))
            fail_msg("no '%s' in\n%s", line, now);
    }
    mem_free(old);
    mem_free(now);
    sph_job_free(job);
}

static void any_text_survives_yaml(void **state)
{
    (void)state;
    static const char *const words[] = {
        "null", "~",   "yes", "No",        "1",        "1e5",          "- a",         "a: b", "a #b", "[a]",
        "{a}",  " a",  "a ",  "'a'",       "\"",       "\\",           "%a",          "@a",   "*a",   "&a",
        "!a",   "|",   ">",   "a\nb",      "a\tb",     "a\r\nb",       "?",           ":",    "=",    "<<",
        "...",  "---", "n",   "/dev/null", "\xc2\x85", "\xe2\x80\xa8", "\xef\xbb\xbf"};
    struct rng rng = rng_stream(2, RNG_DATA, 0);
    sph_job *job = new_job();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        set(job, "data", words[i]);
        sph_job *back = through_file(job);
        assert_string_equal(sph_job_get(back, "data"), words[i]);
        sph_job_free(back);
    }
    for (int i = 0; i < 200; i++) {
        char text[64];
        size_t length = 0;
        for (uint32_t n = 1 + rng_below(&rng, 12); n--;) {
            static const uint32_t ranges[] = {0x80, 0x100, 0x3000, 0x110000};
            uint32_t code = 1 + rng_below(&rng, ranges[rng_below(&rng, 4)] - 1);
            length += put_utf8(text + length, code >= 0xd800 && code < 0xe000 ? 'x' : code);
        }
        text[length] = '\0';
        set(job, "data", text);
        sph_job *back = through_file(job);
        assert_string_equal(sph_job_get(back, "data"), text);
        sph_job_free(back);
    }
    sph_job_free(job);
}

static void broken_configs_are_named_by_line_and_key(void **state)
{
    (void)state;
    struct bad_list list = bad_list("config");
    for (char *column[5]; bad_list_next(&list, column, 5);) {
        sph_job *job = new_job();
        write_config(column[0]);
        bad_list_check(&list, config_read(&job->request.asked, config_path), column, 5, config_path);
        sph_job_free(job);
    }
    bad_list_end(&list, 30);
    sph_job *job = new_job();
    assert_fails(config_read(&job->request.asked, "/nonexistent/config.yaml"), SPH_EIO,
                 .path = "/nonexistent/config.yaml");
    sph_job_free(job);
}

static void lists_may_be_written_as_lists_or_as_on_the_command_line(void **state)
{
    (void)state;
    sph_job *job = new_job();
    write_config("data: {name: x, target: [a, b], drop: 'c,d'}\nnet: {hidden: '7,8'}\n");
    assert_int_equal(config_read(&job->request.asked, config_path), 0);
    assert_string_equal(sph_job_get(job, "target"), "a,b");
    assert_string_equal(sph_job_get(job, "drop"), "c,d");
    assert_string_equal(sph_job_get(job, "hidden"), "7,8");
    write_config("net: {hidden: 9}\n");
    assert_int_equal(config_read(&job->request.asked, config_path), 0);
    assert_string_equal(sph_job_get(job, "hidden"), "9");
    sph_job_free(job);
}

static void an_alias_stands_for_the_value_of_its_anchor(void **state)
{
    (void)state;
    sph_job *job = new_job();
    write_config("data: {name: x, target: &names [a, b], drop: *names}\nnet: {hidden: &n [3, &m 4]}\n"
                 "train: {epochs: *m}\n");
    assert_int_equal(config_read(&job->request.asked, config_path), 0);
    assert_string_equal(sph_job_get(job, "target"), "a,b");
    assert_string_equal(sph_job_get(job, "drop"), "a,b");
    assert_string_equal(sph_job_get(job, "hidden"), "3,4");
    assert_string_equal(sph_job_get(job, "epochs"), "4");
    sph_job_free(job);
}

static void a_method_takes_keys_of_net_and_train_and_leaves_its_name(void **state)
{
    (void)state;
    struct node_tree document;
    sph_job *job = new_job();
    write_config("{name: BN, param: sp, norm: bn, lr: 0.01}\n");
    assert_int_equal(config_load(&document, config_path), 0);
    struct node root = node_root(config_path, &document);
    assert_int_equal(config_apply(&job->request.asked, root, NULL, "name", NULL), 0);
    assert_string_equal(sph_job_get(job, "norm"), "bn");
    assert_string_equal(sph_job_get(job, "lr"), "0.01");
    assert_string_equal(sph_job_get(job, "data"), "");
    assert_fails(config_apply(&job->request.asked, root, NULL, NULL, NULL), SPH_EFORMAT, .key = "name",
                 .path = config_path, .line = 1);
    node_tree_free(&document);
    sph_job_free(job);
}

/* ---------------------------------------------------------------- resuming */

static void resume_refuses_only_what_was_given_and_differs(void **state)
{
    (void)state;
    sph_job *mine = new_job(), *theirs = new_job();
    set(theirs, "data", "x.csv");
    set(theirs, "lr", "0.1");
    set(theirs, "param", "sp");
    set(theirs, "checkpoint-seconds", "5");
    assert_int_equal(config_conflict(&mine->request.asked, &theirs->request.asked), 0);
    set(mine, "lr", "1e-1");
    set(mine, "out", "elsewhere");
    set(mine, "checkpoint-seconds", "60");
    assert_int_equal(config_conflict(&mine->request.asked, &theirs->request.asked), 0);
    set(mine, "param", "gmp"); /* the default, but said aloud */
    assert_fails(config_conflict(&mine->request.asked, &theirs->request.asked), SPH_EARG, .key = "param");
    set(mine, "param", "sp");
    set(mine, "drop", "id");
    assert_fails(config_conflict(&mine->request.asked, &theirs->request.asked), SPH_EARG, .key = "drop");
    sph_job_free(mine);
    sph_job_free(theirs);
}

static void adopting_takes_what_was_not_given(void **state)
{
    (void)state;
    sph_job *mine = new_job(), *theirs = new_job();
    set(theirs, "hidden", "7,8");
    set(theirs, "lr", "0.1");
    set(theirs, "out", "theirs");
    set(theirs, "checkpoint-seconds", "5");
    set(mine, "checkpoint-seconds", "60");
    set(mine, "out", "mine");
    assert_int_equal(config_adopt(&mine->request.asked, &theirs->request.asked), 0);
    assert_int_equal(mine->request.asked.options.hidden.count, 2);
    assert_true(mine->request.asked.options.lr == 0.1);
    assert_true(mine->request.asked.options.checkpoint_seconds == 60);
    assert_string_equal(sph_job_get(mine, "out"), "mine");
    sph_job_free(mine);
    sph_job_free(theirs);
}

/* Everything a resumed job does with its options. */
static int make_write_read_adopt(void)
{
    sph_job *mine = NULL, *theirs = NULL;
    char *text = NULL;
    int err;
    if ((err = job_new(&mine, 0)) || (err = sph_job_set(mine, "hidden", "3,4,5")) ||
        (err = sph_job_set(mine, "data", "x y")) || (err = sph_job_set(mine, "delimiter", "tab")) ||
        (err = sph_job_set(mine, "record", "patterns:1,2+boundaries")) ||
        (err = config_write(&mine->request.asked, &text)) || (err = job_new(&theirs, 0)) ||
        (err = config_read(&theirs->request.asked, config_path)))
        goto out;
    err = config_adopt(&mine->request.asked, &theirs->request.asked);
out:
    mem_free(text);
    sph_job_free(mine);
    sph_job_free(theirs);
    return err;
}

static void every_failed_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    int count, err;
    write_config("data: {name: x, target: [a, b]}\nnet: {hidden: [1, 2]}\ntrain: {lr: 1}\n");
    SHORT_OF_MEMORY(count, err, err = make_write_read_adopt());
    assert_true(count > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_comes_back_from_its_config),
        cmocka_unit_test(a_config_of_version_0_1_0_is_read),
        cmocka_unit_test(any_text_survives_yaml),
        cmocka_unit_test(broken_configs_are_named_by_line_and_key),
        cmocka_unit_test(lists_may_be_written_as_lists_or_as_on_the_command_line),
        cmocka_unit_test(an_alias_stands_for_the_value_of_its_anchor),
        cmocka_unit_test(a_method_takes_keys_of_net_and_train_and_leaves_its_name),
        cmocka_unit_test(resume_refuses_only_what_was_given_and_differs),
        cmocka_unit_test(adopting_takes_what_was_not_given),
        cmocka_unit_test(every_failed_allocation_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
