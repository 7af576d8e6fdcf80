/* SPDX-License-Identifier: MIT
 *
 * How long each buffer of a plan lives, and where it lies. */
#include "base/error.h"
#include "base/memory.h"
#include "net/arena.h"
#include "net/plan_inside.h"

/* Moments of a run of one tile: op i forward at i, the head at op_count, op i backward at 2 op_count - i.
 * Where buffers hold several tiles, all ops between two joins happen at once: the first may still write the
 * last tile when the last has long read the first one. */
static size_t first_of_segment(const struct plan *plan, size_t i)
{
    for (; plan->whole && i > 0 && !plan->ops[i - 1].kind->join_forward; i--)
        ;
    return i;
}

static size_t last_of_segment(const struct plan *plan, size_t i)
{
    for (; plan->whole && i + 1 < plan->op_count && !plan->ops[i].kind->join_forward; i++)
        ;
    return i;
}

static void touch(const struct plan *plan, struct arena_span *spans, const struct buffer *buffer,
                  size_t moment)
{
    if (!buffer)
        return;
    for (size_t i = 0; i < plan->requests.count; i++)
        if (plan->requests.list[i].buffer == buffer) {
            spans[i].first = moment < spans[i].first ? moment : spans[i].first;
            spans[i].last = moment > spans[i].last ? moment : spans[i].last;
            return;
        }
    for (size_t i = 0; i < plan->op_count; i++) { /* an activation's result lies in one of two places */
        const struct op *op = &plan->ops[i];
        if (op->out == buffer && op->spare.width) {
            touch(plan, spans, op->in, moment);
            touch(plan, spans, &op->spare, moment);
        }
    }
}

static void touch_at(const struct plan *plan, struct arena_span *spans, const struct buffer *buffer,
                     size_t op, int backward)
{
    size_t head = plan->op_count, first = first_of_segment(plan, op), last = last_of_segment(plan, op);
    touch(plan, spans, buffer, backward ? 2 * head - first : first);
    touch(plan, spans, buffer, backward ? 2 * head - last : last);
    if (plan->whole && last + 1 == head) /* forward, head and back in one go */
        touch(plan, spans, buffer, backward ? first : 2 * head - first);
}

static void touch_all(const struct plan *plan, struct arena_span *spans)
{
    size_t head = plan->op_count;
    for (size_t i = 0; i < plan->op_count; i++) {
        const struct op *op = &plan->ops[i];
        const struct buffer *forward[] = {op->in, op->in2, op->out, &op->spare, op->work};
        for (size_t j = 0; j < sizeof forward / sizeof *forward; j++)
            touch_at(plan, spans, forward[j], i, 0);
        if (!op->back)
            continue;
        const struct op *source = op->in_again.source;
        int product = op->kind == &op_conv || op->kind == &op_dense;
        int reads_in = op->kind->back_in && !source && !(product && !op->grads->dw);
        const struct buffer *backward[] = {reads_in ? op->in : NULL,
                                           reads_in ? op->in2 : NULL,
                                           op->kind->back_out ? op->out : NULL,
                                           op->din,
                                           op->din2,
                                           op->dout,
                                           op->back_also,
                                           op->back_work,
                                           op->in_again.buffer,
                                           source ? source->in : NULL};
        for (size_t j = 0; j < sizeof backward / sizeof *backward; j++)
            touch_at(plan, spans, backward[j], i, 1);
    }
    touch(plan, spans, &plan->value[plan->weights->net->output], head);
    touch(plan, spans, &plan->grad[plan->weights->net->output], head);
}

int plan_place_buffers(struct plan *plan)
{
    size_t count = plan->requests.count, line = MEM_ALIGN / plan->k->size;
    struct arena_span *spans = mem_get(count, sizeof *spans);
    size_t *order = mem_get(count, sizeof *order);
    if (spans && order) {
        for (size_t i = 0; i < count; i++)
            spans[i] = (struct arena_span){.length = plan->requests.list[i].numbers, .first = (size_t)-1};
        touch_all(plan, spans);
        size_t numbers = arena_place(spans, count, line, order);
        plan->owned.memory = weights_room(plan->weights, (plan->whole ? 1 : plan->workers) * numbers);
        for (size_t i = 0; plan->owned.memory && i < count; i++) {
            plan->requests.list[i].buffer->data = (char *)plan->owned.memory + spans[i].at * plan->k->size;
            plan->requests.list[i].buffer->worker_step =
                plan->requests.list[i].worker_step ? plan->requests.list[i].worker_step : numbers;
        }
    }
    mem_free(spans);
    mem_free(order);
    return plan->owned.memory ? 0 : SPH_EMEMORY;
}
