/* SPDX-License-Identifier: MIT
 *
 * One training by several ranks, which are threads here: the same losses as by one, whatever the parameterization and the
 * normalization; failures, stops and divergence reach all of them; a checkpoint goes on with another number. */
#include "train_problem.h"

#include <pthread.h>

#include "comm/comm.h"
#include "base/error.h"
#include "failure.h"
#include "layer.h"
#include "net/zoo.h"

enum { RANKS = 4, ROWS = 101, VAL_ROWS = 30, BATCH = 16, EPOCHS = 8, STEPS = 7 * EPOCHS, IMAGE_STEPS = 12 };

/* ---------------------------------------------------------------- threads as ranks */

struct hall {
    size_t size;
    pthread_barrier_t barrier;
    void *place[RANKS];
};

struct seat {
    struct hall *hall;
    size_t rank;
};

static void *const *meet(struct seat *seat, void *mine)
{
    seat->hall->place[seat->rank] = mine;
    pthread_barrier_wait(&seat->hall->barrier);
    return seat->hall->place;
}

static void part(struct seat *seat)
{
    pthread_barrier_wait(&seat->hall->barrier);
}

static void hall_sum(void *self, void *values, size_t count, int is_f64)
{
    struct seat *seat = self;
    void *const *all = meet(seat, values);
    double *sum = calloc(count, sizeof *sum);
    for (size_t r = 0; r < seat->hall->size; r++)
        for (size_t i = 0; i < count; i++)
            sum[i] += is_f64 ? ((double *)all[r])[i] : (double)((float *)all[r])[i];
    part(seat);
    for (size_t i = 0; i < count; i++)
        if (is_f64)
            ((double *)values)[i] = sum[i];
        else
            ((float *)values)[i] = (float)sum[i];
    free(sum);
    part(seat);
}

static void hall_gather(void *self, const void *mine, size_t bytes, void *out)
{
    struct seat *seat = self;
    void *const *all = meet(seat, (void *)(uintptr_t)mine);
    for (size_t r = 0; r < seat->hall->size; r++)
        memcpy((char *)out + r * bytes, all[r], bytes);
    part(seat);
}

static void hall_broadcast(void *self, size_t from, void *data, size_t bytes)
{
    struct seat *seat = self;
    void *const *all = meet(seat, data);
    if (seat->rank != from)
        memcpy(data, all[from], bytes);
    part(seat);
}

static const struct comm_row hall_row = {.version = COMM_VERSION,
                                         .name = "threads",
                                         .sum = hall_sum,
                                         .gather = hall_gather,
                                         .broadcast = hall_broadcast};

struct actor {
    struct seat seat;
    struct comm comm;
    void *play;
    void (*act)(struct actor *actor);
};

static void *begin_actor(void *self)
{
    struct actor *actor = self;
    actor->act(actor);
    return NULL;
}

/* act by so many ranks side by side. play: (size) elements of each, or one for all where each is 0. */
static void perform(size_t size, void (*act)(struct actor *), void *play, size_t each)
{
    struct hall hall = {.size = size};
    struct actor actor[RANKS];
    pthread_t thread[RANKS];
    assert_int_equal(pthread_barrier_init(&hall.barrier, NULL, (unsigned)size), 0);
    for (size_t r = 0; r < size; r++) {
        actor[r] = (struct actor){.seat = {&hall, r},
                                  .comm = {.row = &hall_row, .rank = r, .size = size},
                                  .play = (char *)play + r * each,
                                  .act = act};
        actor[r].comm.self = &actor[r].seat;
        assert_int_equal(pthread_create(&thread[r], NULL, begin_actor, &actor[r]), 0);
    }
    for (size_t r = 0; r < size; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&hall.barrier);
}

/* ---------------------------------------------------------------- one training */

struct training {
    sph_net *(*make)(const struct training *training);
    sph_dtype dtype;
    sph_param param;
    sph_norm norm;
    size_t micro, batch, epochs, steps; /* steps: no more */
    double lr;
    int local, weighs, loses; /* loses: only on the last rank, rows that cannot be fetched after some steps */
    size_t stop_at;           /* rank 0 asks for it */
    const struct kept *from;
    struct kept *keep; /* of rank 0 */

