/* SPDX-License-Identifier: MIT
 *
 * Metrics against scikit-learn's (golden/metrics.csv), whatever the batch and the threads; and the facts of the table. */
#include "train_problem.h"

#include "base/text.h"
#include "train/evaluate.h"
#include "train/losses.h"
#include "train/tool.h"

/* ---------------------------------------------------------------- golden values */

enum { COLUMNS_MOST = 16 };

struct golden_case {
    char name[64];
    sph_task task;
    size_t outputs, targets, rows;
    double *p, *t; /* (rows, outputs), (rows, targets) */
    size_t scores;
    sph_metric metric[SPH_METRICS_MAX];
    double value[SPH_METRICS_MAX];
};

static size_t cut(char *line, char *cell[], size_t most)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < most; count++) {
        cell[count] = at;
        if ((at = strchr(at, ',')))
            *at++ = '\0';
    }
    return count;
}

static double number(const char *text)
{
    double value;
    assert_true(text_to_double(text, &value));
    return value;
}

/* The case that begins with line, its first score read ahead into line; 0 at the end of the file. */
static int read_case(FILE *file, char line[512], struct golden_case *c)
{
    char *cell[COLUMNS_MOST];
    *c = (struct golden_case){0};
    if (!*line)
        return 0;
    assert_int_equal(cut(line, cell, COLUMNS_MOST), 5);
    assert_string_equal(cell[0], "case");
    snprintf(c->name, sizeof c->name, "%s", cell[1]);
    c->task = (sph_task)sph_word_find(SPH_WORDS_TASK, cell[2]);
    c->outputs = (size_t)number(cell[3]);
    c->rows = (size_t)number(cell[4]);
    c->targets = c->task == SPH_TASK_CLASSES ? 1 : c->outputs;
    c->p = numbers(c->rows * c->outputs);
    c->t = numbers(c->rows * c->targets);
    for (size_t i = 0; i < c->rows; i++) {
        assert_non_null(fgets(line, 512, file));
        assert_int_equal(cut(line, cell, COLUMNS_MOST), 1 + c->outputs + c->targets);
        for (size_t j = 0; j < c->outputs; j++)
            c->p[i * c->outputs + j] = number(cell[1 + j]);
        for (size_t j = 0; j < c->targets; j++)
            c->t[i * c->targets + j] = number(cell[1 + c->outputs + j]);
    }
    for (*line = '\0'; fgets(line, 512, file) && !strncmp(line, "score", 5); *line = '\0') {
        assert_int_equal(cut(line, cell, COLUMNS_MOST), 3);
        c->metric[c->scores] = (sph_metric)sph_word_find(SPH_WORDS_METRIC, cell[1]);
        c->value[c->scores++] = number(cell[2]);
    }
    return 1;
}

static sph_scores score(const struct golden_case *c, const struct evaluator_opts *opts, size_t batch,
                        enum evaluator_which which)
{
    sph_net *net = mirror(SPH_F64, c->outputs);
    struct memory_table table = {.k = net->k, .n = c->outputs, .targets = c->targets, .x = c->p, .y = c->t};
    struct source source = memory_source(&table, c->rows);
    struct weights *weights = NULL;
    struct evaluator *evaluator = NULL;
    sph_scores scores, again;
    assert_int_equal(weights_new(&weights, net, net->k, 0), 0);
    weights_materialize(weights);
    assert_int_equal(evaluator_new(&evaluator, weights, opts, batch), 0);
    assert_int_equal(evaluator_run(evaluator, &source, NULL, which, &scores), 0);
    assert_int_equal(evaluator_run(evaluator, &source, NULL, which, &again), 0);
    assert_int_equal(scores.rows, c->rows);
    assert_memory_equal(scores.value, again.value, sizeof scores.value);
    evaluator_free(evaluator);
    weights_free(weights);
    sph_net_free(net);
    return scores;
}

