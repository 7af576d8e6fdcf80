/* SPDX-License-Identifier: MIT */
#include "store/events.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "events.pb-c.h"
#include "file/file.h"

enum { BUCKETS = 30, SESSION_START = 1, DT_FLOAT = 1, MOST_FILES = 10000 };

struct events {
    struct file_log log;
    double flushed;
};

/* ---------------------------------------------------------------- records */

/* Castagnoli's polynomial, bits turned round, a bit at a time: an epoch has few bytes. */
static uint32_t crc32c(const unsigned char *bytes, size_t length)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

uint32_t events_sum(const void *bytes, size_t length)
{
    uint32_t crc = crc32c(bytes, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void put(unsigned char *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static int add(struct events *events, uint64_t step, Events__Event *event)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    event->has_wall_time = 1;
    event->wall_time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    event->has_step = 1;
    event->step = (int64_t)step;
    size_t length = events__event__get_packed_size(event);
    unsigned char *record = mem_get(length + 16, 1);
    if (!record)
        return SPH_EMEMORY;
    put(record, length, 8);
    put(record + 8, events_sum(record, 8), 4);
    events__event__pack(event, record + 12);
    put(record + 12 + length, events_sum(record + 12, length), 4);
    int err = file_log_add(&events->log, (const char *)record, length + 16);
    mem_free(record);
    if (!err && clock_seconds() - events->flushed >= 1)
        err = events_flush(events);
    return err;
}

int events_flush(struct events *events)
{
    events->flushed = clock_seconds();
    return file_log_flush(&events->log);
}

static int add_value(struct events *events, uint64_t step, const char *tag, Events__Value *value)
{
    Events__Event event = EVENTS__EVENT__INIT;
    Events__Summary summary = EVENTS__SUMMARY__INIT;
    value->tag = (char *)tag;
    summary.value = &value;
    summary.n_value = 1;
    event.summary = &summary;
    return add(events, step, &event);
}

/* ---------------------------------------------------------------- the file */

/* The seconds of the clock make the order of a run's files; two of one second are numbered. */
static int open_new(struct events *events, const char *dir)
{
    int err = sph_fail_at(SPH_EIO, dir, "%d event files of one second", MOST_FILES);
    for (int number = 0; number < MOST_FILES; number++) {
        char *name = mem_format("events.out.tfevents.%010lld.spherelu.%04d", (long long)time(NULL), number);
        char *path = name ? file_join(dir, name) : NULL;
        int there = path && file_exists(path);
        if (!path)
            err = SPH_EMEMORY;
        else if (!there)
            err = file_log_open(&events->log, path, 0);
        mem_free(name);
        mem_free(path);
        if (!path || !there)
            return err;
    }
    return err;
}

int events_begin(struct events **out, const char *dir, uint64_t step)
{
    Events__Event first = EVENTS__EVENT__INIT, again = EVENTS__EVENT__INIT;
    Events__SessionLog session = EVENTS__SESSION_LOG__INIT;
    struct events *events = mem_get(1, sizeof *events);
    if (!events)
        return SPH_EMEMORY;
    int err = open_new(events, dir);
    if (err < 0) {
        mem_free(events);
        return err;
    }
    first.file_version = "brain.Event:2";
    session.has_status = 1;
    session.status = SESSION_START;
    again.session_log = &session;
    err = add(events, 0, &first);
    if (!err && step)
        err = add(events, step + 1, &again);
    if (!err)
        err = events_flush(events);
    if (err < 0) {
        events_free(events);
        return err;
    }
    *out = events;
    return 0;
}

void events_free(struct events *events)
{
    if (!events)
        return;
    file_log_close(&events->log);
    mem_free(events);
}

/* ---------------------------------------------------------------- values */

int events_scalar(struct events *events, uint64_t step, const char *tag, double number)
{
    Events__Value value = EVENTS__VALUE__INIT;
    value.has_simple_value = 1;
    value.simple_value = (float)number;
    return add_value(events, step, tag, &value);
}

int events_histogram(struct events *events, uint64_t step, const char *tag, const double *values,
                     size_t count)
{
    Events__Value value = EVENTS__VALUE__INIT;
    Events__Histogram histogram = EVENTS__HISTOGRAM__INIT;
    double limit[BUCKETS], bucket[BUCKETS] = {0}, low = INFINITY, high = -INFINITY, sum = 0, squares = 0,
                           finite = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
            sum += values[i];
            squares += values[i] * values[i];
            finite++;
        }
    if (finite == 0)
        return 0;
    double width = high / BUCKETS - low / BUCKETS; /* high - low may be more than a number holds */
    int apart = width > 0;
    for (size_t k = 0; k < BUCKETS; k++)
        limit[k] = !apart ? low + (double)(k + 1) : k + 1 < BUCKETS ? fma(width, (double)(k + 1), low) : high;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            double place = apart ? (values[i] / 2 - low / 2) / (width / 2) : 0;
            bucket[place < BUCKETS ? (size_t)place : BUCKETS - 1]++;
        }
    histogram.has_min = histogram.has_max = histogram.has_num = histogram.has_sum =
        histogram.has_sum_squares = 1;
    histogram.min = low;
    histogram.max = high;
    histogram.num = finite;
    histogram.sum = sum;
    histogram.sum_squares = squares;
    histogram.bucket_limit = limit;
    histogram.bucket = bucket;
    histogram.n_bucket_limit = histogram.n_bucket = BUCKETS;
    value.histo = &histogram;
    return add_value(events, step, tag, &value);
}

