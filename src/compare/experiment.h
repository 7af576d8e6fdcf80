/* SPDX-License-Identifier: MIT
 *
 * An experiment: methods x grid x seeds, each a job like any other, and what is made of their results.
 *
 *   experiment.c    the handle; --set; the resolved file
 *   read.c          the file; lists.c its methods, seeds and grid; sets.c, figures.c and papers.c keys of
 *                   their own
 *   directory.c     relative paths
 *   jobs.c          which jobs there are, where they lie, their options
 *   check.c         what can be refused before the first job; timing for a dry run
 *   run.c           the jobs at work, choices, resuming
 *   results.c       all that came out, results.json; results_compare.c the methods compared
 *   motion.c        how far boundaries moved, of what was recorded
 *   perturb.c       an experiment that trains nothing: Figure 1
 */
#ifndef SPH_COMPARE_EXPERIMENT_H
#define SPH_COMPARE_EXPERIMENT_H

#include "base/text.h"
#include "job/nodes.h"
#include "job/options.h"
#include "job/yaml_out.h"
#include "compare/crew.h"
#include "data/cache.h"
#include "store/runfolder.h"

#define EXPERIMENT_FILE    RUNFOLDER_EXPERIMENT
#define EXPERIMENT_RESULTS "results.json"
#define EXPERIMENT_JOBS    "jobs"

enum {
    EXPERIMENT_FOLDS = 5,
    EXPERIMENT_MOST_JOBS = 1000000,
    EXPERIMENT_MOST_LISTED =
        1000, /* methods, sets, values of a key of the grid: each is compared with each */
    EXPERIMENT_MOST_PAPERS = 10000
};

/* A method or, where there are several, a set of data: a name, and the options it has of its own. */
struct experiment_named {
    char *name;
    char *folder;               /* its name as a folder's, unique */
    struct job_spec *asked;     /* the options it sets */
    size_t line;                /* in the file; 0: not from it */
    size_t lines[OPTION_COUNT]; /* of its options */
};

/* What a set is, as it was read for the first seed. */
struct experiment_data {
    size_t rows, test_rows; /* of a split; test_rows 0: not known */
    sph_task task;
    int drawn;         /* rows are drawn by the seed, and have nothing to do with those of another */
    int own_test;      /* it has a test part of its own, the same for every seed */
    char useless[200]; /* features that drop: auto would leave out: 'id', 'region' */
};

struct job_cost;

/* One key of the grid and its values: of each, that option is `given`. */
struct experiment_axis {
    enum option_id id;
    struct job_spec **values; /* (count) of the option alone */
    size_t count, line;
};

/* What was printed elsewhere. */
struct experiment_paper {
    char *metric, *set, *method, *text; /* set, or a point of the grid; NULL: all of them */
    size_t line;
};

/* What the room report, which draws them, says of figures. */
struct figure_list {
    const char *const *words; /* (count) of the key `figures` */
    size_t count;
    const char *choices; /* "a|b|c" */

    /* Refuses, before the first job, what cannot be drawn of these data; NULL: the experiment trains nothing. */
    int (*check)(const struct sph_experiment *e, const sph_data *data);
};

/* What is compared with what, and how. */
struct experiment_table {
    char *metric; /* NULL: by the task */
    size_t metric_line;
    char *baseline; /* the method that the others are compared with, or "all"; NULL: not said */
    size_t baseline_line;
    int all_points; /* the table has a line for every point of the grid, and none is chosen */
};

struct experiment_grid {
    struct experiment_axis *axes;
    size_t count, capacity;
};

/* The keys `figures` and `letters`. */
struct experiment_figures {
    const struct figure_list *known; /* borrowed */
    int *words;                      /* (count) their numbers, in the order of the file */
    size_t count;
    unsigned bits; /* the same as bits */
    size_t line;
    char **letters; /* (known->count) of the panels of each figure; NULL: the figure's own */
};

struct experiment_papers {
    struct experiment_paper *list;
    size_t count, capacity;
};

/* For sph_experiment_job_at. */
struct experiment_plan {
    struct experiment_job *jobs; /* (count) */
    struct job_cost *cost;       /* (count) */
    size_t count;
};

/* How it is used this time. */
struct experiment_call {
    int picked; /* --set chose sets or a grid: papers may name others */
    int again;  /* it was begun earlier and goes on */
};

