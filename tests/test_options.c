/* SPDX-License-Identifier: MIT
 *
 * The option table: what it accepts, what it says when it refuses, and that config.yaml brings a job back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "file/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "job/config.h"
#include "job/options.h"
#include "short_memory.h"
#include "spherelu.h"

static sph_job *new_job(void)
{
    sph_job *job = NULL;
    assert_int_equal(sph_job_new(&job), 0);
    return job;
}

static void set(sph_job *job, const char *name, const char *value)
{
    if (sph_job_set(job, name, value))
        fail_msg("--%s %s: %s", name, value, sph_error());
}

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
        assert_int_equal(job->given[i], 0);
        if (*options[i].initial)
            set(job, options[i].name, options[i].initial);
        assert_string_equal(sph_job_get(job, options[i].name), options[i].initial);
    }
    sph_job_free(job);
}

static void defaults_are_those_of_the_contract(void **state)
{
    (void)state;
    sph_job *job = new_job();
    const struct job_options *o = &job->options;
    assert_int_equal(o->hidden.count, 1);
    assert_int_equal(o->hidden.list[0], 100);
    assert_int_equal(o->param, SPH_PARAM_GMP);
    assert_int_equal(o->norm, SPH_NORM_NONE);
    assert_int_equal(o->activation, SPH_ACT_RELU);
    assert_int_equal(o->optimizer, SPH_OPTIMIZER_ADAM);
    assert_string_equal(sph_job_get(job, "batch"), ""); /* the kind of network decides */
    assert_int_equal(o->epochs, 1000);
    assert_int_equal(o->patience, 100);
    assert_true(o->test == 0.2 && o->val == 0.2 && o->checkpoint_seconds == 30);
    assert_int_equal(o->dtype, SPH_F32);
    sph_job_free(job);
}

static void what_others_choose_is_unset(void **state)
{
    (void)state;
    static const char *const unset[] = {"loss", "lr",   "monitor", "standardize",
                                        "task", "init", "target",  "delimiter"};
    sph_job *job = new_job();
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        assert_string_equal(sph_job_get(job, unset[i]), "");
    assert_true(isnan(job->options.lr));
    assert_int_equal(job->options.loss, -1);
    assert_int_equal(job->options.task, -1);
    assert_int_equal(job->options.standardize, -1);
    assert_null(job->options.monitor);
    assert_int_equal(job->options.delimiter, 0);
    /* "auto" is the word for it */
    set(job, "standardize", "off");
    assert_int_equal(job->options.standardize, SPH_STANDARDIZE_OFF);
    set(job, "standardize", "auto");
    assert_int_equal(job->options.standardize, -1);
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
    assert_int_equal(job->options.hidden.count, 0);
    assert_int_equal(job->options.batch, 0);
    assert_int_equal(job->options.delimiter, ';');
    assert_int_equal(job->options.seed == UINT64_MAX, 1);
    assert_int_equal(sph_job_set(job, "nesterov", NULL), 0);
    assert_int_equal(job->options.nesterov, 1);
    sph_job_free(job);
}

