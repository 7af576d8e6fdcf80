# SPDX-License-Identifier: MIT
#
# Figure 4: losses and scores by epoch, the mean over seeds with its standard error as a band. A run that has stopped
# goes on with its last value.
#   pR_N    row R (points of the grid), number N: blocks of one method each: epoch, mean, error, runs, still training
eval page(9 * shown_names, 7 * down)

set xlabel 'epoch'
epochs = tic_step(x_most)
set xtics epochs < 1 ? 1 : epochs
set key top right noenhanced
set autoscale yfix
set multiplot layout down, shown_names
do for [r = 0:down - 1] {
    do for [n = 0:shown_names - 1] {
        set title value('title_'.r) noenhanced
        set ylabel value('name_'.n) noenhanced
        if (value('log_'.n)) { set logscale y } else { unset logscale y }
        if (n) { unset key }
        plot for [k = 0:across - 1] part('p'.r.'_'.n) index k using 1:($2 - $3):($2 + $3) with filledcurves \
                 fillstyle transparent solid 0.18 noborder linestyle style(value('method_'.k), k + 1) notitle, \
             for [k = 0:across - 1] part('p'.r.'_'.n) index k using 1:2 with lines \
                 linestyle style(value('method_'.k), k + 1) linewidth 1.4 title value('label_'.k)
    }
    set key
}
unset multiplot
