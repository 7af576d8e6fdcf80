/* SPDX-License-Identifier: MIT
 *
 * What a job knows of optimizers: their own numbers where none are given, help that names who reads an option. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "failure.h"
#include "job/job.h"
#include "job/resolve.h"
#include "train/optimizer.h"

#define WORD(id, word, help) word,
static const char *const words[] = {SPH_OPTIMIZERS(WORD)};

static sph_data *data;

static int open_data(void **state)
{
    (void)state;
    return sph_data_synthetic(&data, "crescents", 40, (double)NAN, 1);
}

static int close_data(void **state)
{
    (void)state;
    sph_data_free(data);
    return 0;
}

static sph_job *job_with(const char *optimizer)
{
    sph_job *job = NULL;
    assert_int_equal(job_new(&job, 0), 0);
    assert_int_equal(sph_job_set(job, "optimizer", optimizer), 0);
    return job;
}

static void what_is_not_given_is_the_optimizers_own(void **state)
{
    (void)state;
    static const struct {
        const char *word, *lr, *momentum;
        double beta1, beta2;
    } own[SPH_OPTIMIZER_COUNT] = {
        {"adam", "0.01", "0.9", 0.9, 0.999}, {"adamw", "0.01", "0.9", 0.9, 0.999},
        {"sgd", "0.01", "0.9", 0.9, 0.999},  {"rmsprop", "0.003", "0", 0.9, 0.99},
        {"lion", "0.001", "0.9", 0.9, 0.99},
    };
    for (int i = 0; i < SPH_OPTIMIZER_COUNT; i++) {
        sph_job *job = job_with(own[i].word);
        assert_int_equal(job_resolve_for(job, data), 0);
        assert_string_equal(sph_job_get(job, "lr"), own[i].lr);
        assert_string_equal(sph_job_get(job, "momentum"), own[i].momentum);
        assert_string_equal(sph_job_get(job, "epsilon"), "1e-08");
        assert_string_equal(sph_job_get(job, "beta1"), ""); /* written down only where given */
        sph_train_opts opts = job_train_opts(&job->spec);
        assert_string_equal(words[opts.optimizer], own[i].word);
        assert_true(opts.beta1 == own[i].beta1 && opts.beta2 == own[i].beta2);
        sph_job_free(job);
    }
}

static const enum option_id ids[OPTIMIZER_OPTIONS] = {
    [OPTIMIZER_MOMENTUM] = OPTION_MOMENTUM, [OPTIMIZER_NESTEROV] = OPTION_NESTEROV,
    [OPTIMIZER_BETA1] = OPTION_BETA1,       [OPTIMIZER_BETA2] = OPTION_BETA2,
    [OPTIMIZER_EPSILON] = OPTION_EPSILON,   [OPTIMIZER_FORM] = OPTION_ADAM_FORM,
};

static void what_is_given_stays(void **state)
{
    (void)state;
    sph_job *job = job_with("rmsprop");
    assert_int_equal(sph_job_set(job, "momentum", "0.5"), 0);
    assert_int_equal(sph_job_set(job, "beta2", "0.95"), 0);
    assert_int_equal(sph_job_set(job, "lr", "0.25"), 0);
    assert_int_equal(job_resolve_for(job, data), 0);
    sph_train_opts opts = job_train_opts(&job->spec);
    assert_true(opts.momentum == 0.5 && opts.beta2 == 0.95 && opts.lr == 0.25);
    sph_job_free(job);
}

static void what_an_optimizer_does_not_read_is_refused_where_it_was_asked_for(void **state)
{
    (void)state;
    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
        for (int i = 0; i < OPTIMIZER_OPTIONS; i++) {
            sph_job *job = job_with(words[optimizer]);
            const char *value = i == OPTIMIZER_NESTEROV ? "true" : i == OPTIMIZER_FORM ? "keras" : "0.5";
            assert_int_equal(sph_job_set(job, option_row(ids[i])->name, value), 0);
            int reads = optimizer_ops((sph_optimizer)optimizer)->reads[i];
            assert_int_equal(job_reads(&job->request.asked, ids[i]), reads);
            if (reads)
                assert_int_equal(job_resolve_for(job, data), 0);
            else
                assert_fails(job_resolve_for(job, data), SPH_EARG, .key = option_key(ids[i]));
            sph_job_free(job);
        }
}

/* As every config.yaml does, and as an experiment may for those of its methods that read it. */
static void a_file_may_name_what_the_optimizer_does_not_read(void **state)
{
    (void)state;
    sph_job *job = job_with("lion");
    struct job_spec *asked = &job->request.asked, method;
    assert_int_equal(options_put(asked, OPTION_MOMENTUM, "0.5", ORIGIN_FILE), 0);
    assert_int_equal(options_put(asked, OPTION_EPSILON, "1e-8", ORIGIN_FILE), 0);
    assert_int_equal(job_resolve_for(job, data), 0);
    options_init(&method);
    assert_int_equal(options_put(&method, OPTION_MOMENTUM, "0.5", ORIGIN_FILE), 0);
    assert_int_equal(options_override(asked, &method, ORIGIN_METHOD), 0); /* what a method names is for it */
    assert_fails(job_resolve_for(job, data), SPH_EARG, .key = "momentum");
    options_free(&method);
    sph_job_free(job);
}

/* Whether text has word as a whole word. */
static int names(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        int before = at > text && at[-1] >= 'a' && at[-1] <= 'z';
        int after = at[length] >= 'a' && at[length] <= 'z';
        if (!before && !after)
            return 1;
    }
    return 0;
}

static void the_help_of_an_option_names_the_optimizers_that_read_it(void **state)
{
    (void)state;
    for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
        for (int option = 0; option < OPTIMIZER_OPTIONS; option++)
            assert_int_equal(names(option_row(ids[option])->help, words[optimizer]),
                             optimizer_ops((sph_optimizer)optimizer)->reads[option]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_is_the_optimizers_own),
        cmocka_unit_test(what_is_given_stays),
        cmocka_unit_test(what_an_optimizer_does_not_read_is_refused_where_it_was_asked_for),
        cmocka_unit_test(a_file_may_name_what_the_optimizer_does_not_read),
        cmocka_unit_test(the_help_of_an_option_names_the_optimizers_that_read_it),
    };
    return cmocka_run_group_tests(tests, open_data, close_data);
}