static void refusals_say_what_was_found_and_expected_and_change_nothing(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"optimizer", "adan",
         "--optimizer: unknown word 'adan', did you mean 'adam'? (adam|adamw|sgd|rmsprop|lion)"},
        {"optimizer", "zzzzzz", "--optimizer: unknown word 'zzzzzz' (adam|adamw|sgd|rmsprop|lion)"},
        {"lr", "0", "--lr: found '0', expected a number greater than 0"},
        {"lr", "-1", "--lr: found '-1', expected a number greater than 0"},
        {"lr", "nan", "--lr: found 'nan', expected a number greater than 0"},
        {"lr", "inf", "--lr: found 'inf', expected a number greater than 0"},
        {"lr", "0.1x", "--lr: found '0.1x', expected a number greater than 0"},
        {"lr", "", "--lr: found nothing, expected a number greater than 0"},
        {"lr_r", "-1", "--lr-r: found '-1', expected a number, 0 or more"},
        {"batch", "0", "--batch: found '0', expected a whole number, 1 or more, or full"},
        {"batch", "all", "--batch: found 'all', expected a whole number, 1 or more, or full"},
        {"epochs", "0", "--epochs: found '0', expected a whole number, 1 or more"},
        {"epochs", "1.5", "--epochs: found '1.5', expected a whole number, 1 or more"},
        {"epochs", "99999999999999999999999",
         "--epochs: found '99999999999999999999999', expected a whole number, 1 or more"},
        {"test", "1", "--test: found '1', expected a number from 0 to below 1"},
        {"val", "-0.1", "--val: found '-0.1', expected a number from 0 to below 1"},
        {"momentum", "1", "--momentum: found '1', expected a number from 0 to below 1"},
        {"norm-momentum", "0", "--norm-momentum: found '0', expected a number above 0, at most 1"},
        {"hidden", "10,0",
         "--hidden: found '10,0', expected sizes of hidden layers such as 100 or 100,50, or none"},
        {"hidden", "10,",
         "--hidden: found '10,', expected sizes of hidden layers such as 100 or 100,50, or none"},
        {"hidden", "",
         "--hidden: found nothing, expected sizes of hidden layers such as 100 or 100,50, or none"},
        {"hidden", "10,none",
         "--hidden: found '10,none', expected sizes of hidden layers such as 100 or 100,50, or none"},
        {"init", "glorott",
         "--init: unknown word 'glorott', did you mean 'glorot'? (paper|glorot|he|FILE.safetensors)"},
        {"init", ".safetensors", "--init: unknown word '.safetensors' (paper|glorot|he|FILE.safetensors)"},
        {"delimiter", "ab",
         "--delimiter: found 'ab', expected one character that no number or word has in it, or tab or blank"},
        {"delimiter", "5",
         "--delimiter: found '5', expected one character that no number or word has in it, or tab or blank"},
        {"delimiter", "",
         "--delimiter: found nothing, expected one character that no number or word has in it, or tab or "
         "blank"},
        {"nesterov", "maybe", "--nesterov: found 'maybe', expected true or false"},
        {"seed", "-1", "--seed: found '-1', expected a whole number, 0 or more"},
        {"threads", "0", "--threads: found '0', expected a whole number from 1 to 1024"},
        {"data", "", "--data: found nothing, expected FILE|NAME"},
        {"data", "\xff.csv", "--data: found '?.csv', expected UTF-8 text"},
        {"data", "\xed\xa0\x80",
         "--data: found '?"
         "?"
         "?', expected UTF-8 text"},
        {"epoch", "3", "unknown option '--epoch', did you mean '--epochs'?"},
        {"banana", "3", "unknown option '--banana'"},
    };
    sph_job *job = new_job();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *now = sph_job_get(job, cases[i][0]);
        char before[256] = "";
        if (now)
            snprintf(before, sizeof before, "%s", now);
        assert_int_equal(sph_job_set(job, cases[i][0], cases[i][1]), SPH_EARG);
        assert_string_equal(sph_error(), cases[i][2]);
        if (now)
            assert_string_equal(sph_job_get(job, cases[i][0]), before);
    }
    for (int i = 0; i < OPTION_COUNT; i++)
        assert_int_equal(job->given[i], 0);
    sph_job_free(job);
}

static void reals_survive_their_text_to_the_last_bit(void **state)
{
    (void)state;
    struct rng rng = rng_stream(1, RNG_DATA, 0);
    sph_job *job = new_job();
    for (int i = 0; i < 2000; i++) {
        double x = exp(40 * rng_normal(&rng));
        options_set_real(job, OPTION_LR, x);
        double back;
        assert_true(text_to_double(sph_job_get(job, "lr"), &back));
        assert_true(back == x && job->options.lr == x);
    }
    assert_int_equal(job->given[OPTION_LR], 0);
    sph_job_free(job);
}

