/* SPDX-License-Identifier: MIT
 *
 * A training that is stopped, saved, loaded elsewhere and continued ends with the bits of one that was not.
 */
#include "random_net.h"

#include <stdio.h>
#include <unistd.h>

#include "fault.h"
#include "net/net.h"
#include "store/checkpoint.h"
#include "train/optimizer.h"
#include "store/model.h"
#include "store/safetensors.h"
#include "spherelu.h"

enum { INPUTS = 3, ROWS = 45, VAL_ROWS = 17, EPOCHS = 9, BATCH = 10, LOG = 64 };

static char path[64], broken[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_checkpoint.%d.safetensors", (int)getpid());
    snprintf(broken, sizeof broken, "test_checkpoint.%d.broken", (int)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(path);
    remove(broken);
    return 0;
}

/* ---------------------------------------------------------------- a tiny training */

struct rows {
    const struct kernels *k;
    double x[ROWS][INPUTS], y[ROWS];
};

static int fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y, size_t ldy)
{
    const struct rows *rows = self;
    for (size_t i = 0; i < count; i++) {
        rows->k->from_double(INPUTS, rows->x[index[i]], (char *)x + i * ldx * rows->k->size);
        rows->k->from_double(1, &rows->y[index[i]], (char *)y + i * ldy * rows->k->size);
    }
    return 0;
}

struct training {
    sph_net *net;
    sph_train_opts opts;
    struct rows rows;
    struct source train, val;
    struct trainer *trainer;
    double values[LOG][4]; /* of each epoch */
    double lr[LOG];
    uint64_t stop_at; /* step */
};

static int on_step(void *self, const sph_view *view)
{
    const struct training *t = self;
    return view->step == t->stop_at;
}

static int on_epoch(void *self, const sph_view *view)
{
    struct training *t = self;
    assert_true(view->epoch < LOG && view->values <= 4);
    memcpy(t->values[view->epoch], view->value, view->values * sizeof(double));
    t->lr[view->epoch] = view->lr;
    return 0;
}

/* Of the trainings to come. */
static double natural;

static void begin(struct training *t, sph_dtype dtype, sph_param param, sph_norm norm,
                  sph_optimizer optimizer, size_t units)
{
    *t = (struct training){0};
    assert_int_equal(sph_net_mlp(&t->net, &(sph_mlp){.size = sizeof(sph_mlp),
                                                     .dtype = dtype,
                                                     .inputs = INPUTS,
                                                     .outputs = 1,
                                                     .hidden = (size_t[]){units, 4},
                                                     .depth = 2,
                                                     .param = param,
                                                     .norm = norm,
                                                     .act = SPH_ACT_RELU,
                                                     .seed = 4}),
                     0);
    sph_train_defaults(&t->opts, SPH_TASK_REGRESSION);
    t->opts.loss = SPH_LOSS_MSE;
    t->opts.optimizer = optimizer;
    t->opts.lr = 0.05;
    t->opts.momentum = 0.9;
    t->opts.natural = natural;
    t->opts.batch = BATCH;
    t->opts.epochs = EPOCHS;
    t->opts.schedule = "plateau:1:0.5:0.5"; /* lowers the rate soon and often */
    t->opts.seed = 8;
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    t->rows.k = t->net->k;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < INPUTS; j++)
            t->rows.x[i][j] = rng_normal(&rng);
        t->rows.y[i] = fabs(t->rows.x[i][0]) - t->rows.x[i][2];
    }
    t->train = (struct source){.self = &t->rows, .rows = ROWS, .targets = 1, .fetch = fetch};
    t->val = (struct source){.self = &t->rows, .rows = VAL_ROWS, .targets = 1, .fetch = fetch};
    struct trainer_setup setup = {.net = t->net, .opts = &t->opts, .train = &t->train, .val = &t->val};
    if (trainer_new(&t->trainer, &setup))
        fail_msg("%s", sph_error());
}

static void finish(struct training *t)
{
    trainer_free(t->trainer);
    sph_net_free(t->net);
}

static void run(struct training *t, uint64_t stop_at)
{
    sph_observer observer = {t, NULL, on_step, on_epoch, NULL};
    t->stop_at = stop_at;
    if (trainer_run(t->trainer, &observer, 1))
        fail_msg("%s", sph_error());
    assert_int_equal(trainer_stopped(t->trainer), stop_at != 0);
}

static void check_same_spans(struct training *a, struct training *b)
{
    struct trainer_span sa[TRAINER_SPANS], sb[TRAINER_SPANS];
    size_t count = trainer_spans(a->trainer, sa);
    assert_int_equal(count, trainer_spans(b->trainer, sb));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(sa[i].name, sb[i].name);
        assert_int_equal(sa[i].count, sb[i].count);
        assert_memory_equal(sa[i].data, sb[i].data, sa[i].count * (sa[i].is_f64 ? 8 : a->net->k->size));
    }
}

