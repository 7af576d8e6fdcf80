/* SPDX-License-Identifier: MIT
 *
 * Experiment files: what is refused and how, what --set changes, what is written back; jobs, protocols,
 * choices and tables of small experiments. */
#include <math.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <jansson.h>

#include "data/data.h"
#include "rows/split.h"
#include "compare/experiment.h"
#include "experiment_files.h"
#include "store/runfolder.h"
#include "spherelu.h"

/* Does not sync: no power is cut here, and a disk would take its time. */
int __wrap_file_sys_fsync(int fd);
int __wrap_file_sys_fsync(int fd)
{
    (void)fd;
    return 0;
}

/* ---------------------------------------------------------------- reading */

static void each_bad_file_is_refused_with_its_line_and_key(void **state)
{
    (void)state;
    char line[1024], before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(SPH_TESTS_DIR "/bad/experiment"), 0);
    FILE *expect = fopen("expect.txt", "r");
    assert_non_null(expect);
    int files = 0;
    while (fgets(line, sizeof line, expect)) {
        char *message = strchr(line, '\t');
        if (*line == '#' || !message)
            continue;
        *message++ = '\0';
        message[strcspn(message, "\n")] = '\0';
        sph_experiment *e = NULL;
        struct experiment_facts facts;
        int err = sph_experiment_open(&e, line);
        if (!err)
            err = experiment_check(e, &facts);
        sph_experiment_free(e);
        if (err != SPH_EFORMAT)
            fail_msg("%s: code %d, %s", line, err, err ? sph_error() : "accepted");
        if (strncmp(sph_error(), message, strlen(message)) != 0)
            fail_msg("%s says\n    %s\nexpected\n    %s", line, sph_error(), message);
        files++;
    }
    fclose(expect);
    assert_int_equal(chdir(before), 0);
    assert_true(files > 55);
}

static const char small[] = "name: small\n"
                            "data: {name: crescents, rows: 80, noise: 0.3, split: sklearn}\n"
                            "net: {hidden: [4]}\n"
                            "train: {epochs: 4, batch: 16}\n"
                            "methods:\n"
                            "  - {name: SP, param: sp, lr: 0.01}\n"
                            "  - {name: \"GmP, fast\", param: gmp, lr: 0.1}\n"
                            "seeds: [0, 3]\n";

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

