# SPDX-License-Identifier: MIT
#
# Figure 2(c): how far each step moves the boundaries: the largest |dphi| of the layer's units, on a log2 axis. A panel
# for each point of the grid, a line for each method.
#   pK      K from 0: blocks of one method each: step, largest, median, 90 % of the units
wide = down < 3 ? down : 3
high = (down + wide - 1) / wide
eval page(10.5 * wide, 7.5 * high)

set logscale y 2
set format y '2^{%L}'
set xlabel 'step'
set xtics tic_step(x_most)
set ylabel 'largest |Δφ| of the units'
set key top right noenhanced maxrows 2 width 1
set offsets graph 0, 0, graph 0.18, 0
if (down > 1) { set multiplot layout high, wide }
do for [r = 0:down - 1] {
    set title value('title_'.r) noenhanced
    plot for [k = 0:across - 1] part('p'.r) index k using 1:($2 > 0 ? $2 : NaN) with lines \
         linestyle style(value('method_'.k), k + 1) linewidth 1 title value('label_'.k)
}
if (down > 1) { unset multiplot }
