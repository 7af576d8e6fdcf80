# SPDX-License-Identifier: MIT
#
# Figure 3(i): how far each step turns the boundaries: the largest turn of the layer's units, in degrees, on a log
# axis: the papers' linear one shows the largest turns alone. A panel for each point of the grid, a line for each method.
#   pK      K from 0: blocks of one method each: step, largest, median, 90 % of the units
wide = down < 3 ? down : 3
high = (down + wide - 1) / wide
eval page(10.5 * wide, 7.5 * high)

set logscale y
set yrange [0.01:400]
set ytics (0.01, 0.1, 1, 10, 45, 180)
set format y '%g°'
set xlabel 'step'
set xtics tic_step(x_most)
set ylabel 'largest turn of the units'
set key top right noenhanced maxrows 2 width 1
if (down > 1) { set multiplot layout high, wide }
do for [r = 0:down - 1] {
    set title value('title_'.r) noenhanced
    plot for [k = 0:across - 1] part('p'.r) index k using 1:($2 > 0.01 ? $2 : NaN) with lines \
         linestyle style(value('method_'.k), k + 1) linewidth 1 title value('label_'.k)
}
if (down > 1) { unset multiplot }
