/* SPDX-License-Identifier: MIT
 *
 * What reports of experiments and runs say, and that they can be made again from the folder. */
#include "job/job.h"
#include "report_files.h"

#include "base/error.h"
#include "report/pages.h"
#include "report/tool.h"
#include "spherelu.h"
#include "failure.h"

/* ---------------------------------------------------------------- of an experiment */

static char *report_of(const char *text)
{
    sph_experiment_result result;
    char *html;
    remove_tree(in_home("out"));
    write_file("file.yaml", text);
    if (run_file("out", 0, 0, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(file_read(&html, NULL, in_home("out/report.html")), 0);
    return html;
}

#define SMALL                                                                                                \
    "data: {name: crescents, rows: 40, noise: 0.3}\n"                                                        \
    "net: {hidden: [2]}\n"                                                                                   \
    "train: {epochs: 2}\n"

static void an_experiment_is_told_whole(void **state)
{
    (void)state;
    char *html = report_of("name: \"<i>small & \\\"more\\\"\"\n" SMALL
                           "methods: [{name: \"<SP>\", param: sp}, {name: GmP}]\n"
                           "grid: {lr: [0.1, 0.2]}\nseeds: [7, 8, 9]\n");
    assert_holds(html, "<h1>&lt;i&gt;small &amp; &quot;more&quot;</h1>");
    assert_holds(html, "2 methods × 2 values of lr × 3 seeds on crescents");
    assert_holds(html, "Grid: lr in 0.1, 0.2.");
    assert_holds(html, "<th scope=\"row\">&lt;SP&gt;</th>");
    assert_lacks(html, "<SP>");
    assert_lacks(html, "<i>small");
    assert_holds(html, "larger is better");
    assert_holds(html, " ± ");
    assert_lacks(html, "+-");
    assert_holds(html, "minus GmP");
    assert_holds(html, "&lt;SP&gt; on ");
    assert_holds(html, "<th scope=\"row\">9</th>");
    assert_holds(html, "All 12 jobs");
    assert_holds(html, "content: &quot;");
    assert_holds(html, "kernels");
    assert_holds(html, sph_version());
    assert_holds(html, "spherelu run experiment.yaml --out again");
    assert_lacks(html, "Warning");
    assert_lacks(html, "seconds\""); /* no clock */
    mem_free(html);
}

/* From the folder alone, as spherelu figures does. */
static int write_again(void)
{
    char dir[320];
    struct results results = {0};
    struct tables tables = {0};
    sph_experiment *e = NULL;
    snprintf(dir, sizeof dir, "%s", in_home("out"));
    int err = sph_experiment_open(&e, in_home("out/experiment.yaml"));
    if (!err)
        err = results_read(&results, e, dir);
    if (!err && !(err = tables_make(&tables, &results)))
        err = experiment_write_page(&results, &tables);
    tables_free(&tables);
    results_free(&results);
    sph_experiment_free(e);
    return err;
}

static void a_leak_stands_before_every_number(void **state)
{
    (void)state;
    char *html = report_of("name: leak\n" SMALL "methods: [{name: SP, param: sp}]\nprotocol: reference\n");
    const char *warning = strstr(html, "<strong>Warning.</strong> protocol reference");
    assert_non_null(warning);
    assert_true(warning < strstr(html, "<section"));
    mem_free(html);
}

static void jobs_without_a_number_are_named_with_their_reason(void **state)
{
    (void)state;
    char *html =
        report_of("name: bad\n" SMALL "methods: [{name: SP, param: sp, lr: 1e30}, {name: GmP}]\nseeds: 2\n");
    assert_holds(
        html, "<strong>Warning.</strong> 2 of 4 jobs have no score: 2 diverged, 0 failed; 2 of them belong "
              "to reported results");
    assert_holds(html, "diverged: ");
    assert_holds(html, "<td class=\"n bad\">0/2</td>");
    mem_free(html);
    /* in a grid it is what a grid is for */
    html = report_of("name: bad\n" SMALL "methods: [{name: SP, param: sp}]\ngrid: {lr: [0.1, 1e30]}\n");
    assert_holds(html, "<summary>1 of 2 jobs have no score: 1 diverged, 0 failed</summary>");
    assert_lacks(html, "Warning");
    mem_free(html);
}

static void a_long_table_of_points_stands_behind_a_matrix(void **state)
{
    (void)state;
    char *html = report_of("name: all\n" SMALL "methods: [{name: SP, param: sp}, {name: GmP}]\n"
                           "grid: {hidden: [2, 3, 4], lr: [0.1, 0.2, 0.3]}\ntable: all\n");
    assert_holds(html, "<caption>GmP: mean accuracy</caption>");
    assert_holds(html, "<th scope=\"col\" class=\"n\">lr 0.3</th></tr></thead>\n<tbody>\n<tr><th "
                       "scope=\"row\">hidden 2</th>");
    assert_holds(html, "<summary>The same with standard errors, one line for each point</summary>");
    mem_free(html);
    html = report_of("name: all\n" SMALL "methods: [{name: SP, param: sp}, {name: GmP}]\n"
                     "grid: {lr: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]}\ntable: all\n");
    assert_holds(html, "<th scope=\"col\" class=\"n\">lr 0.9</th></tr></thead>\n<tbody>\n<tr><th "
                       "scope=\"row\">SP</th>");
    mem_free(html);
    html = report_of("name: all\n" SMALL
                     "methods: [{name: SP, param: sp}]\ngrid: {lr: [0.1, 0.2]}\ntable: all\n");
    assert_holds(html, "<th scope=\"row\">SP, lr 0.2</th>");
    assert_lacks(html, "The same with standard errors");
    mem_free(html);
}

/* From the folder alone: known figures in the order of reading, then the others by name. */
static void a_report_can_be_made_again_with_figures(void **state)
{
    char *html = report_of("name: again\n" SMALL "methods: [{name: SP, param: sp}]\n"), *again;
    static const char *const files[] = {"alpha.svg", "alpha.gp", "zeta.gp", "turns.svg", "trajectories.svg"};
    (void)state;
    assert_int_equal(write_again(), 0);
    assert_int_equal(file_read(&again, NULL, in_home("out/report.html")), 0);
    assert_string_equal(html, again);
    assert_lacks(html, "<h2>Figures");
    mem_free(again);
    mem_free(html);
    assert_int_equal(file_make_directory(in_home("out/figures")), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        snprintf(path, sizeof path, "out/figures/%s", files[i]);
        assert_int_equal(file_replace_with(in_home(path), picture, strlen(picture)), 0);
    }
    assert_int_equal(write_again(), 0);
    assert_int_equal(file_read(&html, NULL, in_home("out/report.html")), 0);
    assert_holds(html, "<strong>Figure 1.</strong> The path of each unit");
    assert_holds(html, "<strong>Figure 2.</strong> The largest turn");
    assert_holds(html, "<strong>Figure 3.</strong> alpha\n");
    assert_holds(html, "<strong>Figure 4.</strong> zeta\n");
    assert_holds(html, "<code>gnuplot zeta.gp</code>");
    assert_lacks(html, "Figure 5.");
    mem_free(html);
}

static void motion_stands_beside_what_the_papers_say(void **state)
{
    char *html;
    (void)state;
    mem_free(report_of("name: motion\n" SMALL "methods: [{name: SP, param: sp}]\n"
                       "papers: {max_move: {SP: \"up to 2<sup>16\"}}\n"));
    write_file("out/motion.json",
               "{\"seeds\": 5, \"unit\": \"standardised features\", \"rows\": ["
               "{\"method\": \"SP\", \"point\": \"\", \"layer\": \"layers.0\", \"runs\": 5, \"steps\": 50, "
               "\"max_move\": "
               "65432.1, \"median_move\": 0.00012345, \"max_turn\": 179.96, \"turn_99\": null}]}");
    assert_int_equal(write_again(), 0);
    assert_int_equal(file_read(&html, NULL, in_home("out/report.html")), 0);
    assert_holds(
        html,
        "<th scope=\"row\">SP</th><td class=\"n\">5</td><td class=\"n\">50</td><td class=\"n\">6.54e+04</td>"
        "<td class=\"n\">0.000123</td><td class=\"n\">180</td><td class=\"n\">-</td></tr>");
    assert_holds(html, "<th scope=\"row\">max_move</th><td>SP</td><td class=\"n\">6.54e+04</td>"
                       "<td>up to 2&lt;sup&gt;16</td></tr>");
    assert_holds(html, "(|Δφ|, in standardised features)");
    mem_free(html);
}

static void an_experiment_without_training_has_its_numbers(void **state)
{
    (void)state;
    char *html = report_of("name: still\nperturb: {eps: [0.001, 0.5], dim: 3}\nfigures: [perturbation]\n");
    assert_holds(html, "Figures that do not need training.");
    assert_holds(html, "<caption>turn of its boundary in degrees</caption>");
    assert_holds(html, "<th scope=\"row\">0.5</th><td class=\"n\">");
    assert_holds(html, "<th scope=\"col\" class=\"n\">GmP</th></tr></thead>");
    assert_holds(html, "figures/perturbation.gp");
    assert_lacks(html, "<h2>Result</h2>");
    mem_free(html);
}

static void what_cannot_be_read_is_named(void **state)
{
    static const struct {
        const char *name, *text, *key;
        size_t line;
    } cases[] = {
        {"out/results.json", "[", "", 0},
        {"out/results.json", "{}", "metric", 0},
        {"out/results.json", "{\"metric\": \"accuracy\", \"jobs\": []}", "jobs", 0},
        {"out/results.json", "{\"metric\": \"accuracy\", \"jobs\": [{\"method\": \"WN\"}]}", "jobs", 0},
        {"out/motion.json", "{\"unit\": \"x\"}", "rows", 0},
        {"out/motion.json",
         "{\"unit\": \"x\", \"rows\": [{\"method\": \"WN\", \"point\": \"\", \"layer\": \"\"}]}", "method",
         0},
        {"out/experiment.yaml", "name: [\n", "", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mem_free(report_of("name: bad\n" SMALL "methods: [{name: SP, param: sp}]\n"));
        write_file(cases[i].name, cases[i].text);
        assert_fails(write_again(), SPH_EFORMAT, .key = cases[i].key, .path = cases[i].name,
                     .line = cases[i].line);
    }
}

/* ---------------------------------------------------------------- of a run */

/* As the page has it: not torn after its dashes. */
#define OPTION(name) "<span class=\"option\">--" name "</span>"

static char *run_report_of(const char *data, const char *lr)
{
    sph_job *job;
    sph_result result;
    char *html;
    remove_tree(in_home("run"));
    assert_int_equal(job_new(&job, 0), 0);
    assert_int_equal(sph_job_set(job, "data", data), 0);
    assert_int_equal(sph_job_set(job, "epochs", "3"), 0);
    assert_int_equal(sph_job_set(job, "hidden", "4,5"), 0);
    assert_int_equal(sph_job_set(job, "lr", lr), 0);
    assert_int_equal(sph_job_set(job, "out", in_home("run")), 0);
    int err = sph_job_run(job, 0, NULL, 0, &result);
    if (err && err != SPH_EDIVERGED)
        fail_msg("%s", sph_error());
    sph_run *run = sph_job_take_run(job);
    assert_true((run != NULL) == !err);
    sph_job_free(job);
    char *own = NULL; /* of what is in memory after training */
    if (run && (sph_run_page(run) < 0 || file_read(&own, NULL, in_home("run/report.html")) < 0))
        fail_msg("%s", sph_error());
    sph_run_free(run);
    if (run_write_page(in_home("run")) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(file_read(&html, NULL, in_home("run/report.html")), 0);
    if (own)
        assert_string_equal(own, html);
    mem_free(own);
    return html;
}

static void a_run_is_told_with_the_command_that_repeats_it(void **state)
{
    char *html, command[640];
    (void)state;
    const char *data =
        write_file("it's <odd>.csv", "a,b\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n7,8\n8,9\n9,1\n0,3\n");
    html = run_report_of(data, "0.02");
    assert_holds(html, "<h1>it&#39;s &lt;odd&gt;.csv</h1>");
    assert_holds(html, "One network: mlp with hidden 4,5, param gmp, norm none, seed 0");
    assert_holds(html, "Trained for 3 epochs");
    assert_holds(html, "<th scope=\"row\">validation</th><td class=\"n\">");
    snprintf(command, sizeof command,
             "spherelu train " OPTION("data") " &#39;%s/it&#39;\\&#39;&#39;s &lt;odd&gt;.csv&#39; " OPTION(
                 "task") " regression",
             home);
    assert_holds(html, command);
    assert_holds(html, OPTION("hidden") " 4,5 ");
    assert_holds(html, OPTION("lr") " 0.02 ");
    assert_lacks(html, "--momentum");
    assert_lacks(html, "--nesterov");
    assert_holds(html, OPTION("out") " again");
    mem_free(html);
    html = run_report_of("crescents", "1e30");
    assert_holds(html, "<strong>Warning.</strong> It diverged: ");
    mem_free(html);
    assert_int_equal(run_write_page(in_home("nowhere")), SPH_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_experiment_is_told_whole, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_leak_stands_before_every_number, make_home, remove_home),
        cmocka_unit_test_setup_teardown(jobs_without_a_number_are_named_with_their_reason, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_long_table_of_points_stands_behind_a_matrix, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_report_can_be_made_again_with_figures, make_home, remove_home),
        cmocka_unit_test_setup_teardown(motion_stands_beside_what_the_papers_say, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_run_is_told_with_the_command_that_repeats_it, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(an_experiment_without_training_has_its_numbers, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
