/* SPDX-License-Identifier: MIT */
#include "train/members.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"
#include "train/evaluate.h"
#include "train/losses.h"

/* Numbers of an epoch that wait: these, then its values. */
enum { WAITS_EPOCH, WAITS_STEP, WAITS_LR, WAITS_IMPROVED, WAITS_VALUES };

enum { EVALUATE_ROWS = 1024, VALUES_MAX = 2 * SPH_METRICS_MAX + 2 };

/* A thread stays with a member for so long: what starting costs is little beside it, and so is what the others can be
 * behind. */
static const double slice_seconds = 0.005;

struct member {
    struct members *all;
    sph_trainer *trainer;
    int busy;
    double *waiting; /* (count, width) */
    size_t count, capacity;
    double until;    /* of the slice at work */
    double loss, lr; /* of the last step; NaN: none yet */
    int err;
    struct failure failure;
};

struct members {
    struct member *member; /* (members) */
    size_t members, threads, width;
    const sph_net *net;   /* the first one's */
    size_t epochs, steps; /* of a member: at most; of an epoch */
    size_t given;
    double began, until; /* of the round at work */
    atomic_flag lock;
    atomic_int failed;
    int forgives;
    struct comm *comm; /* borrowed; NULL: all members are trained here */
    const char *name[VALUES_MAX];
    double value[VALUES_MAX];
};

int members_new(struct members **out, sph_trainer *const *trainers, size_t count, size_t threads)
{
    struct members *m = mem_get(1, sizeof *m);
    struct member *list = mem_get(count, sizeof *list);
    if (!m || !list) {
        mem_free(list);
        mem_free(m);
        return SPH_EMEMORY;
    }
    m->member = list;
    m->members = count;
    m->threads = threads < count ? threads : count;
    if (m->threads > threads_limit())
        m->threads = threads_limit();
    m->net = trainers[0]->net;
    m->epochs = trainers[0]->opts.epochs;
    m->steps = trainer_steps(trainers[0]->loop);
    m->began = clock_seconds();
    size_t values = trainer_names(trainers[0]->loop, m->name);
    m->name[values] = "members";
    m->width = WAITS_VALUES + values;
    atomic_flag_clear(&m->lock);
    for (size_t k = 0; k < count; k++)
        list[k] = (struct member){
            .all = m, .trainer = trainers[k], .loss = (double)NAN, .lr = trainers[k]->opts.lr};
    *out = m;
    return 0;
}

void members_free(struct members *m)
{
    if (!m)
        return;
    for (size_t k = 0; k < m->members; k++)
        mem_free(m->member[k].waiting);
    mem_free(m->member);
    mem_free(m);
}

/* ---------------------------------------------------------------- a round */

static int is_finished(const struct member *member)
{
    return member->err == SPH_EDIVERGED || trainer_place(member->trainer->loop)->finished;
}

static uint64_t epochs_of(const struct member *member)
{
    return trainer_place(member->trainer->loop)->epoch;
}

/* Whoever is behind comes first. NULL: the others are in good hands, and no more will come. */
static struct member *take(struct members *m)
{
    struct member *next = NULL;
    if (atomic_load(&m->failed) || clock_seconds() >= m->until)
        return NULL;
    while (atomic_flag_test_and_set(&m->lock))
        ;
    for (size_t k = 0; k < m->members; k++) {
        struct member *member = &m->member[k];
        if (!member->busy && k % comm_size(m->comm) == (m->comm ? m->comm->rank : 0) &&
            !is_finished(member) && (!next || epochs_of(member) < epochs_of(next)))
            next = member;
    }
    if (next)
        next->busy = 1;
    atomic_flag_clear(&m->lock);
    return next;
}

static void give_back(struct members *m, struct member *member)
{
    while (atomic_flag_test_and_set(&m->lock))
        ;
    member->busy = 0;
    atomic_flag_clear(&m->lock);
}

static int on_step(void *self, const sph_view *view)
{
    struct member *member = self;
    member->loss = view->loss;
    member->lr = view->lr;
    return clock_seconds() >= member->all->until;
}

static int add_waiting(struct member *member, const double *row)
{
    size_t width = member->all->width;
    if (!mem_reserve((void **)&member->waiting, &member->capacity, (member->count + 1) * width,
                     sizeof *member->waiting))
        return SPH_EMEMORY;
    memcpy(member->waiting + member->count++ * width, row, width * sizeof *row);
    return 0;
}