struct sph_experiment {
    char *path; /* of the file, for messages */
    char *name;
    struct job_spec *base;         /* data, net, train and the run's options, for all methods */
    struct data_cache cache;       /* its data, while it is checked or run */
    size_t lines[OPTION_COUNT];    /* of these in the file; 0: not from it */
    struct experiment_named *sets; /* (set_count) where `data` is a list; else NULL: base has the one set */
    size_t set_count;
    struct experiment_call call;
    struct experiment_data *data; /* (experiment_sets) once they were read; else NULL */
    struct experiment_named *methods;
    size_t method_count;
    uint64_t *seeds;
    size_t seed_count;
    struct experiment_grid grid;
    struct experiment_table table;
    char *content; /* of the data the experiment was made on, NULL: not known yet */
    struct experiment_figures drawn;
    struct experiment_papers papers;
    struct experiment_perturb *perturb; /* NULL: none */
    struct experiment_plan plan;
};

/* Seeds with their places, sorted: there may be a million of them. Caller frees; NULL: out of memory. */
struct placed_seed {
    uint64_t seed;
    size_t place;
};
struct placed_seed *experiment_sort_seeds(const uint64_t *seeds, size_t count);
int placed_seed_compare(const void *a, const void *b); /* by seed alone */

/* ---------------------------------------------------------------- the file */

/* figures: those that the file may name; borrowed. */
int experiment_open(sph_experiment **out, const char *path, const struct figure_list *figures);

/* Reads a whole document, or one entry of its top level into what is there already (--set). */
int experiment_read(struct sph_experiment *e, struct node_tree *document);
int experiment_read_entry(struct sph_experiment *e, struct node key, struct node value);

/* The values of its lists (lists.c). An axis is one key of the grid: new, or in place of the old values. */
int experiment_read_methods(struct sph_experiment *e, struct node list);
int experiment_read_seeds(struct sph_experiment *e, struct node node);
int experiment_read_grid(struct sph_experiment *e, struct node node);
int experiment_read_axis(struct sph_experiment *e, struct node key, struct node list);
void experiment_named_free(struct experiment_named *list, size_t count);

/* The number of a method, by so many bytes of its name; -1: there is none. */
int experiment_find_method(const struct sph_experiment *e, const char *name, size_t length);

/* 0, or that a list has more than EXPERIMENT_MOST_LISTED items. */
int experiment_check_listed(struct node list, const char *key);

/* Gives list[at] a folder of its own: its name as every file system takes it. */
int experiment_choose_folder(struct experiment_named *list, size_t at);

/* The key `data` (sets.c): one set into base, or a list of them. The second is --set, for all sets: their name
 * picks among them. */
int experiment_read_data_key(struct sph_experiment *e, struct node key, struct node value);
int experiment_set_data_option(struct sph_experiment *e, enum option_id id, struct node value);
int experiment_yaml_data(const struct sph_experiment *e, const struct job_spec *base, struct yaml_out *out);

/* How many sets there are, at least 1; what to call one, borrowed. */
size_t experiment_sets(const struct sph_experiment *e);
const char *experiment_set_name(const struct sph_experiment *e, size_t set);
void experiment_axes_free(struct sph_experiment *e);

/* Keys of their own files: figures.c, papers.c. The methods that papers name are checked when all are known.
 * experiment_paper: what they say of a number, or NULL. */
int experiment_read_figures(struct sph_experiment *e, struct node node);
int experiment_read_letters(struct sph_experiment *e, struct node node);
void experiment_yaml_figures(const struct sph_experiment *e, struct yaml_out *out);
void experiment_figures_free(struct sph_experiment *e);
int experiment_read_papers(struct sph_experiment *e, struct node node);
int experiment_check_papers(const struct sph_experiment *e);
const char *experiment_paper(const struct sph_experiment *e, const char *metric, size_t set,
                             const char *point, const char *method);
int experiment_paper_of(const struct sph_experiment *e, const struct experiment_paper *paper, size_t set,
                        const char *point);
void experiment_yaml_papers(const struct sph_experiment *e, struct yaml_out *out);
void experiment_papers_free(struct sph_experiment *e);

/* The key `baseline_method`, once the methods are known. */
int experiment_check_baseline(const struct sph_experiment *e);

/* What only the whole can tell: missing keys, protocols without what they need. */
int experiment_complete(const struct sph_experiment *e);