/* ---------------------------------------------------------------- hparams */

struct setting {
    Events__Hparam hparam;
    Events__Setting value;
};

static void set(struct setting *to, const char *name, const char *value)
{
    events__hparam__init(&to->hparam);
    events__setting__init(&to->value);
    to->hparam.key = (char *)name;
    to->hparam.value = &to->value;
    to->value.has_number_value =
        text_to_double(value, &to->value.number_value) && isfinite(to->value.number_value);
    if (!to->value.has_number_value)
        to->value.string_value = (char *)value;
}

int events_settings(struct events *events, const char *const *names, const char *const *values, size_t count)
{
    Events__Hparams hparams = EVENTS__HPARAMS__INIT;
    Events__Session session = EVENTS__SESSION__INIT;
    struct setting *settings = mem_get(count, sizeof *settings);
    Events__Hparam **list = mem_get(count, sizeof *list);
    uint8_t *content = NULL;
    int err = settings && list ? 0 : SPH_EMEMORY;
    for (size_t i = 0; !err && i < count; i++) {
        set(&settings[i], names[i], values[i]);
        list[i] = &settings[i].hparam;
    }
    session.hparams = list;
    session.n_hparams = err ? 0 : count;
    session.has_start_time_secs = 1;
    session.start_time_secs = (double)time(NULL);
    hparams.has_version = 1;
    hparams.session_start_info = &session;
    size_t length = err ? 0 : events__hparams__get_packed_size(&hparams);
    if (!err && !(content = mem_get(length, 1)))
        err = SPH_EMEMORY;
    if (!err) {
        Events__Value value = EVENTS__VALUE__INIT;
        Events__Metadata metadata = EVENTS__METADATA__INIT;
        Events__Plugin plugin = EVENTS__PLUGIN__INIT;
        Events__Tensor nothing = EVENTS__TENSOR__INIT;
        Events__Shape shape = EVENTS__SHAPE__INIT;
        events__hparams__pack(&hparams, content);
        plugin.plugin_name = "hparams";
        plugin.has_content = 1;
        plugin.content = (ProtobufCBinaryData){length, content};
        metadata.plugin_data = &plugin;
        nothing.has_dtype = 1;
        nothing.dtype = DT_FLOAT;
        nothing.tensor_shape = &shape;
        value.metadata = &metadata;
        value.tensor = &nothing;
        err = add_value(events, 0, "_hparams_/session_start_info", &value);
    }
    mem_free(content);
    mem_free(list);
    mem_free(settings);
    return err;
}