static double value_of(const sph_scores *scores, sph_metric metric)
{
    for (size_t i = 0; i < scores->count; i++)
        if (!strcmp(scores->name[i], sph_word(SPH_WORDS_METRIC, (int)metric)->word))
            return scores->value[i];
    fail_msg("no score %s", sph_word(SPH_WORDS_METRIC, (int)metric)->word);
    return 0;
}

/* Rounding of other sums; r2 of the case far from 0 may lose as many digits as the outlier has over the spread. The random
 * cases have none such. */
static void compare(const struct golden_case *c, const sph_scores *scores)
{
    double close = !strncmp(c->name, "random", 6) ? 1e-12 : 1e-11;
    for (size_t i = 0; i < c->scores; i++) {
        double got = value_of(scores, c->metric[i]), want = c->value[i];
        if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= close * fmax(1, fabs(want))))
            fail_msg("%s, %s: %s is %.17g, expected %.17g", c->name,
                     sph_word(SPH_WORDS_TASK, (int)c->task)->word,
                     sph_word(SPH_WORDS_METRIC, (int)c->metric[i])->word, got, want);
        if (isnan(want))
            assert_non_null(sph_metric_about(c->metric[i])->undefined);
    }
    assert_int_equal(scores->count, c->scores + 1); /* the loss is not scikit-learn's */
}

static void metrics_are_those_of_scikit_learn(void **state)
{
    (void)state;
    FILE *file = fopen(SPH_TESTS_DIR "/golden/metrics.csv", "r");
    assert_non_null(file);
    char line[512] = "";
    struct golden_case c;
    size_t cases = 0, seen[SPH_METRIC_COUNT] = {0}, undefined = 0;
    assert_non_null(fgets(line, sizeof line, file));
    for (; read_case(file, line, &c); cases++) {
        struct evaluator_opts opts = {.loss = loss_first(c.task), .workers = 1, .most_rows = c.rows};
        sph_scores whole = score(&c, &opts, c.rows, EVALUATOR_ALL);
        compare(&c, &whole);
        for (opts.workers = 2; opts.workers <= 4; opts.workers++) { /* threads change no bit */
            sph_scores many = score(&c, &opts, c.rows, EVALUATOR_ALL);
            assert_memory_equal(many.value, whole.value, sizeof whole.value);
        }
        opts.most_rows = 0; /* room is found when it is needed */
        sph_scores pieces = score(&c, &opts, c.rows < 7 ? 1 : 7, EVALUATOR_ALL);
        compare(&c, &pieces);
        for (size_t i = 0; i < c.scores; i++) {
            seen[c.metric[i]]++;
            undefined += isnan(c.value[i]) != 0;
        }
        free(c.p), free(c.t);
    }
    fclose(file);
    assert_int_equal(cases, 27 + 240);
    assert_true(undefined >= 5);
    for (int m = SPH_METRIC_LOSS + 1; m < SPH_METRIC_COUNT; m++)
        assert_true(seen[m] >= 1);
}

/* ---------------------------------------------------------------- what an epoch computes */

static void an_epoch_computes_what_it_always_does_and_what_is_watched(void **state)
{
    (void)state;
    static const double p[] = {1, -1, 2, -2}, t[] = {1, 0, 0, 0};
    struct golden_case c = {.task = SPH_TASK_BINARY, .outputs = 1, .targets = 1, .rows = 4};
    c.p = (double *)p;
    c.t = (double *)t;
    struct evaluator_opts opts = {.loss = SPH_LOSS_BCE, .workers = 1};
    sph_scores all = score(&c, &opts, 4, EVALUATOR_ALL), epoch = score(&c, &opts, 4, EVALUATOR_EPOCH);
    assert_int_equal(epoch.count, 2);
    assert_string_equal(epoch.name[0], "loss");
    assert_string_equal(epoch.name[1], "accuracy");
    assert_true(epoch.value[0] == all.value[0] && epoch.value[1] == all.value[1]);
    opts.watched = SPH_METRIC_AUC;
    epoch = score(&c, &opts, 4, EVALUATOR_EPOCH);
    assert_int_equal(epoch.count, 3);
    assert_string_equal(epoch.name[2], "auc");
    assert_true(epoch.value[2] == value_of(&all, SPH_METRIC_AUC));
    opts.watched = SPH_METRIC_R2; /* not of this task */
    assert_int_equal(score(&c, &opts, 4, EVALUATOR_EPOCH).count, 2);
}