static int on_epoch(void *self, const sph_view *view)
{
    struct member *member = self;
    double row[WAITS_VALUES + VALUES_MAX] = {(double)view->epoch, (double)view->step, view->lr,
                                             (double)view->improved};
    memcpy(row + WAITS_VALUES, view->value, view->values * sizeof *row);
    int err = add_waiting(member, row);
    return err < 0 ? err : clock_seconds() >= member->until;
}

static void work(void *context, size_t worker)
{
    struct members *m = context;
    struct member *member;
    (void)worker;
    while ((member = take(m))) {
        const sph_observer observer = {.self = member, .step = on_step, .epoch = on_epoch};
        member->until = clock_seconds() + slice_seconds;
        member->err = trainer_run(member->trainer->loop, &observer, 1);
        if (member->err < 0 && !(m->forgives && member->err == SPH_EDIVERGED)) {
            failure_save(&member->failure);
            atomic_store(&m->failed, 1);
        }
        give_back(m, member);
    }
}

int members_round(struct members *m, double seconds)
{
    m->until = clock_seconds() + seconds;
    threads_run(m->threads, work, m);
    for (size_t k = 0; k < m->members; k++)
        if (m->member[k].err < 0 && !(m->forgives && members_diverged(m, k))) {
            failure_set(&m->member[k].failure);
            return sph_fail_in(m->member[k].err, "member %zu", k);
        }
    return 0;
}

void members_forgive(struct members *m)
{
    m->forgives = 1;
}

int members_diverged(const struct members *m, size_t member)
{
    return m->member[member].err == SPH_EDIVERGED;
}

int members_finished(const struct members *m)
{
    size_t finished = 0;
    for (size_t k = 0; k < m->members; k++)
        finished += (size_t)is_finished(&m->member[k]);
    return finished == m->members;
}

/* ---------------------------------------------------------------- members of other ranks */

/* What a round changes of a member, beside its epochs. */
struct news {
    struct trainer_place at;
    double loss, lr;
    size_t waiting;
};

/* The member's epochs that wait <- its owner's. */
static int share_waiting(struct member *member, size_t owner, size_t count)
{
    const struct members *m = member->all;
    int own = m->comm->rank == owner, err = 0;
    double row[WAITS_VALUES + VALUES_MAX];
    if (!own)
        member->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (own)
            memcpy(row, member->waiting + i * m->width, m->width * sizeof *row);
        comm_broadcast(m->comm, owner, row, m->width * sizeof *row);
        if (!own && !err)
            err = add_waiting(member, row);
    }
    return err;
}

static int share(struct member *member, size_t owner, int whole)
{
    struct members *m = member->all;
    struct trainer *loop = member->trainer->loop;
    struct news news = {*trainer_place(loop), member->loss, member->lr, member->count};
    comm_broadcast(m->comm, owner, &news, sizeof news);
    member->loss = news.loss;
    member->lr = news.lr;
    int err = share_waiting(member, owner, news.waiting);
    if (whole)
        trainer_give(loop, m->comm, owner);
    else
        trainer_set_place(loop, &news.at);
    return err;
}

int members_share(struct members *m, int whole)
{
    int err = 0;
    for (size_t k = 0; k < m->members && m->comm; k++) {
        int one = share(&m->member[k], k % m->comm->size, whole);
        err = err ? err : one;
    }
    return err;
}

int members_begin_ranks(struct members *m, struct comm *comm)
{
    int err = 0;
    m->comm = comm;
    for (size_t k = 0; k < m->members; k++) {
        int one = share(&m->member[k], 0, 1);
        err = err ? err : one;
    }
    return err;
}

/* ---------------------------------------------------------------- what others see */

static void drop_first(struct member *member)
{
    size_t width = member->all->width;
    memmove(member->waiting, member->waiting + width, --member->count * width * sizeof *member->waiting);
}

/* The mean of their last steps' losses; NaN: none has taken one. */
static double last_loss(const struct members *m)
{
    double sum = 0, count = 0;
    for (size_t k = 0; k < m->members; k++)
        if (!isnan(m->member[k].loss)) {
            sum += m->member[k].loss;
            count++;
        }
    return count > 0 ? sum / count : (double)NAN;
}

void members_view(const struct members *m, sph_view *view)
{
    size_t behind = 0;
    for (size_t k = 1; k < m->members; k++)
        if (!is_finished(&m->member[k]) &&
            (is_finished(&m->member[behind]) || epochs_of(&m->member[k]) < epochs_of(&m->member[behind])))
            behind = k;
    *view = (sph_view){.net = m->net,
                       .epoch = (size_t)epochs_of(&m->member[behind]),
                       .epochs = m->epochs,
                       .step = trainer_place(m->member[behind].trainer->loop)->step,
                       .steps = (uint64_t)m->epochs * m->steps,
                       .lr = m->member[behind].lr,
                       .loss = last_loss(m),
                       .names = m->name,
                       .value = m->value,
                       .seconds = clock_seconds() - m->began};
}

