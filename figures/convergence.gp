# SPDX-License-Identifier: MIT
#
# Figure 4: losses and scores by epoch, the mean over seeds with its standard error as a band. A run that has stopped
# goes on with its last value. Of four numbers the scores, training and validation part, stand above the losses.
#   pR_N    row R (points of the grid), number N: blocks of one method each: epoch, mean, error, runs, still training
wide = shown_names == 4 ? 2 : shown_names
high = down * shown_names / wide
width = 9 * wide
k_band = 'standard error'
eval key_begin
do for [c = 0:across - 1] { eval key_add('label_'.c, method_line(value('method_'.c), c + 1).' linewidth 1', method_point(value('method_'.c), c + 1), '') }
if (seeds > 1) { eval key_add('k_band', 'linewidth 7 linecolor rgb band_grey', '', '') }
eval key_measure(width)
foot = foot_room(width)
height = 7 * high + key_room + foot
eval page(width, height)

set xlabel 'epoch'
epochs = tic_step(x_most)
set xtics epochs < 1 ? 1 : epochs
unset key
set autoscale yfix
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot layout high, wide margins screen 2.0 / width, 1 - 0.4 / width, (1.3 + foot) / height, 1 - (key_room + 0.7) / height \
    spacing screen 2.3 / width, 2.1 / height
do for [r = 0:down - 1] {
    do for [n = 0:shown_names - 1] {
        set title lettered(r * shown_names + n, value('title_'.r)) noenhanced offset 0, -0.5
        set ylabel value('name_'.n) noenhanced
        unset logscale y
        if (value('log_'.n)) {
            stats part('p'.r.'_'.n) using ($2 - $3 > 0 ? $2 - $3 : $2):($2 + $3) nooutput
            set logscale y
            eval log_tics('y', STATS_min_x, STATS_max_y, 10, 1)
        } else { set ytics autofreq; set format y '%g' }
        plot for [k = 0:across - 1] part('p'.r.'_'.n) index k using 1:($2 - $3):($2 + $3) with filledcurves \
                 fillstyle transparent solid 0.18 noborder linestyle style(value('method_'.k), k + 1), \
             for [k = 0:across - 1] part('p'.r.'_'.n) index k using 1:2 with linespoints \
                 linestyle style(value('method_'.k), k + 1) linewidth 1.4 pointnumber 6 pointsize 0.45
        unset label; unset arrow
    }
}
unset multiplot