    double loss[STEPS + 1];
    size_t taken;
    double last_value; /* val_loss of the last epoch */
    double check;      /* a sum of the learned numbers */
    int err, stopped;
    struct failure failure;
};

struct kept {
    void *data[TRAINER_SPANS];
    size_t bytes[TRAINER_SPANS];
};

static int note_step(void *self, const sph_view *view)
{
    struct training *t = self;
    if (t->taken < STEPS)
        t->loss[t->taken] = view->loss;
    t->taken++;
    return t->stop_at && view->step == t->stop_at;
}

static int note_epoch(void *self, const sph_view *view)
{
    ((struct training *)self)->last_value = view->value[1];
    return 0;
}

static sph_net *small_net(const struct training *t)
{
    return learner(t->dtype, t->param, t->norm);
}

static sph_net *image_net(const struct training *t)
{
    sph_image_net spec = {.size = sizeof spec,
                          .dtype = t->dtype,
                          .channels = 3,
                          .height = 8,
                          .width = 8,
                          .classes = 1,
                          .scale = 0.1,
                          .param = t->param,
                          .norm = t->norm,
                          .act = SPH_ACT_RELU,
                          .seed = 3};
    sph_net *net = NULL;
    sph_net_zoo(&net, SPH_NET_RESNET18, &spec);
    return net;
}

struct rows {
    struct source inner;
    const sph_net *net;
    size_t left; /* fetches until one fails */
};

/* Images lie as pixels of padded channels. */
static int fetch_rows(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                      size_t ldy)
{
    struct rows *rows = self;
    const struct memory_table *table = rows->inner.self;
    const struct net_node *input = &rows->net->nodes[0];
    size_t pixels = node_pixels(input), channels = input->channels;
    if (!rows->left--)
        return sph_fail_at(SPH_EIO, "picture.jpg", "cannot be read");
    if (pixels == 1)
        return rows->inner.fetch(rows->inner.self, index, count, x, ldx, y, ldy);
    for (size_t i = 0; i < count; i++) {
        for (size_t p = 0; p < pixels; p++)
            table->k->from_double(channels, table->x + index[i] * table->n + p * channels,
                                  (char *)x + (i * ldx + p * kernel_pad(channels)) * table->k->size);
        table->k->from_double(1, table->y + index[i], (char *)y + i * ldy * table->k->size);
    }
    return 0;
}

static void exchange(struct trainer *trainer, struct kept *keep, const struct kept *from, size_t size)
{
    struct trainer_span span[TRAINER_SPANS];
    size_t count = trainer_spans(trainer, span);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = span[i].count * (span[i].is_f64 ? sizeof(double) : size);
        if (from) {
            memcpy(span[i].data, from->data[i], bytes);
            continue;
        }
        keep->data[i] = memcpy(malloc(bytes + 1), span[i].data, bytes);
        keep->bytes[i] = bytes;
    }
    if (from)
        trainer_restored(trainer);
}

static void release(struct kept *kept)
{
    for (size_t i = 0; i < TRAINER_SPANS; i++)
        free(kept->data[i]);
}

