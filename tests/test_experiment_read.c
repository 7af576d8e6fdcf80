/* SPDX-License-Identifier: MIT
 *
 * Experiment files: what is refused and how, what --set changes, what is written back, which jobs they make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bad_list.h"
#include "compare/experiment.h"
#include "compare/tool.h"
#include "experiment_small.h"
#include "failure.h"
#include "spherelu.h"

static void each_bad_file_is_refused_with_its_line_and_key(void **state)
{
    (void)state;
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(SPH_TESTS_DIR "/bad/experiment"), 0);
    struct bad_list list = bad_list("experiment");
    for (char *column[5]; bad_list_next(&list, column, 5);) {
        sph_experiment *e = NULL;
        struct experiment_facts facts;
        int err = sph_experiment_open(&e, column[0]);
        if (!err)
            err = experiment_check(e, &facts);
        sph_experiment_free(e);
        bad_list_check(&list, err, column, 5, column[0]);
    }
    assert_int_equal(chdir(before), 0);
    bad_list_end(&list, 55);
}

/* The design's own example. */
static const char design[] =
    "name: banana\n"
    "data: {name: banana, rows: 1000, test: 0.2, val: 0, split: sklearn, standardize: features}\n"
    "net: {kind: mlp, hidden: [10]}\n"
    "train: {loss: bce, optimizer: adam, batch: 128, epochs: 5000, schedule: \"plateau:50:0.1:0.0001\", "
    "patience: 100}\n"
    "methods:\n"
    "  - {name: SP,  param: sp,  lr: 0.01}\n"
    "  - {name: WN,  param: wn,  lr: 0.01}\n"
    "  - {name: BN,  param: sp,  norm: bn, lr: 0.01}\n"
    "  - {name: GmP, param: gmp, lr: 0.1}\n"
    "protocol: reference            # holdout | cv | reference\n"
    "seeds: 5                       # 0..4, or a list\n"
    "grid: {lr: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]}     # optional: any key of a method\n"
    "record: {boundaries: every}    # every | epoch | [steps]\n"
    "figures: [trajectories, turns, decision]\n";

static void what_is_written_reads_back_as_the_same(void **state)
{
    (void)state;
    static const char odd[] =
        "name: \"odd: one\"\n"
        "threads: 2\n"
        "dtype: f64\n"
        "data: {name: \"a file, with: things.csv\", target: [y, \"z #1\"], delimiter: \";\"}\n"
        "net: {hidden: []}\n"
        "methods: [{name: \"- \\\"q\\\" {x}\", param: wn, hidden: [3, 4]}, {name: 1e3}]\n"
        "protocol: cv\n"
        "folds: 3\n"
        "seeds: [18446744073709551615, 0]\n"
        "grid: {hidden: [[3], [4, 5], []], batch: [full, 8], schedule: [none, \"step:3:0.1\"]}\n"
        "metric: mae\n"
        "table: all\n"
        "record: {patterns: epoch, boundaries: [100, 0, 10]}\n"
        "figures: []\n";
    const char *const texts[] = {small, design, odd};
    for (size_t i = 0; i < 3; i++) {
        sph_experiment *e = opened(texts[i]);
        char *first = written(e);
        sph_experiment_free(e);
        e = opened(first);
        char *second = written(e);
        sph_experiment_free(e);
        assert_string_equal(first, second);
        mem_free(first);
        mem_free(second);
    }
}

/* Its methods are indented and its characters beyond the first 65,536 stand as they are; libyaml writes
 * otherwise, and that is all. */
static void an_experiment_of_version_0_1_0_is_read_and_written_as_it_was(void **state)
{
    (void)state;
    char *old = NULL;
    assert_int_equal(file_read(&old, NULL, SPH_TESTS_DIR "/old/experiment-0.1.0.yaml"), 0);
    sph_experiment *e = opened(old);
    assert_string_equal(sph_experiment_name(e), "tricky: name \xc3\xa9 \xf0\x9f\x98\x80");
    assert_int_equal(e->methods[1].asked->options.nesterov, 1);
    assert_true(e->grid.axes[0].values[1]->options.lr == 0.30000000000000004);
    assert_int_equal(e->grid.axes[1].values[0]->options.hidden.count, 0);
    assert_string_equal(experiment_paper(e, "max_move", 0, "", "SP, plain"), "up to 2^16");
    assert_string_equal(options_text(e->base, OPTION_RECORD), "boundaries:0,2+patterns:every");
    char *now = written(e);
    char *line = strstr(old, "content:");
    for (char *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = '\0';
        if (!strstr(now, line + strspn(line, " ")))
            fail_msg("no '%s' in\n%s", line, now);
    }
    sph_experiment_free(e);
    mem_free(old);
    mem_free(now);
}