static void resumed_is_the_same(sph_dtype dtype, sph_param param, sph_norm norm, sph_optimizer optimizer,
                                uint64_t stop)
{
    struct training whole, half, rest;
    begin(&whole, dtype, param, norm, optimizer, 5);
    run(&whole, 0);
    begin(&half, dtype, param, norm, optimizer, 5);
    run(&half, stop);
    json_t *extra = json_pack("{s:i, s:f}", "metrics", 1234, "seconds", 0.1), *back = NULL;
    if (checkpoint_save(path, &(struct checkpoint_parts){&half.trainer, 1, half.net}, extra))
        fail_msg("%s", sph_error());
    begin(&rest, dtype, param, norm, optimizer, 5);
    randomize(rest.net, 77, 0); /* the checkpoint alone decides */
    if (checkpoint_load(path, &(struct checkpoint_parts){&rest.trainer, 1, rest.net}, &back))
        fail_msg("%s", sph_error());
    assert_true(json_equal(extra, back));
    check_same_spans(&half, &rest);
    assert_true(trainer_place(rest.trainer)->step == stop);
    run(&rest, 0);
    check_same_spans(&whole, &rest);
    size_t first = (size_t)stop / 5; /* 5 batches an epoch */
    for (size_t e = 1; e <= EPOCHS; e++) {
        const struct training *from = e <= first ? &half : &rest;
        assert_memory_equal(whole.values[e], from->values[e], sizeof whole.values[e]);
        assert_true(whole.lr[e] == from->lr[e]);
    }
    assert_true(whole.lr[EPOCHS] < whole.lr[1]);
    trainer_take_best(whole.trainer);
    trainer_take_best(rest.trainer);
    assert_memory_equal(whole.net->params, rest.net->params, whole.net->learned * whole.net->k->size);
    json_decref(extra);
    json_decref(back);
    finish(&whole);
    finish(&half);
    finish(&rest);
}

static void a_resumed_training_ends_with_the_same_bits(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++) {
            resumed_is_the_same((sph_dtype)dtype, SPH_PARAM_GMP, SPH_NORM_BN, (sph_optimizer)optimizer, 23);
            resumed_is_the_same((sph_dtype)dtype, SPH_PARAM_SPHERE, SPH_NORM_IMN, (sph_optimizer)optimizer,
                                20);
            resumed_is_the_same((sph_dtype)dtype, SPH_PARAM_WN, SPH_NORM_MBN, (sph_optimizer)optimizer, 1);
            resumed_is_the_same((sph_dtype)dtype, SPH_PARAM_SP, SPH_NORM_NONE, (sph_optimizer)optimizer, 44);
        }
}

static void a_resumed_training_on_natural_directions_does_too(void **state)
{
    (void)state;
    natural = 0.01;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
            if (!optimizer_ops((sph_optimizer)optimizer)->no_natural)
                resumed_is_the_same((sph_dtype)dtype, SPH_PARAM_GMP, SPH_NORM_IMN, (sph_optimizer)optimizer,
                                    23);
    natural = 0;
}

/* Before the first epoch ends the best value is infinite: it must come back so. */
static void infinite_scalars_come_back(void **state)
{
    (void)state;
    struct training a, b;
    begin(&a, SPH_F32, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_OPTIMIZER_ADAM, 5);
    begin(&b, SPH_F32, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_OPTIMIZER_ADAM, 5);
    run(&a, 2);
    run(&b, 7);
    assert_true(isinf(trainer_place(a.trainer)->best));
    assert_true(isfinite(trainer_place(b.trainer)->best));
    json_t *extra = (json_t *)&a;
    assert_int_equal(checkpoint_save(path, &(struct checkpoint_parts){&a.trainer, 1, a.net}, NULL), 0);
    assert_int_equal(checkpoint_load(path, &(struct checkpoint_parts){&b.trainer, 1, b.net}, &extra), 0);
    assert_null(extra);
    assert_true(trainer_place(b.trainer)->best == INFINITY);
    finish(&a);
    finish(&b);
}

/* ---------------------------------------------------------------- refusals */

static void load_refuses(struct training *t, const char *file, const char *key)
{
    struct trainer_span spans[TRAINER_SPANS];
    size_t count = trainer_spans(t->trainer, spans);
    char *copy[TRAINER_SPANS];
    json_t *extra = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = spans[i].count * (spans[i].is_f64 ? 8 : t->net->k->size);
        copy[i] = malloc(bytes + 1);
        memcpy(copy[i], spans[i].data, bytes);
    }
    assert_fails(checkpoint_load(file, &(struct checkpoint_parts){&t->trainer, 1, t->net}, &extra),
                 SPH_EFORMAT, .key = key);
    assert_memory_equal(sph_failure()->path, file, strlen(file));
    assert_null(extra);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(copy[i], spans[i].data, spans[i].count * (spans[i].is_f64 ? 8 : t->net->k->size));
        free(copy[i]);
    }
}