static char *written(const sph_experiment *e)
{
    char *text = NULL;
    assert_int_equal(experiment_write(e, &text), 0);
    return text;
}

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
    assert_int_equal(e->methods[1].job->options.nesterov, 1);
    assert_true(e->axes[0].values[1]->options.lr == 0.30000000000000004);
    assert_int_equal(e->axes[1].values[0]->options.hidden.count, 0);
    assert_string_equal(experiment_paper(e, "max_move", "SP, plain"), "up to 2^16");
    assert_string_equal(sph_job_get(e->base, "record"), "boundaries:0,2+patterns:every");
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
    assert_int_equal(e->methods[2].job->options.norm, SPH_NORM_BN);
    assert_int_equal(e->seed_count, 5);
    assert_int_equal(experiment_points(e), 6);
    assert_int_equal(e->base->options.protocol, PROTOCOL_REFERENCE);
    assert_string_equal(sph_job_get(e->base, "record"), "boundaries:every");
    static const char *const figures[] = {"trajectories", "turns", "decision"};
    assert_int_equal(e->figure_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(e->figure_list->words[e->figures[i]], figures[i]);
    struct experiment_job *jobs;
    size_t count;
    assert_int_equal(experiment_list(e, 0, &jobs, &count), 0);
    assert_int_equal(count, 4 * 6 * 5);
    assert_string_equal(jobs[count - 1].folder, "jobs/GmP/lr-0.3/seed-4");
    struct sph_job *options;
    assert_int_equal(experiment_options(e, &jobs[count - 1], "out", &options), 0);
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
    assert_true(e->methods[1].job->options.lr == 0.7);
    assert_int_equal(experiment_points(e), 2);
    assert_int_equal(e->seed_count, 3);
    assert_string_equal(e->base->options.data, "levy");
    assert_int_equal(e->base->options.rows, 30);
    assert_int_equal(sph_experiment_set(e, "record", "{patterns: every, boundaries: [20, 3, 3]}"), 0);
    assert_string_equal(sph_job_get(e->base, "record"), "boundaries:3,20+patterns:every");
    assert_int_equal(sph_experiment_set(e, "record", "boundaries"), 0);
    assert_string_equal(sph_job_get(e->base, "record"), "boundaries:epoch");
    assert_int_equal(sph_experiment_set(e, "record", "{}"), 0);
    assert_string_equal(sph_job_get(e->base, "record"), "");
    static const struct {
        const char *key, *value, *message;
    } bad[] = {
        {"train.epoch", "3", "--set train.epoch=3: unknown key 'epoch', did you mean 'epochs'?"},
        {"epochs", "x", "--set epochs=x: epochs: found 'x', expected a whole number, 1 or more"},
        {"methods.SP.lrr", "1", "--set methods.SP.lrr=1: unknown key 'lrr', did you mean 'lr'?"},
        {"methods.XX.lr", "1", "--set methods.XX.lr=1: no method 'XX'; there are SP, GmP, fast"},
        {"methods.SP", "1", "--set methods.SP=1: expected methods.NAME.KEY"},
        {"grid.lr", "1", "--set grid.lr=1: grid: lr: found one value, expected a list of values"},
        {"seeds", "", "--set seeds=: found nothing, expected a value"},
        {"seeds", "[1", "--set seeds=[1: not YAML: did not find expected ',' or ']'"},
        {"seed", "1", "--set seed=1: unknown key 'seed', did you mean 'seeds'?"},
        {"methods", "[]", "--set methods=[]: methods: found an empty list, expected at least one method"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sph_experiment_set(e, bad[i].key, bad[i].value), SPH_EARG);
        assert_string_equal(sph_error(), bad[i].message);
    }
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

/* ---------------------------------------------------------------- running */

static json_t *json_of(const char *path)
{
    json_error_t error;
    json_t *value = json_load_file(path, 0, &error);
    if (!value)
        fail_msg("%s: %s", path, error.text);
    return value;
}

static double real_at(const json_t *object, const char *a, const char *b)
{
    const json_t *value = json_object_get(object, a);
    return json_number_value(b ? json_object_get(value, b) : value);
}

static void results_do_not_depend_on_the_number_of_workers(void **state)
{
    (void)state;
    static const char *const protocols[] = {"holdout", "reference", "cv"};
    for (int i = 0; i < 3; i++) {
        sph_experiment *e = opened(small);
        assert_int_equal(sph_experiment_set(e, "protocol", protocols[i]), 0);
        assert_int_equal(sph_experiment_set(e, "grid.lr", "[0.01, 0.1]"), 0);
        char *text = written(e);
        sph_experiment_free(e);
        write_file("file.yaml", text);
        mem_free(text);
        static const char *const outs[] = {"here", "one", "two"};
        for (size_t workers = 0; workers < 3; workers++) {
            sph_experiment_result result;
            if (run_file(outs[workers], 0, workers, &result) < 0)
                fail_msg("%s", sph_error());
            assert_int_equal(result.jobs, i == 2 ? 2 * 2 * 2 * 5 + 4 : 8);
            assert_int_equal(result.repeated, result.jobs);
            assert_int_equal(result.failed + result.diverged, 0);
        }
        assert_same_tree(in_home("here"), in_home("one"));
        assert_same_tree(in_home("here"), in_home("two"));
        for (size_t workers = 0; workers < 3; workers++)
            remove_tree(in_home(outs[workers]));
    }
}

static void a_resumed_experiment_repeats_nothing_that_finished(void **state)
{
    (void)state;
    sph_experiment_result result;
    struct stat before, after;
    write_file("file.yaml", small);
    assert_int_equal(run_file("whole", 0, 1, &result), 0);
    assert_int_equal(run_file("whole", 0, 1, &result), SPH_EARG);
    assert_non_null(strstr(sph_error(), "holds this experiment already; go on with --resume"));
    assert_int_equal(run_file("cut", 0, 1, &result), 0);
    remove_tree(in_home("cut/jobs/SP/seed-3"));
    unlink(in_home("cut/jobs/GmP__fast/seed-0/result.json"));
    unlink(in_home("cut/table.txt"));
    assert_int_equal(stat(in_home("cut/jobs/SP/seed-0/model.safetensors"), &before), 0);
    assert_int_equal(run_file("cut", 1, 1, &result), 0);
    assert_int_equal(result.repeated, 2);
    assert_int_equal(stat(in_home("cut/jobs/SP/seed-0/model.safetensors"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_same_tree(in_home("whole"), in_home("cut"));
}

static void the_folder_of_another_experiment_is_refused(void **state)
{
    (void)state;
    sph_experiment_result result;
    write_file("file.yaml", small);
    assert_int_equal(run_file("out", 0, 1, &result), 0);
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.out = in_home("out"), .resume = 1, .workers = 1};
    assert_int_equal(sph_experiment_set(e, "epochs", "5"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), SPH_EARG);
    assert_non_null(strstr(sph_error(), "holds another experiment: line "));
    assert_non_null(strstr(sph_error(), "'  epochs: 4', here it would be '  epochs: 5'"));
    sph_experiment_free(e);

    e = opened(small);
    opts.out = in_home("out/jobs/SP/seed-0");
    assert_int_equal(sph_experiment_run(e, &opts, &result), SPH_EARG);
    assert_non_null(strstr(sph_error(), "holds a run of spherelu train"));
    sph_experiment_free(e);
}

static void data_that_changed_are_noticed(void **state)
{
    (void)state;
    char text[1024];
    sph_experiment_result result;
    struct text table = {0};
    for (int changed = 0; changed < 2; changed++) {
        text_add(&table, "a,b,y\n");
        for (int i = 0; i < 40; i++)
            text_add(&table, "%d,%d,%d\n", i % 7, i % 5, i == 11 ? changed : i % 3);
        write_file("t.csv", table.chars);
        text_free(&table);
        table = (struct text){0};
        snprintf(text, sizeof text,
                 "name: n\ndata: {name: %s, task: regression}\ntrain: {epochs: 2}\n"
                 "methods: [{name: SP, param: sp}]\n",
                 in_home("t.csv"));
        write_file("file.yaml", text);
        int err = run_file("out", changed, 1, &result);
        assert_int_equal(err, changed ? SPH_EARG : 0);
    }
    assert_non_null(strstr(sph_error(), "is 'content: "));
    /* the resolved file knows its data, too */
    sph_experiment *e;
    sph_experiment_opts opts = {.out = in_home("again"), .workers = 1};
    assert_int_equal(sph_experiment_open(&e, in_home("out/experiment.yaml")), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), SPH_EFORMAT);
    assert_non_null(strstr(sph_error(), "content: the data are not those that the experiment was made on"));
    sph_experiment_free(e);
}

/* ---------------------------------------------------------------- protocols */

static void cv_takes_the_folds_of_scikit_learn_and_refits_for_their_mean_best_epoch(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.out = in_home("cv"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "protocol", "cv"), 0);
    assert_int_equal(sph_experiment_set(e, "folds", "3"), 0);
    assert_int_equal(sph_experiment_set(e, "grid.lr", "[0.3, 0.001]"), 0);
    assert_int_equal(sph_experiment_set(e, "epochs", "9"), 0);
    if (sph_experiment_run(e, &opts, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result.jobs, 2 * 2 * 2 * 3 + 2 * 2);
    sph_experiment_free(e);

    sph_split refit, part, fold;
    const char *points[] = {"lr-0.3", "lr-0.001"};
    double score[2], epochs[2];
    char path[128];
    for (int p = 0; p < 2; p++) {
        score[p] = epochs[p] = 0;
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/fold-%d/result.json", points[p], k);
            json_t *json = json_of(in_home(path));
            score[p] += real_at(json, "val", "accuracy") / 3;
            epochs[p] += real_at(json, "best_epoch", NULL) / 3;
            json_decref(json);
        }
    }
    assert_true(score[0] != score[1]); /* else this test says nothing */
    int best = score[1] > score[0];
    snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/refit", points[!best]);
    assert_false(file_exists(in_home(path)));
    snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/refit", points[best]);
    assert_int_equal(runfolder_read_split(&refit, in_home(path), 80), 0);
    assert_int_equal(refit.val_rows, 0);
    assert_int_equal(refit.test_rows, 16);
    snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/refit/result.json", points[best]);
    json_t *json = json_of(in_home(path));
    assert_true(real_at(json, "epochs", NULL) == floor(epochs[best] + 0.5));
    double accuracy = real_at(json, "test", "accuracy");
    json_decref(json);
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "cv/jobs/SP/lr-0.3/seed-3/fold-%d", k);
        assert_int_equal(runfolder_read_split(&part, in_home(path), 80), 0);
        assert_int_equal(split_kfold(&fold, refit.train, refit.train_rows, 3, (size_t)k, 3), 0);
        assert_int_equal(part.val_rows, fold.val_rows);
        assert_memory_equal(part.val, fold.val, fold.val_rows * sizeof *fold.val);
        assert_memory_equal(part.train, fold.train, fold.train_rows * sizeof *fold.train);
        assert_memory_equal(part.test, refit.test, refit.test_rows * sizeof *refit.test);
        sph_split_free(&part);
        sph_split_free(&fold);
    }
    sph_split_free(&refit);
    json = json_of(in_home("cv/table.json"));
    const json_t *method = json_array_get(json_object_get(json, "methods"), 0);
    assert_true(json_number_value(json_array_get(json_object_get(method, "values"), 1)) == accuracy);
    json_decref(json);
}

