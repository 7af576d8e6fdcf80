# SPDX-License-Identifier: MIT
#
# What the width of a layer does to the size of its gradients and to the share of its units that are on; mean and
# standard error over seeds. A column for each hidden layer, a line for each method; axes are shared along a row.
#   pK      K from 0, hidden layers: blocks of one method each: width, then mean and error of the gradient at the start, the
#           gradient later, the active share at the start and at the end; runs
width = 7.2 * down + 2.1
k_bar = 'standard error'
eval key_begin
do for [c = 0:across - 1] { eval key_add('label_'.c, method_line(value('method_'.c), c + 1).' linewidth 1', method_point(value('method_'.c), c + 1), '') }
if (seeds > 1) { eval key_add('k_bar', 'heads size screen 0.006, 90 linewidth 1 linecolor rgb grey', '', '') }
eval key_measure(width)
foot = foot_room(width)
head = key_room
height = 14.5 + head + foot
eval page(width, height)

unset key
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)

# One range for all layers of a row.
least_2 = least_4 = 1e300; most_2 = most_4 = 0
do for [l = 0:down - 1] { do for [n = 2:4:2] {
    stats part('p'.l) using (column(n) > 0 ? column(n) : NaN) nooutput
    if (STATS_records > 0) {
        eval sprintf("least_%d = least_%d < %e ? least_%d : %e", n, n, STATS_min, n, STATS_min)
        eval sprintf("most_%d = most_%d > %e ? most_%d : %e", n, n, STATS_max, n, STATS_max)
    }
} }

name_0 = "gradient\nat the start"; name_1 = "gradient\nin training"
name_2 = "active share\nat the start"; name_3 = "active share\nat the end"
stats part('p0') using 1 nooutput
set logscale x
width_least = STATS_min / 1.2; width_most = STATS_max * 1.2
set xrange [width_least:width_most]
set multiplot layout 4, down margins screen 3.0 / width, 1 - 0.4 / width, (1.3 + foot) / height, 1 - (head + 0.8) / height \
    spacing screen 0.9 / width, 0.45 / height
do for [n = 0:3] {
    do for [l = 0:down - 1] {
        if (n == 0) { set title lettered(l, value('title_'.l)) offset 0, -0.6 } else { unset title }
        if (l == 0) { set ylabel value('name_'.n) offset -0.4, 0 } else { unset ylabel }
        if (n == 3) { set xlabel 'units of the layer' offset 0, label_up } else { unset xlabel }
        eval log_tics('x', width_least, width_most, 10, n == 3)
        if (n < 2) {
            low = value('least_'.(2 * n + 2)) / 1.6; high = value('most_'.(2 * n + 2)) * 1.6
            set logscale y; set yrange [low:high]
            eval log_tics('y', low, high, 10, l == 0)
        } else { unset logscale y; set yrange [0:1]; set ytics 0, 0.5, 1; set format y (l > 0 ? '' : '%g') }
        plot for [k = 0:across - 1] part('p'.l) index k using 1:(n < 2 && column(2 * n + 2) <= 0 ? NaN : column(2 * n + 2)):(column(2 * n + 3)) \
             with yerrorlines linestyle style(value('method_'.k), k + 1) linewidth 1.2 pointsize 0.5
        unset arrow; unset label
    }
}
unset multiplot