static void the_example_of_the_design_is_read(void **state)
{
    (void)state;
    sph_experiment *e = opened(design);
    assert_string_equal(sph_experiment_name(e), "banana");
    assert_int_equal(e->method_count, 4);
    assert_int_equal(e->methods[2].asked->options.norm, SPH_NORM_BN);
    assert_int_equal(e->seed_count, 5);
    assert_int_equal(experiment_points(e), 6);
    assert_int_equal(e->base->options.protocol, PROTOCOL_REFERENCE);
    assert_string_equal(options_text(e->base, OPTION_RECORD), "boundaries:every");
    static const char *const figures[] = {"trajectories", "turns", "decision"};
    assert_int_equal(e->drawn.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(e->drawn.known->words[e->drawn.words[i]], figures[i]);
    struct experiment_job *jobs;
    size_t count;
    assert_int_equal(experiment_list(e, 0, &jobs, &count), 0);
    assert_int_equal(count, 4 * 6 * 5);
    assert_string_equal(jobs[count - 1].folder, "jobs/GmP/lr-0.3/seed-4");
    struct sph_job *options;
    assert_int_equal(experiment_job_of(e, &jobs[count - 1], "out", &options), 0);
    assert_string_equal(sph_job_get(options, "lr"), "0.3"); /* the grid's, not the method's */
    assert_string_equal(sph_job_get(options, "param"), "gmp");
    assert_string_equal(sph_job_get(options, "seed"), "4");
    assert_string_equal(sph_job_get(options, "record"), "boundaries:every");
    assert_string_equal(sph_job_get(options, "out"), "out/jobs/GmP/lr-0.3/seed-4");
    sph_job_free(options);
    experiment_list_free(jobs, count);
    sph_experiment_free(e);
}

static void set_changes_what_it_names(void **state)
{
    (void)state;
    sph_experiment *e = opened(small);
    assert_int_equal(sph_experiment_set(e, "train.epochs", "10"), 0);
    assert_int_equal(sph_experiment_set(e, "weight-decay", "0.5"), 0);
    assert_int_equal(sph_experiment_set(e, "methods.GmP, fast.lr", "0.7"), 0);
    assert_int_equal(sph_experiment_set(e, "grid.hidden", "[2, [3, 4]]"), 0);
    assert_int_equal(sph_experiment_set(e, "seeds", "3"), 0);
    assert_int_equal(sph_experiment_set(e, "data", "levy"), 0);
    assert_int_equal(sph_experiment_set(e, "data.rows", "30"), 0);
    assert_int_equal(e->base->options.epochs, 10);
    assert_true(e->base->options.weight_decay == 0.5);
    assert_true(e->methods[1].asked->options.lr == 0.7);
    assert_int_equal(experiment_points(e), 2);
    assert_int_equal(e->seed_count, 3);
    assert_string_equal(e->base->options.data, "levy");
    assert_int_equal(e->base->options.rows, 30);
    assert_int_equal(sph_experiment_set(e, "record", "{patterns: every, boundaries: [20, 3, 3]}"), 0);
    assert_string_equal(options_text(e->base, OPTION_RECORD), "boundaries:3,20+patterns:every");
    assert_int_equal(sph_experiment_set(e, "record", "boundaries"), 0);
    assert_string_equal(options_text(e->base, OPTION_RECORD), "boundaries:epoch");
    assert_int_equal(sph_experiment_set(e, "record", "{}"), 0);
    assert_string_equal(options_text(e->base, OPTION_RECORD), "");
    sph_experiment_free(e);
}

static void what_set_refuses_is_named_by_its_key(void **state)
{
    (void)state;
    sph_experiment *e = opened(small);
    struct bad_list list = bad_list("set");
    for (char *column[6]; bad_list_next(&list, column, 6);)
        bad_list_check(&list, sph_experiment_set(e, column[0], column[1]), column, 6, NULL);
    bad_list_end(&list, 10);
    sph_experiment_free(e);
}

static void folders_are_told_apart_whatever_the_names(void **state)
{
    (void)state;
    sph_experiment *e =
        opened("name: n\ndata: {name: crescents}\n"
               "methods: [{name: a/b}, {name: a b}, {name: A_B}, {name: ..}, {name: \"\\u00e4\"}]\n"
               "grid: {schedule: [\"step:3:0.1\", \"step:3,0:1\"], lr: [0.1, 1]}\n"
               "protocol: cv\nfolds: 2\nseeds: 2\n");
    struct experiment_job *jobs;
    size_t count;
    assert_int_equal(experiment_list(e, 0, &jobs, &count), 0);
    assert_int_equal(count, 5 * 4 * 2 * 2);
    for (size_t i = 0; i < count; i++) {
        assert_null(strstr(jobs[i].folder, ".."));
        for (const char *c = jobs[i].folder; *c; c++)
            assert_true((unsigned char)*c < 0x80 && *c > ' ');
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(strcasecmp(jobs[i].folder, jobs[j].folder), 0);
    }
    assert_string_equal(jobs[0].folder, "jobs/a_b/schedule-step_3_0.1-0_lr-0.1/seed-0/fold-0");
    experiment_list_free(jobs, count);
    sph_experiment_free(e);
}

static void a_plan_lists_and_times_the_jobs(void **state)
{
    (void)state;
    sph_experiment *e = opened(small);
    sph_experiment_job job;
    size_t count = 0;
    assert_int_equal(sph_experiment_check(e), 0);
    assert_int_equal(sph_experiment_plan(e, 1, &count), 0);
    assert_int_equal(count, 4);
    assert_int_equal(sph_experiment_job_at(e, 3, &job), 0);
    assert_string_equal(job.method, "GmP, fast");
    assert_string_equal(job.folder, "jobs/GmP__fast/seed-3");
    assert_int_equal(job.seed, 3);
    assert_true(job.seconds > 0 && job.seconds < 60);
    assert_int_equal(sph_experiment_job_at(e, 4, &job), SPH_EARG);
    sph_experiment_free(e);
}

#define IN_A_HOME(name) cmocka_unit_test_setup_teardown(name, make_home, remove_home)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_HOME(each_bad_file_is_refused_with_its_line_and_key),
        IN_A_HOME(what_is_written_reads_back_as_the_same),
        IN_A_HOME(an_experiment_of_version_0_1_0_is_read_and_written_as_it_was),
        IN_A_HOME(the_example_of_the_design_is_read),
        IN_A_HOME(set_changes_what_it_names),
        IN_A_HOME(what_set_refuses_is_named_by_its_key),
        IN_A_HOME(folders_are_told_apart_whatever_the_names),
        IN_A_HOME(a_plan_lists_and_times_the_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