static void holdout_chooses_by_validation_and_reports_the_test(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.out = in_home("holdout"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "grid", "{lr: [0.0001, 0.03, 1e30]}"), 0);
    assert_int_equal(sph_experiment_set(e, "epochs", "20"), 0);
    if (sph_experiment_run(e, &opts, &result) < 0)
        fail_msg("%s", sph_error());
    assert_true(result.diverged >= 2); /* and are never chosen */
    assert_int_equal(result.failed, 0);
    sph_experiment_free(e);
    json_t *table = json_of(in_home("holdout/table.json"));
    static const char *const points[] = {"lr-0.0001", "lr-0.03"};
    for (size_t s = 0; s < 2; s++) {
        double val[2], test[2];
        for (int p = 0; p < 2; p++) {
            char path[128];
            snprintf(path, sizeof path, "holdout/jobs/SP/%s/seed-%d/result.json", points[p], s ? 3 : 0);
            json_t *json = json_of(in_home(path));
            val[p] = real_at(json, "val", "accuracy");
            test[p] = real_at(json, "test", "accuracy");
            json_decref(json);
        }
        assert_true(val[0] != val[1]);
        const json_t *method = json_array_get(json_object_get(table, "methods"), 0);
        double reported = json_number_value(json_array_get(json_object_get(method, "values"), s));
        assert_true(reported == test[val[1] > val[0]]);
    }
    json_decref(table);
}

