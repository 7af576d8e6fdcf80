# SPDX-License-Identifier: MIT
#
# Figure 3(i): how far each step turns the boundaries: the largest turn of the units, in degrees, on a log axis: the
# papers' linear one shows the largest turns alone. Smaller turns than 0.01 degrees lie on its floor.
# A panel for each point of the grid, a line for each method: the largest of all layers, then, where they are few, a panel
# for each layer.
#   pK      K from 0: blocks of one method each: step, largest, median, 90 % of the units
#   note_K  what an empty panel says
wide = per_row > 1 ? per_row : down < 3 ? down : 3
high = (down + wide - 1) / wide
width = (wide > 3 ? 8.5 : 10.5) * wide
do for [c = 0:across - 1] { eval sprintf("legend_%d = label_%d", c, c) }
eval legend_measure(across, width)
head = 0.3 + 0.5 * legend_rows; gap = title_0 eq '' ? -0.6 : format eq 'svg' ? 0.6 : 0.2
height = 7 * high + head + gap
eval page(width, height)

set logscale y
set yrange [0.01:400]
set ytics ('≤ 0.01°' 0.01, '0.1°' 0.1, '1°' 1, '10°' 10, '45°' 45, '180°' 180)
set xlabel 'step'
set xrange [0:x_most]
set xtics wide_step(x_most, wide)
unset key
do for [c = 0:across - 1] {
    set arrow 100 + c from screen legend_x(c, width), screen legend_y(c, height, height - head + 0.1) rto screen 0.7 / width, screen 0 nohead \
        linestyle style(value('method_'.c), c + 1) linewidth 1
    set label 100 + c value('legend_'.c) noenhanced at screen legend_x(c, width) + 0.85 / width, \
        screen legend_y(c, height, height - head + 0.1) left
}
set multiplot layout high, wide margins screen 2.5 / width, 1 - 0.4 / width, 1.3 / height, 1 - (head + gap + 0.9) / height \
    spacing screen 2.0 / width, 2.4 / height
do for [r = 0:down - 1] {
    set title value('title_'.r) noenhanced
    if (r % wide == 0) { set ylabel 'largest turn of the units' } else { unset ylabel }
    set label 1 value('note_'.r) noenhanced at graph 0.5, 0.5 center textcolor rgb grey
    plot for [k = 0:across - 1] part('p'.r) index k using 1:($2 > 0.01 ? $2 : $2 >= 0 ? 0.01 : NaN) with lines \
         linestyle style(value('method_'.k), k + 1) linewidth 1
    unset arrow; unset label
}
unset multiplot