/* The key `directory` (directory.c). Reading it changes relative paths so that they start in the current folder; they are paths
 * that exist there. It is written if the experiment has relative paths; dir: the folder of the file. */
int experiment_apply_directory(struct sph_experiment *e, struct node value);
int experiment_yaml_directory(const struct sph_experiment *e, const char *dir, struct yaml_out *out);

/* Everything needed to repeat the experiment, to be written into dir (NULL: without the key directory); it reads back as the same
 * experiment. Caller frees with mem_free. */
int experiment_write(const struct sph_experiment *e, const char *dir, char **text);

/* ---------------------------------------------------------------- jobs */

enum { FOLD_NONE = -1, FOLD_REFIT = -2 }; /* else the number of a fold */

struct experiment_job {
    size_t set, method, point, seed; /* numbers in the experiment's lists */
    int fold;
    size_t epochs; /* of a refit */
    char *folder;  /* below the experiment's */
};

size_t experiment_points(const struct sph_experiment *e); /* of the grid; 1 without one */
size_t experiment_reports(
    const struct sph_experiment *e); /* jobs that tables report: sets, methods, lines, seeds */
size_t experiment_report(const struct sph_experiment *e, size_t set, size_t method, size_t line,
                         size_t seed);                   /* its number among these */
size_t experiment_folds(const struct sph_experiment *e); /* 0 unless cv */

/* Of the jobs that are known from the start; fails where there are too many to be meant. */
int experiment_count(const struct sph_experiment *e, size_t *count);

/* Every job that is known from the start, sets first, then methods, with room for so many more: a refit under cv follows
 * from these. Caller frees. */
int experiment_list(const struct sph_experiment *e, size_t more, struct experiment_job **out, size_t *count);
void experiment_list_free(struct experiment_job *jobs, size_t count);

/* The folder of one; caller frees. */
int experiment_folder(const struct sph_experiment *e, struct experiment_job *job);

/* One job of the experiment; out: the experiment's folder, or NULL if it is not to be run. Caller frees. */
int experiment_job_of(const struct sph_experiment *e, const struct experiment_job *which, const char *out,
                      struct sph_job **job);

/* The cache of data that the jobs share. It may change although the experiment does not. */
static inline struct data_cache *experiment_cache(const struct sph_experiment *e)
{
    return (struct data_cache *)&e->cache;
}

/* Lines of a method in the table: the grid's points where all are shown, else 1. */
size_t experiment_lines(const struct sph_experiment *e);

/* "lr 0.1, hidden 100"; "" without a grid. Appends. */
void experiment_add_point(const struct sph_experiment *e, size_t point, struct text *out);

/* The same without one axis. The point k values along it, from one where it has its first. */
void experiment_add_other_keys(const struct sph_experiment *e, size_t point, size_t axis, struct text *out);
size_t experiment_along(const struct sph_experiment *e, size_t point, size_t axis, size_t k);

/* The text of a value of an axis, borrowed; reading the file has made it. */
const char *experiment_value_text(const struct experiment_axis *axis, size_t number);

/* The value's number on an axis at that point. */
size_t experiment_value(const struct sph_experiment *e, size_t point, size_t axis);

/* ---------------------------------------------------------------- before and after */

/* What a check finds out. */
struct experiment_facts {
    char metric[32]; /* of the table */
    int larger_is_better;
    char content[17];
};

/* Reads the data of all sets into the cache, for this process and those it forks: what starts no threads. */
int experiment_read_data(struct sph_experiment *e);

/* Opens the data, makes every split and a net of every method and point; a failure names line and key. Refuses sets of
 * different tasks. */
int experiment_check(const struct sph_experiment *e, struct experiment_facts *facts);

/* What the job will ask of the machine, by a few steps of it. */
int experiment_cost(const struct sph_experiment *e, const struct experiment_job *job, struct job_cost *out);

/* What became of a job. */
struct experiment_outcome {
    int finished; /* it has a result.json */
    int diverged; /* which says so */
    char *reason; /* of a divergence or a failure, NULL: it went well */
    double test, val, val_loss, seconds;
    size_t epochs, best_epoch;
    struct json_t *result; /* the file */
};
void experiment_outcome_free(struct experiment_outcome *outcome);

/* Reads result.json of the job, where it is there. */
int experiment_outcome_read(struct experiment_outcome *out, const char *dir, const struct experiment_job *job,
                            const struct experiment_facts *facts);

#endif