static void reference_is_called_a_leak_in_every_output(void **state)
{
    (void)state;
    sph_experiment_result result;
    static const char *const files[] = {"table.txt",
                                        "table.md",
                                        "table.tex",
                                        "table.csv",
                                        "table.json",
                                        "results.json",
                                        "jobs/SP/seed-0/result.json"};
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.out = in_home("reference"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "protocol", "reference"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    sph_experiment_free(e);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length;
        char *text = content(in_home("reference"), files[i], &length);
        if (!strstr(text, "the test part chose the epoch"))
            fail_msg("%s says nothing of the leak", files[i]);
        mem_free(text);
    }
    /* its epochs are chosen by the test part: the best of the log is the one reported */
    size_t length;
    double best = (double)INFINITY, loss;
    char *log = content(in_home("reference"), "jobs/SP/seed-0/metrics.jsonl", &length);
    for (char *at = log; (at = strstr(at, "\"val_loss\":"));) {
        loss = strtod(at += 11, NULL);
        best = loss < best ? loss : best;
    }
    mem_free(log);
    json_t *json = json_of(in_home("reference/jobs/SP/seed-0/result.json"));
    assert_true(fabs(real_at(json, "test", "loss") - best) < 1e-9);
    assert_null(json_object_get(json, "val"));
    json_decref(json);
}

/* ---------------------------------------------------------------- what goes wrong */