/* ---------------------------------------------------------------- the table */

static void facts_of_the_table_fit_together(void **state)
{
    (void)state;
    for (int task = 0; task < SPH_TASK_COUNT; task++) {
        sph_metric list[SPH_METRICS_MAX], own = sph_metric_of((sph_task)task);
        size_t count = metric_list((sph_task)task, 10, list), found = 0;
        assert_true(count >= 2 && list[0] == SPH_METRIC_LOSS);
        for (size_t i = 0; i < count; i++)
            found += list[i] == own;
        assert_int_equal(found, 1);
        assert_true(sph_metric_about(own)->every_epoch && !sph_metric_about(own)->undefined);
    }
    assert_int_equal(sph_metric_of(SPH_TASK_REGRESSION), SPH_METRIC_RMSE);
    assert_int_equal(sph_metric_of(SPH_TASK_BINARY), SPH_METRIC_ACCURACY);
    assert_int_equal(sph_metric_of(SPH_TASK_CLASSES), SPH_METRIC_ACCURACY);
    for (int m = 0; m < SPH_METRIC_COUNT; m++) {
        const struct metric *row = metric_row((sph_metric)m);
        assert_non_null(row->finish);
        assert_true(row->facts.tasks);
        assert_true(!row->numbers || row->tally);
    }
}

/* What the monitor keeps is the largest value of a metric where more is better, the smallest of another. */
static void the_monitor_knows_which_way_is_up(void **state)
{
    (void)state;
    static const char *const monitors[] = {"val_r2", "val_mse", "val_mae"};
    for (size_t m = 0; m < sizeof monitors / sizeof *monitors; m++) {
        sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_NONE);
        struct problem problem;
        problem_open(&problem, net, 40, 30);
        sph_train_opts opts = few_epochs(60);
        opts.lr = 0.05; /* up and down */
        opts.monitor = monitors[m];
        struct trainer *trainer = trainer_for(net, &opts, &problem, 1);
        struct diary diary = {.watch = monitors[m]};
        sph_observer observer = diary_observer(&diary);
        assert_int_equal(trainer_run(trainer, &observer, 1), 0);
        size_t best = 0;
        for (size_t e = 1; e < 60; e++)
            if (m == 0 ? diary.value[e] > diary.value[best] : diary.value[e] < diary.value[best])
                best = e;
        assert_true(best > 0 && best < 59);
        assert_int_equal((size_t)trainer_place(trainer)->best_epoch, best + 1);
        trainer_free(trainer);
        problem_close(&problem);
        sph_net_free(net);
    }
}

static void a_monitor_without_a_value_is_refused(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem problem;
    problem_open(&problem, net, 40, 1);
    sph_train_opts opts = few_epochs(3);
    opts.monitor = "val_r2"; /* of one row */
    struct trainer *trainer = NULL;
    struct trainer_setup setup = {.net = net, .opts = &opts, .train = &problem.train, .val = &problem.val};
    assert_int_equal(trainer_new(&trainer, &setup), SPH_EARG);
    assert_string_equal(sph_failure()->key, "monitor");
    problem_close(&problem);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_those_of_scikit_learn),
        cmocka_unit_test(an_epoch_computes_what_it_always_does_and_what_is_watched),
        cmocka_unit_test(facts_of_the_table_fit_together),
        cmocka_unit_test(the_monitor_knows_which_way_is_up),
        cmocka_unit_test(a_monitor_without_a_value_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