static void run_rank(struct actor *actor)
{
    struct training *t = actor->play;
    struct comm *comm = &actor->comm;
    struct problem problem;
    double weights[ROWS];
    sph_net *net = t->make(t);
    problem_open(&problem, net, ROWS, VAL_ROWS);
    struct rows train = {problem.train, net, t->loses && comm->rank + 1 == comm->size ? 9 : SIZE_MAX},
                val = {problem.val, net, SIZE_MAX};
    struct source sources[] = {problem.train, problem.val};
    sources[0].self = &train, sources[1].self = &val;
    sources[0].fetch = sources[1].fetch = fetch_rows;
    sph_train_opts opts = few_epochs(t->epochs);
    opts.batch = t->batch;
    opts.micro = t->micro;
    opts.lr = t->lr;
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = i % 3 ? 0.5 : 2;
    struct trainer *trainer = NULL;
    t->err = trainer_new(&trainer, &(struct trainer_setup){.net = net,
                                                           .opts = &opts,
                                                           .train = &sources[0],
                                                           .val = &sources[1],
                                                           .row_weights = t->weighs ? weights : NULL,
                                                           .comm = comm,
                                                           .local_norm = t->local});
    sph_observer observer = {.self = t, .step = note_step, .epoch = note_epoch};
    if (!t->err) {
        if (t->from && !comm->rank)
            exchange(trainer, NULL, t->from, net->k->size);
        trainer_share(trainer);
        t->err = trainer_run(trainer, &observer, 1);
        t->stopped = trainer_stopped(trainer);
        if (t->keep && !comm->rank)
            exchange(trainer, t->keep, NULL, net->k->size);
    }
    failure_save(&t->failure);
    double *numbers_of = numbers(net->learned);
    net->k->to_double(net->learned, net->params, numbers_of);
    t->check = 0;
    for (size_t i = 0; i < net->learned; i++)
        t->check += numbers_of[i] * (double)(i % 7 + 1);
    free(numbers_of);
    trainer_free(trainer);
    problem_close(&problem);
    sph_net_free(net);
}

/* out <- what each rank saw. */
static void train_by(size_t size, const struct training *how, struct training out[RANKS])
{
    for (size_t r = 0; r < size; r++) {
        out[r] = *how;
        if (r)
            out[r].stop_at = 0;
    }
    perform(size, run_rank, out, sizeof *out);
}

static const struct training plain = {.make = small_net,
                                      .dtype = SPH_F64,
                                      .param = SPH_PARAM_GMP,
                                      .norm = SPH_NORM_BN,
                                      .batch = BATCH,
                                      .epochs = EPOCHS,
                                      .lr = 0.01};

/* Whatever ranks there are, all of them see the losses of one process, up to rounding. */
static void assert_same(const struct training *how, const size_t *sizes, size_t count, double bar)
{
    struct training one[RANKS], many[RANKS];
    train_by(1, how, one);
    assert_int_equal(one[0].err, 0);
    assert_true(one[0].taken > 0 && one[0].loss[0] > 0);
    for (size_t s = 0; s < count; s++) {
        train_by(sizes[s], how, many);
        for (size_t r = 0; r < sizes[s]; r++) {
            assert_int_equal(many[r].err, 0);
            assert_int_equal(many[r].taken, one[0].taken);
            for (size_t i = 0; i < one[0].taken && i < STEPS; i++)
                near(many[r].loss[i], one[0].loss[i], bar * fmax(1, one[0].loss[i]));
            near(many[r].last_value, one[0].last_value, bar * fmax(1, one[0].last_value));
            assert_true(many[r].check == many[0].check);
        }
    }
}

static const size_t all_sizes[] = {2, 3, 4};

static void ranks_take_the_steps_of_one_process(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
            struct training how = plain;
            how.param = (sph_param)param;
            how.norm = (sph_norm)norm;
            how.weighs = norm % 2;
            assert_same(&how, all_sizes, 3, 1e-10);
        }
}

static void ranks_accumulate_as_one_process_does(void **state)
{
    (void)state;
    struct training how = plain;
    how.norm = SPH_NORM_LN; /* no statistic of the batch: these are of the rows at a time */
    how.micro = 3;
    assert_same(&how, all_sizes, 3, 1e-10);
    how.batch = 7; /* the last one of 3 rows leaves a rank without any */
    assert_same(&how, all_sizes, 3, 1e-10);
    how.norm = SPH_NORM_BN;
    how.micro = 0;
    assert_same(&how, all_sizes, 3, 1e-10);
    how.batch = 0;
    assert_same(&how, all_sizes, 3, 1e-10);
}