static void jobs_that_diverge_or_fail_are_lines_of_the_table(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.out = in_home("bad"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "methods.SP.lr", "1e30"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_int_equal(result.failed, 0);
    /* in the way of one job: a file where its folder should be */
    remove_tree(in_home("bad/jobs/GmP__fast/seed-3"));
    write_file("bad/jobs/GmP__fast/seed-3", "in the way");
    opts.resume = 1;
    if (sph_experiment_run(e, &opts, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result.diverged, 2);
    assert_int_equal(result.failed, 1);
    size_t length;
    char *text = content(in_home("bad"), "table.txt", &length);
    assert_non_null(strstr(text, "diverged: "));
    assert_non_null(strstr(text, "cannot make directory"));
    mem_free(text);
    /* the obstacle gone, resume runs that job and leaves the divergence alone */
    assert_int_equal(unlink(in_home("bad/jobs/GmP__fast/seed-3")), 0);
    opts.resume = 1;
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_int_equal(result.repeated, 1);
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.diverged, 2);
    sph_experiment_free(e);
}

static void every_point_of_the_grid_may_be_a_line(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.out = in_home("all"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "table", "all"), 0);
    assert_int_equal(sph_experiment_set(e, "grid", "{hidden: [2, 5], init_scale: [0.1, 1]}"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    sph_experiment_free(e);
    json_t *table = json_of(in_home("all/table.json"));
    const json_t *methods = json_object_get(table, "methods");
    assert_int_equal(json_array_size(methods), 8);
    assert_string_equal(json_string_value(json_object_get(json_array_get(methods, 1), "name")),
                        "SP, hidden 2, init_scale 1");
    json_decref(table);
}

static void a_second_process_is_refused_and_a_dead_one_is_no_hindrance(void **state)
{
    (void)state;
    sph_experiment_result result;
    int ready[2], held;
    char byte = 0;
    write_file("file.yaml", small);
    assert_int_equal(file_make_directory(in_home("out")), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        file_hold(&held, in_home("out"), 0);
        (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(run_file("out", 0, 1, &result), SPH_EIO);
    assert_non_null(strstr(sph_error(), "another process is at work in it"));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(run_file("out", 0, 1, &result), 0);
    close(ready[0]);
    close(ready[1]);
}

static int stop_at_once(void *self, const sph_progress *view)
{
    int *calls = self;
    assert_true(view->share >= 0 && view->share <= 1);
    return ++*calls > 1;
}

static void an_experiment_that_is_stopped_goes_on_to_the_same_end(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    int calls = 0;
    assert_int_equal(sph_experiment_set(e, "epochs", "3000"), 0);
    assert_int_equal(sph_experiment_set(e, "patience", "0"), 0);
    sph_experiment_opts opts = {.out = in_home("whole"), .workers = 2};
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    opts.out = in_home("stopped");
    opts.progress = stop_at_once;
    opts.self = &calls;
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_true(result.stopped);
    assert_false(file_exists(in_home("stopped/table.txt")));
    opts.resume = 1;
    opts.progress = NULL;
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_false(result.stopped);
    assert_same_tree(in_home("whole"), in_home("stopped"));
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
        IN_A_HOME(folders_are_told_apart_whatever_the_names),
        IN_A_HOME(results_do_not_depend_on_the_number_of_workers),
        IN_A_HOME(a_resumed_experiment_repeats_nothing_that_finished),
        IN_A_HOME(the_folder_of_another_experiment_is_refused),
        IN_A_HOME(data_that_changed_are_noticed),
        IN_A_HOME(cv_takes_the_folds_of_scikit_learn_and_refits_for_their_mean_best_epoch),
        IN_A_HOME(holdout_chooses_by_validation_and_reports_the_test),
        IN_A_HOME(reference_is_called_a_leak_in_every_output),
        IN_A_HOME(jobs_that_diverge_or_fail_are_lines_of_the_table),
        IN_A_HOME(every_point_of_the_grid_may_be_a_line),
        IN_A_HOME(a_second_process_is_refused_and_a_dead_one_is_no_hindrance),
        IN_A_HOME(an_experiment_that_is_stopped_goes_on_to_the_same_end),
        IN_A_HOME(a_plan_lists_and_times_the_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
