# SPDX-License-Identifier: MIT
#
# How much a method minds its learning rate: the score over the rates of a grid, mean and standard error over seeds. A
# panel for each point of the grid's other keys, a line for each method.
#   pK      K from 0: blocks of one method each: lr, mean, error, runs with a number, runs without
wide = down < 3 ? down : 3
high = (down + wide - 1) / wide
eval page(9.5 * wide, 7 * high)

set logscale x
set format x '10^{%L}'
set xlabel 'learning rate'
set ylabel metric noenhanced
set key outside top center horizontal noenhanced
set autoscale xfix; set autoscale yfix
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
if (down > 1) { set multiplot layout high, wide }
do for [r = 0:down - 1] {
    set title value('title_'.r) noenhanced
    plot for [k = 0:across - 1] part('p'.r) index k using 1:2:3 with yerrorlines \
         linestyle style(value('method_'.k), k + 1) linewidth 1.4 pointtype 4 + k pointsize 0.6 title value('method_'.k)
}
if (down > 1) { unset multiplot }
