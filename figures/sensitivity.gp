# SPDX-License-Identifier: MIT
#
# How much a method minds its learning rate: the score over the rates of a grid, mean and standard error over seeds. A
# panel for each point of the grid's other keys, a line for each method.
#   pK      K from 0: blocks of one method each: lr, mean, error, runs with a number, runs without
#   rates   the rates, between blanks
wide = down < 3 ? down : 3
high = (down + wide - 1) / wide
width = 9.5 * wide
k_bar = 'standard error'
eval key_begin
do for [c = 0:across - 1] { eval key_add('method_'.c, method_line(value('method_'.c), c + 1).' linewidth 1', method_point(value('method_'.c), c + 1), '') }
if (seeds > 1) { eval key_add('k_bar', 'heads size screen 0.006, 90 linewidth 1 linecolor rgb grey', '', '') }
eval key_measure(width)
foot = foot_room(width)
height = 7 * high + key_room + foot
eval page(width, height)

set xlabel 'learning rate'
set ylabel metric noenhanced
unset key
set autoscale xfix; set autoscale yfix
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot layout high, wide margins screen 2.3 / width, 1 - 0.4 / width, (1.3 + foot) / height, 1 - (key_room + 0.7) / height \
    spacing screen 2.3 / width, 2.1 / height
do for [r = 0:down - 1] {
    set title lettered(r, value('title_'.r)) noenhanced offset 0, -0.5
    unset logscale x
    stats part('p'.r) using 1 nooutput
    set logscale x
    eval log_tics('x', STATS_min, STATS_max, 10, 1)
    few = STATS_max < 10 * STATS_min # less than a decade: each rate has its label
    if (few) { set xtics (); do for [rate in rates] { set xtics add (rate rate + 0) } }
    plot for [k = 0:across - 1] part('p'.r) index k using 1:2:3 with yerrorlines \
         linestyle style(value('method_'.k), k + 1) linewidth 1.4 pointsize 0.6
    unset label; unset arrow
}
unset multiplot