static void image_nets_take_the_steps_of_one_process(void **state)
{
    (void)state;
    static const sph_norm norms[] = {SPH_NORM_BN, SPH_NORM_IMN, SPH_NORM_MBN, SPH_NORM_GN};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i += quick_step(2)) {
        struct training how = plain;
        how.make = image_net;
        how.norm = norms[i];
        how.batch = 26;
        how.epochs = 3;
        how.lr = 0.001;
        how.param = i % 2 ? SPH_PARAM_GMP : SPH_PARAM_SP;
        assert_same(&how, all_sizes, 3, 1e-10);
    }
}

static void f32_stays_the_same_on_all_ranks(void **state)
{
    (void)state;
    struct training how = plain, again[RANKS], once[RANKS];
    how.dtype = SPH_F32;
    assert_same(&how, all_sizes, 3, 1e-3);
    train_by(4, &how, once);
    train_by(4, &how, again);
    assert_memory_equal(once[0].loss, again[0].loss, sizeof once[0].loss);
    assert_true(once[0].check == again[0].check);
}

static void local_statistics_are_other_ones_and_end_the_same_on_all_ranks(void **state)
{
    (void)state;
    struct training how = plain, one[RANKS], many[RANKS];
    how.local = 1;
    train_by(1, &how, one);
    train_by(3, &how, many);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(many[r].err, 0);
        assert_true(many[r].check == many[0].check && many[r].last_value == many[0].last_value);
    }
    assert_true(fabs(many[0].loss[5] - one[0].loss[5]) > 1e-6);
}

/* ---------------------------------------------------------------- what goes wrong */

static void assert_all_fail(size_t size, const struct training *how, int code, const char *key,
                            const char *path, const char *word)
{
    struct training ranks[RANKS];
    train_by(size, how, ranks);
    for (size_t r = 0; r < size; r++) {
        assert_int_equal(ranks[r].err, code);
        assert_string_equal(ranks[r].failure.key, key);
        assert_string_equal(ranks[r].failure.path, path);
        assert_non_null(strstr(ranks[r].failure.text, word));
        assert_int_equal(ranks[r].taken, ranks[0].taken);
    }
}

static void a_failure_of_one_rank_reaches_all(void **state)
{
    (void)state;
    struct training how = plain;
    how.loses = 1;
    for (size_t size = 2; size <= RANKS; size++)
        assert_all_fail(size, &how, SPH_EIO, "", "picture.jpg",
                        size == 2   ? "rank 1"
                        : size == 3 ? "rank 2"
                                    : "rank 3");
}

static void divergence_is_the_same_on_all_ranks(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        struct training how = plain, one[RANKS], many[RANKS];
        how.norm = (sph_norm)norm;
        how.param = SPH_PARAM_SP;
        how.lr = 1e200;
        train_by(1, &how, one);
        train_by(4, &how, many);
        for (size_t r = 0; r < 4; r++) {
            assert_int_equal(many[r].err, SPH_EDIVERGED);
            assert_int_equal(many[r].taken, one[0].taken);
            assert_string_equal(many[r].failure.text, many[0].failure.text);
        }
    }
}

static void batches_that_cannot_be_divided_are_refused(void **state)
{
    (void)state;
    struct training how = plain;
    how.batch = 3;
    assert_all_fail(4, &how, SPH_EARG, "batch", "", "4 processes");
    how.batch = 6;
    how.local = 1;
    assert_all_fail(4, &how, SPH_EARG, "batch", "", "2 rows");
}

static void a_stop_of_rank_0_stops_all_at_the_same_step_and_another_number_goes_on(void **state)
{
    (void)state;
    struct training how = plain, whole[RANKS], first[RANKS], second[RANKS];
    static const size_t sizes[][2] = {{4, 2}, {2, 3}, {3, 1}, {1, 4}};
    train_by(1, &how, whole);
    for (size_t s = 0; s < 4; s++) {
        struct kept kept = {0};
        how.stop_at = 10;
        how.keep = &kept;
        how.from = NULL;
        train_by(sizes[s][0], &how, first);
        for (size_t r = 0; r < sizes[s][0]; r++) {
            assert_true(first[r].stopped && !first[r].err);
            assert_int_equal(first[r].taken, first[0].taken);
        }
        assert_in_range(first[0].taken, 10, 11);
        how.stop_at = 0;
        how.keep = NULL;
        how.from = &kept;
        train_by(sizes[s][1], &how, second);
        for (size_t r = 0; r < sizes[s][1]; r++) {
            assert_int_equal(first[0].taken + second[r].taken, whole[0].taken);
            for (size_t i = 0; i < second[r].taken; i++)
                near(second[r].loss[i], whole[0].loss[first[0].taken + i], 1e-10);
        }
        release(&kept);
    }
}