static void another_network_is_refused_with_the_first_difference(void **state)
{
    (void)state;
    struct training saved;
    begin(&saved, SPH_F32, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_OPTIMIZER_ADAM, 5);
    run(&saved, 3);
    assert_int_equal(checkpoint_save(path, &(struct checkpoint_parts){&saved.trainer, 1, saved.net}, NULL),
                     0);
    static const struct {
        sph_dtype dtype;
        sph_param param;
        sph_norm norm;
        sph_optimizer optimizer;
        size_t units;
        const char *key;
    } cases[] = {
        {SPH_F32, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_OPTIMIZER_ADAM, 7, NULL},
        {SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE, SPH_OPTIMIZER_ADAM, 5, NULL},
        {SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN, SPH_OPTIMIZER_ADAM, 5, NULL},
        {SPH_F64, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_OPTIMIZER_ADAM, 5, NULL},
        {SPH_F32, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_OPTIMIZER_SGD, 5, "optimizer.1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training t;
        begin(&t, cases[i].dtype, cases[i].param, cases[i].norm, cases[i].optimizer, cases[i].units);
        load_refuses(&t, path, cases[i].key);
        finish(&t);
    }
    finish(&saved);
}

static void a_broken_checkpoint_changes_nothing(void **state)
{
    (void)state;
    struct training t;
    begin(&t, SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN, SPH_OPTIMIZER_ADAM, 5);
    run(&t, 3);
    assert_int_equal(sph_net_save(t.net, path), 0);
    load_refuses(&t, path, NULL);
    assert_int_equal(checkpoint_save(path, &(struct checkpoint_parts){&t.trainer, 1, t.net}, NULL), 0);
    sph_net *net = NULL;
    assert_fails(sph_net_open(&net, path), SPH_EFORMAT, .path = path);

    /* the same file with one thing wrong each time */
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, path), 0);
    char *metadata = strdup(safetensors_metadata(&file, MODEL_METADATA));
    struct st_item items[TRAINER_SPANS];
    size_t shape[TRAINER_SPANS], count = file.count, scalars = count;
    for (size_t i = 0; i < count; i++) {
        shape[i] = file.tensor[i].count;
        items[i] =
            (struct st_item){file.tensor[i].name, file.tensor[i].dtype, &shape[i], 1, file.tensor[i].data};
        if (!strcmp(items[i].name, "scalars"))
            scalars = i;
    }
    assert_true(scalars < count);
    struct st_meta meta = {MODEL_METADATA, metadata};
    assert_int_equal(safetensors_write(broken, items, count, &meta, 1), 0);
    assert_int_equal(checkpoint_load(broken, &(struct checkpoint_parts){&t.trainer, 1, t.net}, NULL),
                     0); /* sound so far */

    assert_int_equal(safetensors_write(broken, items, count - 1, &meta, 1), 0);
    load_refuses(&t, broken, "best.state");
    assert_int_equal(safetensors_write(broken, items, count, NULL, 0), 0);
    load_refuses(&t, broken, NULL);
    assert_int_equal(
        safetensors_write(broken, items, count, &(struct st_meta){MODEL_METADATA, "{\"format\":9}"}, 1), 0);
    load_refuses(&t, broken, NULL);
    shape[scalars]--;
    assert_int_equal(safetensors_write(broken, items, count, &meta, 1), 0);
    load_refuses(&t, broken, "scalars");
    shape[scalars]++;
    double values[TRAINER_SCALAR_COUNT];
    memcpy(values, items[scalars].data, sizeof values);
    values[TRAINER_BATCH] = NAN;
    items[scalars].data = values;
    assert_int_equal(safetensors_write(broken, items, count, &meta, 1), 0);
    load_refuses(&t, broken, NULL);
    values[TRAINER_BATCH] = 1.5;
    assert_int_equal(safetensors_write(broken, items, count, &meta, 1), 0);
    load_refuses(&t, broken, NULL);
    free(metadata);
    safetensors_close(&file);
    finish(&t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct training t;
    begin(&t, SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN, SPH_OPTIMIZER_ADAM, 5);
    run(&t, 3);
    for (int load = 0; load < 2; load++) {
        size_t failures = 0;
        int err;
        for (;; failures++) {
            fault_after(failures);
            err = load ? checkpoint_load(path, &(struct checkpoint_parts){&t.trainer, 1, t.net}, NULL)
                       : checkpoint_save(path, &(struct checkpoint_parts){&t.trainer, 1, t.net}, NULL);
            fault_off();
            if (!fault_happened())
                break;
            assert_int_equal(err, SPH_EMEMORY);
        }
        assert_int_equal(err, 0);
        assert_true(failures > 1);
    }
    finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_training_ends_with_the_same_bits),
        cmocka_unit_test(a_resumed_training_on_natural_directions_does_too),
        cmocka_unit_test(infinite_scalars_come_back),
        cmocka_unit_test(another_network_is_refused_with_the_first_difference),
        cmocka_unit_test(a_broken_checkpoint_changes_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
