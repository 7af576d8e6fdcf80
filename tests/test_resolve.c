/* SPDX-License-Identifier: MIT
 *
 * job_resolve: the defaults that --help names are the ones that a training gets; a stronger origin wins; config.yaml
 * brings the same spec back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "failure.h"
#include "file/file.h"
#include "job/config.h"
#include "job/defaults.h"
#include "job/resolve.h"
#include "job/tool.h"
#include "spherelu.h"

static const struct data_facts small = {.rows = 1000, .classes = 2, .task = SPH_TASK_BINARY},
                               large = {.rows = 20000, .task = SPH_TASK_REGRESSION},
                               images = {.rows = 10000,
                                         .classes = 10,
                                         .height = 32,
                                         .width = 32,
                                         .task = SPH_TASK_CLASSES,
                                         .images = 1},
                               pictures = {.rows = 500,
                                           .classes = 3,
                                           .height = 224,
                                           .width = 224,
                                           .task = SPH_TASK_CLASSES,
                                           .images = 1,
                                           .pictures = 1};

/* A request of "option", "value", ..., NULL from the command line. */
static struct job_request request(int recommends, ...)
{
    struct job_request out = {.recommends = recommends};
    va_list args;
    options_init(&out.asked);
    va_start(args, recommends);
    for (const char *name; (name = va_arg(args, const char *));)
        assert_int_equal(options_put(&out.asked, (enum option_id)option_find(name),
                                     va_arg(args, const char *), ORIGIN_COMMAND),
                         0);
    va_end(args);
    return out;
}

static struct job_spec resolved(struct job_request *from, const struct data_facts *facts)
{
    struct job_spec spec;
    if (job_resolve(&spec, from, facts) < 0)
        fail_msg("%s", sph_error());
    options_free(&from->asked);
    return spec;
}

/* ---------------------------------------------------------------- --help and train agree */

/* Whether words have value as a whole word: "100; 128,128 for 5,000 samples and more" has 100. */
static int has_value(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = words; (at = strstr(at, value)); at++)
        if ((at == words || strchr(" :", at[-1])) && (!at[length] || strchr(" ;,", at[length])))
            return 1;
    return 0;
}

enum { TABLE, IMAGES };

/* The words of one default: what follows "for tables: " and so on, up to the next of these. */
static void words_for(const char *whole, int kind, char out[256])
{
    static const char *const whom[] = {"for tables: ", "for images: "};
    const char *begin = strstr(whole, whom[kind]);
    if (!begin) {
        snprintf(out, 256, "%s", whole);
        return;
    }
    begin += strlen(whom[kind]);
    const char *end = strstr(begin, "; for ");
    snprintf(out, 256, "%.*s", end ? (int)(end - begin) : 255, begin);
}

static void assert_help_names(const struct job_spec *spec, int kind)
{
    /* computed ones, whose words are a rule and not a value */
    static const enum option_id by_rule[] = {OPTION_BATCH, OPTION_THREADS, OPTION_TASK, OPTION_STANDARDIZE};
    size_t checked = 0;
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        char whole[256], words[256], value[64];
        int rule = id == OPTION_LR && kind == IMAGES;
        for (size_t i = 0; i < sizeof by_rule / sizeof *by_rule; i++)
            rule |= id == by_rule[i];
        if (!options_has(spec, id) || options_given(spec, id) || rule || !option_row(id)->argument)
            continue;
        sph_option_default((size_t)id, whole, sizeof whole);
        words_for(whole, kind, words);
        const char *text = options_text(spec, id);
        snprintf(value, sizeof value, "%s",
                 id == OPTION_EPSILON ? "1e-8"
                 : id == OPTION_STEM  ? "auto"
                                      : text);
        if (!has_value(words, value))
            fail_msg("--%s is %s, and its help says: %s", option_row(id)->name, text, whole);
        checked++;
    }
    assert_true(checked > 25);
}

static void the_defaults_of_train_are_those_that_its_help_names(void **state)
{
    (void)state;
    static const char *const nets[] = {"vgg6", "resnet18"};
    const struct data_facts *tables[] = {&small, &large}, *of_images[] = {&images, &pictures};
    for (int i = 0; i < 2; i++) {
        struct job_request plain = request(1, "data", "x", NULL);
        struct job_spec spec = resolved(&plain, tables[i]);
        assert_help_names(&spec, TABLE);
        options_free(&spec);
        struct job_request asked[] = {request(1, "data", "x", NULL),
                                      request(1, "data", "x", "net", nets[i], NULL)};
        for (int net = 0; net < 2; net++) {
            struct data_facts as_opened = *of_images[i];
            if (as_opened.pictures)
                as_opened.height = as_opened.width = resolve_folder_side(&asked[net]);
            spec = resolved(&asked[net], &as_opened);
            assert_help_names(&spec, IMAGES);
            options_free(&spec);
        }
    }
}