/* A member that is still to come to the epoch keeps all waiting. */
static int is_there(const struct members *m, size_t epoch)
{
    size_t here = 0;
    for (size_t k = 0; k < m->members; k++) {
        const struct member *member = &m->member[k];
        if (!member->count && !is_finished(member))
            return 0;
        here += member->count && member->waiting[WAITS_EPOCH] == (double)epoch;
    }
    return here > 0;
}

int members_epoch(struct members *m, sph_view *view)
{
    size_t epoch = m->given + 1, values = m->width - WAITS_VALUES, here = 0;
    if (!is_there(m, epoch))
        return 0;
    members_view(m, view);
    memset(m->value, 0, sizeof m->value);
    double lr = 0;
    for (size_t k = 0; k < m->members; k++) {
        struct member *member = &m->member[k];
        const double *row = member->waiting;
        if (!member->count || row[WAITS_EPOCH] != (double)epoch)
            continue;
        here++;
        lr += row[WAITS_LR];
        view->step = (uint64_t)row[WAITS_STEP];
        view->improved |= row[WAITS_IMPROVED] != 0;
        for (size_t i = 0; i < values; i++)
            m->value[i] += row[WAITS_VALUES + i];
        drop_first(member);
    }
    for (size_t i = 0; i < values; i++)
        m->value[i] /= (double)here;
    m->value[values] = (double)here;
    view->epoch = m->given = epoch;
    view->lr = lr / (double)here;
    view->loss = m->value[0];
    view->values = values + 1;
    return 1;
}

/* ---------------------------------------------------------------- checkpoints */

size_t members_width(const struct members *m)
{
    return m->width;
}

const double *members_waiting(const struct members *m, size_t member, size_t *rows)
{
    *rows = m->member[member].count;
    return m->member[member].waiting;
}

int members_restore(struct members *m, size_t member, const double *rows, size_t count)
{
    int err = 0;
    for (size_t i = 0; i < count && !err; i++)
        err = add_waiting(&m->member[member], rows + i * m->width);
    return err;
}

size_t members_given(const struct members *m)
{
    return m->given;
}

void members_set_given(struct members *m, size_t epoch)
{
    m->given = epoch;
}

/* ---------------------------------------------------------------- the mean */

int members_forward(sph_net *const *nets, size_t count, sph_loss loss, const double *x, size_t rows,
                    double *y)
{
    if (count == 1)
        return sph_net_forward(nets[0], x, rows, y);
    size_t outputs = sph_net_outputs(nets[0]), numbers, all;
    if (!size_times(&numbers, rows, outputs) || !size_times(&all, numbers, count))
        return sph_fail(SPH_EMEMORY, "out of memory: %zu rows of %zu nets", rows, count);
    double *each = mem_get(all, sizeof *each);
    int err = each ? 0 : SPH_EMEMORY;
    for (size_t k = 0; k < count && !err; k++)
        err = sph_net_forward(nets[k], x, rows, each + k * numbers);
    for (size_t i = 0; i < rows && !err; i++)
        loss_join(loss_row(loss)->link, outputs, count, each + i * outputs, numbers, y + i * outputs);
    mem_free(each);
    return err;
}

int members_score(sph_net *const *nets, size_t count, const sph_train_opts *opts, const struct source *source,
                  const size_t *fold_end, size_t folds, sph_scores *out)
{
    struct weights **weights = mem_get(count, sizeof *weights);
    struct evaluator *evaluator = NULL;
    struct evaluator_opts how = {.loss = opts->loss,
                                 .smoothing = opts->label_smoothing,
                                 .delta = opts->huber_delta,
                                 .workers = 1,
                                 .fold_end = fold_end,
                                 .folds = folds};
    size_t rows = net_rows_at_once(nets[0], EVALUATE_ROWS);
    int err = weights ? 0 : SPH_EMEMORY;
    for (size_t k = 0; k < count && !err; k++)
        if (!(err = weights_new(&weights[k], nets[k], nets[k]->k, 0)))
            weights_materialize(weights[k]);
    if (!err)
        err = evaluator_new_mean(&evaluator, weights, count, &how, source->rows < rows ? source->rows : rows);
    if (!err)
        err = evaluator_run(evaluator, source, NULL, EVALUATOR_ALL, out);
    evaluator_free(evaluator);
    for (size_t k = 0; weights && k < count; k++)
        weights_free(weights[k]);
    mem_free(weights);
    return err;
}