/* ---------------------------------------------------------------- comm itself */

struct talk {
    int err, got;
    size_t differs, same;
    struct failure failure;
};

static void talk(struct actor *actor)
{
    struct talk *t = actor->play;
    char word[] = "the same";
    t->same = comm_differs(&actor->comm, word, sizeof word);
    word[0] = actor->comm.rank > 1 ? 'T' : 't';
    t->differs = comm_differs(&actor->comm, word, sizeof word);
    t->got = comm_agree(&actor->comm, 0);
    if (!t->got) {
        if (t->err < 0)
            sph_fail_at(t->err, "a.csv", "rank %zu has none", actor->comm.rank);
        t->got = comm_agree(&actor->comm, t->err);
    }
    int again = comm_agree(&actor->comm, 0); /* nobody waits for anybody any more */
    t->got = again == t->got ? t->got : 1;
    failure_save(&t->failure);
}

static void ranks_agree_on_the_first_failure(void **state)
{
    (void)state;
    struct talk ranks[RANKS] = {0};
    ranks[2].err = SPH_EIO;
    ranks[3].err = SPH_EFORMAT;
    perform(RANKS, talk, ranks, sizeof *ranks);
    for (size_t r = 0; r < RANKS; r++) {
        assert_int_equal(ranks[r].same, 0);
        assert_int_equal(ranks[r].differs, 2);
        assert_int_equal(ranks[r].got, SPH_EIO);
        assert_string_equal(ranks[r].failure.path, "a.csv");
        assert_non_null(strstr(ranks[r].failure.text, "rank 2"));
    }
    for (size_t r = 0; r < RANKS; r++)
        ranks[r] = (struct talk){0};
    perform(RANKS, talk, ranks, sizeof *ranks);
    for (size_t r = 0; r < RANKS; r++)
        assert_int_equal(ranks[r].got, 0);
}

static void shares_are_consecutive_and_differ_by_one(void **state)
{
    (void)state;
    for (size_t size = 1; size < 9; size++)
        for (size_t count = 0; count < 40; count++) {
            size_t next = 0;
            for (size_t rank = 0; rank < size; rank++) {
                struct comm_share share = comm_share_of(size, rank, count);
                assert_int_equal(share.first, next);
                assert_in_range(share.count, count / size, (count + size - 1) / size);
                next += share.count;
            }
            assert_int_equal(next, count);
        }
    double value = 3, all = 0;
    comm_sum(NULL, &value, 1, 1);
    comm_gather(NULL, &value, sizeof value, &all);
    assert_true(value == 3 && all == 3 && comm_agree(NULL, SPH_EIO) == SPH_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_consecutive_and_differ_by_one),
        cmocka_unit_test(ranks_agree_on_the_first_failure),
        cmocka_unit_test(ranks_take_the_steps_of_one_process),
        cmocka_unit_test(ranks_accumulate_as_one_process_does),
        cmocka_unit_test(image_nets_take_the_steps_of_one_process),
        cmocka_unit_test(f32_stays_the_same_on_all_ranks),
        cmocka_unit_test(local_statistics_are_other_ones_and_end_the_same_on_all_ranks),
        cmocka_unit_test(a_failure_of_one_rank_reaches_all),
        cmocka_unit_test(divergence_is_the_same_on_all_ranks),
        cmocka_unit_test(batches_that_cannot_be_divided_are_refused),
        cmocka_unit_test(a_stop_of_rank_0_stops_all_at_the_same_step_and_another_number_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