/* ---------------------------------------------------------------- origins */

static void assert_value(const struct job_spec *spec, enum option_id id, const char *value,
                         enum option_origin origin)
{
    assert_string_equal(options_text(spec, id), value);
    assert_string_equal(option_origin_word((enum option_origin)spec->origin[id]), option_origin_word(origin));
}

/* Only another schedule than the default changes the defaults of epochs and patience. */
static void an_explicit_cosine_keeps_the_epochs_of_tables(void **state)
{
    (void)state;
    static const struct {
        const char *schedule, *epochs, *patience;
        int recommends;
    } cases[] = {{"", "200", "0", 1},
                 {"cosine", "200", "0", 1},
                 {"none", "1000", "100", 1},
                 {"cosine", "1000", "100", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_request from = *cases[i].schedule
                                      ? request(cases[i].recommends, "schedule", cases[i].schedule, NULL)
                                      : request(cases[i].recommends, NULL);
        struct job_spec spec = resolved(&from, &small);
        assert_string_equal(options_text(&spec, OPTION_EPOCHS), cases[i].epochs);
        assert_string_equal(options_text(&spec, OPTION_PATIENCE), cases[i].patience);
        options_free(&spec);
    }
}

static void images_without_a_network_get_a_small_resnet(void **state)
{
    (void)state;
    struct job_request open = request(1, "epochs", "3", NULL);
    struct job_spec spec = resolved(&open, &pictures);
    assert_value(&spec, OPTION_NET, "resnet18", ORIGIN_RECOMMENDED);
    assert_value(&spec, OPTION_WIDTH, "0.25", ORIGIN_RECOMMENDED);
    assert_value(&spec, OPTION_PARAM, "sp", ORIGIN_RECOMMENDED);
    assert_value(&spec, OPTION_NORM, "bn", ORIGIN_RECOMMENDED);
    assert_value(&spec, OPTION_EPOCHS, "3", ORIGIN_COMMAND);
    options_free(&spec);

    struct job_request method = request(1, "norm", "imn", "param", "gmp", NULL);
    spec = resolved(&method, &images);
    assert_value(&spec, OPTION_NET, "resnet18", ORIGIN_RECOMMENDED);
    assert_value(&spec, OPTION_NORM, "imn", ORIGIN_COMMAND);
    assert_value(&spec, OPTION_IMN_AT, "output", ORIGIN_RECOMMENDED);
    options_free(&spec);

    struct job_request pretrained = request(1, "init", "x.safetensors", NULL);
    assert_int_equal(resolve_folder_side(&pretrained), 0);
    spec = resolved(&pretrained, &pictures);
    assert_value(&spec, OPTION_WIDTH, "1", ORIGIN_DEFAULT);
    options_free(&spec);

    struct job_request hidden = request(1, "hidden", "20", NULL);
    assert_int_equal(resolve_folder_side(&hidden), 64);
    spec = resolved(&hidden, &images);
    assert_value(&spec, OPTION_NET, "mlp", ORIGIN_DEFAULT);
    assert_value(&spec, OPTION_NORM, "none", ORIGIN_DEFAULT);
    options_free(&spec);

    struct job_request fixed = request(0, NULL), reference = request(1, "protocol", "reference", NULL);
    assert_int_equal(resolve_folder_side(&fixed), 0);
    assert_int_equal(resolve_folder_side(&reference), 0);
    spec = resolved(&fixed, &images);
    assert_value(&spec, OPTION_NET, "mlp", ORIGIN_DEFAULT);
    options_free(&spec);
    spec = resolved(&reference, &images);
    assert_value(&spec, OPTION_NET, "mlp", ORIGIN_DEFAULT);
    options_free(&spec);
}

static void a_value_has_the_origin_that_decided_it(void **state)
{
    (void)state;
    struct job_request of_table = request(1, "lr", "0.5", NULL);
    struct job_spec spec = resolved(&of_table, &small);
    assert_value(&spec, OPTION_LR, "0.5", ORIGIN_COMMAND);
    assert_value(&spec, OPTION_PARAM, "sphere", ORIGIN_RECOMMENDED);
    assert_value(&spec, OPTION_NORM, "none", ORIGIN_DEFAULT);
    assert_false(options_has(&spec, OPTION_ENSEMBLE)); /* a training option was given */
    options_free(&spec);

    struct job_request fixed = request(0, NULL);
    spec = resolved(&fixed, &small);
    assert_value(&spec, OPTION_PARAM, "gmp", ORIGIN_DEFAULT);
    assert_value(&spec, OPTION_EPOCHS, "1000", ORIGIN_DEFAULT);
    options_free(&spec);

    struct job_request reference = request(1, "protocol", "reference", "epochs", "7", NULL);
    spec = resolved(&reference, &large);
    assert_value(&spec, OPTION_LOSS, "mae", ORIGIN_PROTOCOL);
    assert_value(&spec, OPTION_VAL, "0", ORIGIN_PROTOCOL);
    assert_value(&spec, OPTION_EPOCHS, "7", ORIGIN_COMMAND);
    assert_value(&spec, OPTION_PARAM, "gmp", ORIGIN_DEFAULT);
    options_free(&spec);
}

static void a_stronger_origin_takes_the_place_of_a_weaker_one(void **state)
{
    (void)state;
    struct job_request all = request(0, NULL);
    struct job_spec from;
    options_init(&from);
    for (enum option_origin origin = ORIGIN_FILE; origin <= ORIGIN_COMMAND; origin++) {
        options_set_real(&from, OPTION_LR, (double)origin, ORIGIN_FILE);
        assert_int_equal(options_override(&all.asked, &from, origin), 0);
        struct job_spec spec;
        assert_int_equal(job_resolve(&spec, &all, &small), 0);
        assert_true(spec.options.lr == (double)origin);
        assert_int_equal(spec.origin[OPTION_LR], origin);
        options_free(&spec);
    }
    options_free(&from);
    options_free(&all.asked);
}

/* A request is not changed, and what it was turned into can be asked for again. */
static void a_spec_is_resolved_to_itself(void **state)
{
    (void)state;
    const struct data_facts *facts[] = {&small, &large, &images, &pictures};
    for (int i = 0; i < 4; i++)
        for (int reference = 0; reference < 2; reference++) {
            struct job_request first = request(1, "protocol", reference ? "reference" : "holdout", "net",
                                               i < 2 ? "mlp" : "resnet18", NULL),
                               again = request(1, NULL);
            struct job_spec spec = resolved(&first, facts[i]), same;
            assert_int_equal(config_adopt(&again.asked, &spec), 0);
            same = resolved(&again, facts[i]);
            for (enum option_id id = 0; id < OPTION_COUNT; id++)
                assert_string_equal(options_text(&same, id), options_text(&spec, id));
            options_free(&spec);
            options_free(&same);
        }
}

static void config_brings_the_same_spec_back(void **state)
{
    (void)state;
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/tmp/spherelu-resolve-%d.yaml", (int)getpid());
    const struct data_facts *facts[] = {&small, &images, &pictures};
    for (int i = 0; i < 3; i++) {
        struct job_request from =
            request(1, "data", "x", "seed", "3", i ? "net" : "lr", i ? "vgg6" : "0.25", NULL);
        struct job_spec spec = resolved(&from, facts[i]), back;
        assert_int_equal(config_write(&spec, &text), 0);
        assert_int_equal(file_replace_with(path, text, strlen(text)), 0);
        options_init(&back);
        assert_int_equal(config_read(&back, path), 0);
        for (enum option_id id = 0; id < OPTION_COUNT; id++) {
            assert_string_equal(options_text(&back, id), options_text(&spec, id));
            assert_int_equal(back.origin[id], spec.origin[id]);
        }
        mem_free(text);
        options_free(&spec);
        options_free(&back);
    }
    unlink(path);
}

static void a_refused_request_leaves_nothing(void **state)
{
    (void)state;
    struct job_request from = request(1, "net", "vgg6", NULL);
    struct job_spec spec;
    assert_fails(job_resolve(&spec, &from, &small), SPH_EARG, .key = "net");
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        assert_false(options_has(&spec, id));
    options_free(&from.asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_of_train_are_those_that_its_help_names),
        cmocka_unit_test(an_explicit_cosine_keeps_the_epochs_of_tables),
        cmocka_unit_test(images_without_a_network_get_a_small_resnet),
        cmocka_unit_test(a_value_has_the_origin_that_decided_it),
        cmocka_unit_test(a_stronger_origin_takes_the_place_of_a_weaker_one),
        cmocka_unit_test(a_spec_is_resolved_to_itself),
        cmocka_unit_test(config_brings_the_same_spec_back),
        cmocka_unit_test(a_refused_request_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