/* ---------------------------------------------------------------- config.yaml */

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
    assert_int_equal(config_write(job, &text), 0);
    write_config(text);
    if (config_read(back, config_path))
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
    assert_int_equal(back->options.hidden.count, 3);
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
    assert_int_equal(config_read(job, SPH_TESTS_DIR "/old/config-0.1.0.yaml"), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_string_equal(sph_job_get(job, values[i][0]), values[i][1]);
    char *old = NULL, *now = NULL;
    assert_int_equal(file_read(&old, NULL, SPH_TESTS_DIR "/old/config-0.1.0.yaml"), 0);
    assert_int_equal(config_write(job, &now), 0);
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
    static const char *const cases[][2] = {
        {"data:\n  name: x\n  taget: y\n", "%s:3: unknown key 'taget', did you mean 'target'?"},
        {"net:\n  zzzzzzz: 1\n", "%s:2: unknown key 'zzzzzzz'"},
        {"data:\n  lr: 0.1\n", "%s:2: key 'lr' belongs in section 'train:', not in 'data:'"},
        {"lr: 0.1\n", "%s:1: key 'lr' belongs in section 'train:'"},
        {"train: {seed: 1}\n", "%s:1: key 'seed' belongs at the top level"},
        {"trian: {lr: 0.1}\n", "%s:1: unknown key 'trian', did you mean 'train'?"},
        {"sed: 1\n", "%s:1: unknown key 'sed', did you mean 'seed'?"},
        {"wherever: x\n", "%s:1: unknown key 'wherever'"},
        {"train:\n  lr: 0.1\n  epochs: 3\n  lr: 0.1\n", "%s:4: key 'lr' is already in line 2"},
        {"seed: 1\ndata: {name: x}\nseed: 1\n", "%s:3: key 'seed' is already in line 1"},
        {"net: {hidden: [1]}\nnet: {param: sp}\n", "%s:2: key 'net' is already in line 1"},
        {"train:\n  lr: -1\n", "%s:2: lr: found '-1', expected a number greater than 0"},
        {"train: {lr: \"0.1\"}\n", "%s:1: lr: found the text \"0.1\", expected a number without quotes"},
        {"train: {lr: [0.1]}\n", "%s:1: lr: found a list, expected X"},
        {"train: {lr: {a: b}}\n", "%s:1: lr: found a mapping, expected X"},
        {"train: {lr: }\n", "%s:1: lr: found nothing, expected X"},
        {"train: {nesterov: ~}\n", "%s:1: nesterov: found nothing, expected true or false"},
        {"train:\n  optimizer: adan\n",
         "%s:2: optimizer: unknown word 'adan', did you mean 'adam'? (adam|adamw|sgd|rmsprop|lion)"},
        {"net: {hidden: [10, [3]]}\n", "%s:1: hidden: found a list in the list, expected sizes"},
        {"net: {hidden: [10, -3]}\n",
         "%s:1: hidden: found '10,-3', expected sizes of hidden layers such as 100 or 100,50, or none"},
        {"data: {target: [a, 'b,c']}\n",
         "%s:1: target: found 'b,c', expected no comma in an item of the list"},
        {"data: {target: []}\n", "%s:1: target: found nothing, expected COL[,COL]"},
        {"net: 3\n", "%s:1: net: found one value, expected a mapping of options"},
        {"net: [3]\n", "%s:1: net: found a list, expected a mapping of options"},
        {"- a\n", "%s:1: found a list, expected sections data, net and train"},
        {"a\n", "%s:1: found one value, expected sections data, net and train"},
        {"", "%s: found nothing, expected options"},
        {"seed: 1\n---\nseed: 2\n", "%s:3: found a second document, expected one"},
        {"? [a]\n: b\n", "%s:1: found a list as a key, expected a name"},
        {"data: {name: \"a\\0b\"}\n", "%s:1: name: found text with a NUL in it, expected FILE|NAME"},
        {"data: {name: x\nnet: 1\n", "%s:2: not YAML: did not find expected ',' or '}'"},
        {"data:\n\tname: x\n", "%s:2: not YAML: found character that cannot start any token"},
        {"version: [1]\n", "%s:1: version: found a list, expected text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[1024], shown[1024];
        sph_job *job = new_job();
        write_config(cases[i][0]);
        assert_int_equal(config_read(job, config_path), SPH_EFORMAT);
        const char *rest = strstr(cases[i][1], "%s") + 2;
        snprintf(expected, sizeof expected, "%s%s", config_path, rest);
        snprintf(shown, sizeof shown, "%s", sph_error());
        assert_string_equal(shown, expected);
        sph_job_free(job);
    }
    sph_job *job = new_job();
    static const char not_utf8[] = "data: {name: \xff}\n";
    write_config(not_utf8);
    assert_int_equal(config_read(job, config_path), SPH_EFORMAT);
    assert_non_null(strstr(sph_error(), "not YAML"));
    assert_int_equal(config_read(job, "/nonexistent/config.yaml"), SPH_EIO);
    sph_job_free(job);
}

static void lists_may_be_written_as_lists_or_as_on_the_command_line(void **state)
{
    (void)state;
    sph_job *job = new_job();
    write_config("data: {name: x, target: [a, b], drop: 'c,d'}\nnet: {hidden: '7,8'}\n");
    assert_int_equal(config_read(job, config_path), 0);
    assert_string_equal(sph_job_get(job, "target"), "a,b");
    assert_string_equal(sph_job_get(job, "drop"), "c,d");
    assert_string_equal(sph_job_get(job, "hidden"), "7,8");
    write_config("net: {hidden: 9}\n");
    assert_int_equal(config_read(job, config_path), 0);
    assert_string_equal(sph_job_get(job, "hidden"), "9");
    sph_job_free(job);
}

static void a_method_takes_keys_of_net_and_train_and_leaves_its_name(void **state)
{
    (void)state;
    yaml_document_t document;
    sph_job *job = new_job();
    write_config("{name: BN, param: sp, norm: bn, lr: 0.01}\n");
    assert_int_equal(config_load(&document, config_path), 0);
    struct node root = node_root(config_path, &document);
    assert_int_equal(config_apply(job, root, NULL, "name", NULL), 0);
    assert_string_equal(sph_job_get(job, "norm"), "bn");
    assert_string_equal(sph_job_get(job, "lr"), "0.01");
    assert_string_equal(sph_job_get(job, "data"), "");
    assert_int_equal(config_apply(job, root, NULL, NULL, NULL), SPH_EFORMAT);
    assert_non_null(strstr(sph_error(), "key 'name' belongs in section 'data:'"));
    yaml_document_delete(&document);
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
    assert_int_equal(config_conflict(mine, theirs), 0);
    set(mine, "lr", "1e-1");
    set(mine, "out", "elsewhere");
    set(mine, "checkpoint-seconds", "60");
    assert_int_equal(config_conflict(mine, theirs), 0);
    set(mine, "param", "gmp"); /* the default, but said aloud */
    assert_int_equal(config_conflict(mine, theirs), SPH_EARG);
    assert_string_equal(sph_error(), "--param: found 'gmp', but the run to resume was started with 'sp'");
    set(mine, "param", "sp");
    set(mine, "drop", "id");
    assert_int_equal(config_conflict(mine, theirs), SPH_EARG);
    assert_string_equal(sph_error(), "--drop: found 'id', but the run to resume was started without it");
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
    assert_int_equal(options_adopt(mine, theirs), 0);
    assert_int_equal(mine->options.hidden.count, 2);
    assert_true(mine->options.lr == 0.1);
    assert_true(mine->options.checkpoint_seconds == 60);
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
    if ((err = sph_job_new(&mine)) || (err = sph_job_set(mine, "hidden", "3,4,5")) ||
        (err = sph_job_set(mine, "data", "x y")) || (err = sph_job_set(mine, "delimiter", "tab")) ||
        (err = sph_job_set(mine, "record", "patterns:1,2+boundaries")) || (err = config_write(mine, &text)) ||
        (err = sph_job_new(&theirs)) || (err = config_read(theirs, config_path)))
        goto out;
    err = options_adopt(mine, theirs);
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
    assert_true(count > 50);
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
        cmocka_unit_test(refusals_say_what_was_found_and_expected_and_change_nothing),
        cmocka_unit_test(reals_survive_their_text_to_the_last_bit),
        cmocka_unit_test(a_job_comes_back_from_its_config),
        cmocka_unit_test(a_config_of_version_0_1_0_is_read),
        cmocka_unit_test(any_text_survives_yaml),
        cmocka_unit_test(broken_configs_are_named_by_line_and_key),
        cmocka_unit_test(lists_may_be_written_as_lists_or_as_on_the_command_line),
        cmocka_unit_test(a_method_takes_keys_of_net_and_train_and_leaves_its_name),
        cmocka_unit_test(resume_refuses_only_what_was_given_and_differs),
        cmocka_unit_test(adopting_takes_what_was_not_given),
        cmocka_unit_test(every_failed_allocation_is_reported_and_nothing_leaks),
        cmocka_unit_test(version_features_and_cpu_are_readable),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
