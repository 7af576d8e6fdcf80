/* SPDX-License-Identifier: MIT
 *
 * The option table: what it accepts, and what it says when it refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bad_list.h"
#include "base/random.h"
#include "base/text.h"
#include "base/tool.h"
#include "failure.h"
#include "jobs.h"
#include "job/defaults.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- the table */

static void every_row_is_complete_and_its_default_is_its_own_canonical_text(void **state)
{
    (void)state;
    static const char *const sections[] = {"data", "net", "training", "run"};
    const sph_option *options;
    size_t count = sph_options(&options);
    sph_job *job = new_job();
    assert_int_equal(count, OPTION_COUNT);
    for (size_t i = 0; i < count; i++) {
        assert_true(text_find(options[i].section, sections, 4) >= 0);
        assert_true(strlen(options[i].help) > 5);
        assert_string_equal(sph_job_get(job, options[i].name), options[i].initial);
        assert_int_equal(options_given(&job->request.asked, (enum option_id)i), 0);
        if (*options[i].initial)
            set(job, options[i].name, options[i].initial);
        assert_string_equal(sph_job_get(job, options[i].name), options[i].initial);
    }
    sph_job_free(job);
}

static void defaults_are_those_of_the_contract(void **state)
{
    (void)state;
    struct job_spec spec;
    const struct job_options *o = &spec.options;
    options_init(&spec);
    assert_int_equal(defaults_fixed(&spec), 0);
    assert_int_equal(o->hidden.count, 1);
    assert_int_equal(o->hidden.list[0], 100);
    assert_int_equal(o->param, SPH_PARAM_GMP);
    assert_int_equal(o->norm, SPH_NORM_NONE);
    assert_int_equal(o->activation, SPH_ACT_RELU);
    assert_int_equal(o->optimizer, SPH_OPTIMIZER_ADAM);
    assert_false(options_has(&spec, OPTION_BATCH)); /* the kind of network decides */
    assert_int_equal(o->epochs, 1000);
    assert_int_equal(o->patience, 100);
    assert_true(o->test == 0.2 && o->val == 0.2 && o->checkpoint_seconds == 30);
    assert_int_equal(o->dtype, SPH_F32);
    options_free(&spec);
}

static void what_others_choose_is_unset(void **state)
{
    (void)state;
    static const char *const unset[] = {"loss", "lr",   "monitor", "standardize",
                                        "task", "init", "target",  "delimiter"};
    sph_job *job = new_job();
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        assert_string_equal(sph_job_get(job, unset[i]), "");
    assert_true(isnan(job->request.asked.options.lr));
    assert_int_equal(job->request.asked.options.loss, -1);
    assert_int_equal(job->request.asked.options.task, -1);
    assert_int_equal(job->request.asked.options.standardize, -1);
    assert_null(job->request.asked.options.monitor);
    assert_int_equal(job->request.asked.options.delimiter, 0);
    /* "auto" is the word for it */
    set(job, "standardize", "off");
    assert_int_equal(job->request.asked.options.standardize, SPH_STANDARDIZE_OFF);
    set(job, "standardize", "auto");
    assert_int_equal(job->request.asked.options.standardize, -1);
    assert_string_equal(sph_job_get(job, "standardize"), "");
    assert_null(sph_job_get(job, "no-such-option"));
    sph_job_free(job);
}

static void values_are_kept_in_one_canonical_form(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"lr", "0.10", "0.1"},
        {"lr", "1e-3", "0.001"},
        {"lr_theta", "2", "2"},
        {"momentum", "-0", "0"},
        {"batch", "0064", "64"},
        {"batch", "full", "full"},
        {"hidden", "0100,50", "100,50"},
        {"hidden", "none", "none"},
        {"seed", "18446744073709551615", "18446744073709551615"},
        {"nesterov", "yes", "true"},
        {"nesterov", "0", "false"},
        {"delimiter", "\t", "tab"},
        {"delimiter", "blank", "blank"},
        {"delimiter", ";", ";"},
        {"init", "he", "he"},
        {"init", "a/b.safetensors", "a/b.safetensors"},
        {"weight_decay", "1e-300", "1e-300"},
        {"lr", "0.30000000000000004", "0.30000000000000004"},
        {"net", "resnet18", "resnet18"},
    };
    sph_job *job = new_job();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(job, cases[i][0], cases[i][1]);
        assert_string_equal(sph_job_get(job, cases[i][0]), cases[i][2]);
    }
    assert_int_equal(job->request.asked.options.hidden.count, 0);
    assert_int_equal(job->request.asked.options.batch, 0);
    assert_int_equal(job->request.asked.options.delimiter, ';');
    assert_int_equal(job->request.asked.options.seed == UINT64_MAX, 1);
    assert_int_equal(sph_job_set(job, "nesterov", NULL), 0);
    assert_int_equal(job->request.asked.options.nesterov, 1);
    sph_job_free(job);
}

static void refusals_name_the_option_and_change_nothing(void **state)
{
    (void)state;
    sph_job *job = new_job();
    struct bad_list list = bad_list("options");
    for (char *column[6]; bad_list_next(&list, column, 6);) {
        char *key = column[0], before[256] = "";
        const char *now = sph_job_get(job, key);
        if (now)
            snprintf(before, sizeof before, "%s", now);
        bad_list_check(&list, sph_job_set(job, key, column[1]), column, 6, NULL);
        if (now)
            assert_string_equal(sph_job_get(job, key), before);
    }
    bad_list_end(&list, 30);
    for (int i = 0; i < OPTION_COUNT; i++)
        assert_int_equal(options_given(&job->request.asked, (enum option_id)i), 0);
    sph_job_free(job);
}

static void reals_survive_their_text_to_the_last_bit(void **state)
{
    (void)state;
    struct rng rng = rng_stream(1, RNG_DATA, 0);
    sph_job *job = new_job();
    for (int i = 0; i < 2000; i++) {
        double x = exp(40 * rng_normal(&rng));
        options_set_real(&job->request.asked, OPTION_LR, x, ORIGIN_DEFAULT);
        double back;
        assert_true(text_to_double(sph_job_get(job, "lr"), &back));
        assert_true(back == x && job->request.asked.options.lr == x);
    }
    assert_int_equal(options_given(&job->request.asked, (enum option_id)OPTION_LR), 0);
    sph_job_free(job);
}

static void version_features_and_cpu_are_readable(void **state)
{
    (void)state;
    assert_true(strchr(sph_version(), '.') != NULL);
    assert_int_equal(sph_version()[strspn(sph_version(), "0123456789.")], '\0');
    assert_non_null(strstr(sph_features(), "kernels: "));
    for (const char *line = sph_features(); *line; line = strchr(line, '\n') + 1)
        assert_true(strstr(line, ": ") && strstr(line, ": ") < strchr(line, '\n'));
    assert_true(strlen(sph_cpu()) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_its_default_is_its_own_canonical_text),
        cmocka_unit_test(defaults_are_those_of_the_contract),
        cmocka_unit_test(what_others_choose_is_unset),
        cmocka_unit_test(values_are_kept_in_one_canonical_form),
        cmocka_unit_test(refusals_name_the_option_and_change_nothing),
        cmocka_unit_test(reals_survive_their_text_to_the_last_bit),
        cmocka_unit_test(version_features_and_cpu_are_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
