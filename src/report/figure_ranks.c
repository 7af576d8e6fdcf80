/* SPDX-License-Identifier: MIT
 *
 * Methods on an axis of their average rank over several datasets; bars join methods that do not differ significantly. */
#include <math.h>

#include "base/error.h"
#include "report/figures.h"

static int fill(struct figure *figure, struct panels *panels)
{
    const struct sph_experiment *e = panels->e;
    const struct ranking *ranking = &panels->results->ranking;
    size_t from, to;
    if (!ranking->rank || isnan(ranking->critical))
        return sph_fail_of(SPH_EARG, e->path, 0, panels->word,
                           "%s needs two or more datasets and two or more methods", panels->word);
    panels_head(figure, 1, ranking->methods);
    figure_number(figure, "sets", (double)ranking->sets);
    figure_number(figure, "critical", ranking->critical);
    figure_columns(figure, "ranks", "place, average rank");
    for (size_t i = 0; i < ranking->methods; i++) {
        size_t m = ranking->order[i];
        panels_method(figure, i, e->methods[m].name, "");
        panels_number(figure, "number", i, (double)m);
        panels_number(figure, "rank", i, ranking->rank[m]);
        figure_row(figure, (double[]){(double)i, ranking->rank[m]}, 2);
    }
    figure_columns(figure, "groups", "first rank, last rank of methods that are not told apart");
    size_t groups = 0;
    for (; ranking_group(ranking, groups, &from, &to); groups++) {
        panels_number(figure, "from", groups, ranking->rank[ranking->order[from]]);
        panels_number(figure, "to", groups, ranking->rank[ranking->order[to]]);
        figure_row(figure, (double[]){ranking->rank[ranking->order[from]], ranking->rank[ranking->order[to]]},
                   2);
    }
    figure_number(figure, "groups", (double)groups);
    return 0;
}

const struct figure_kind figure_ranks = {
    .needs = FIGURE_SCORES,
    .all_sets = 1,
    .sets_least = 2,
    .fill = fill,
    .caption =
        "Methods by average rank over the datasets, the best on the left. A bar joins methods whose ranks "
        "differ by less than Nemenyi's critical difference (CD) at 5 %, that is, not significantly.",
};
