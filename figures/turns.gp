# SPDX-License-Identifier: MIT
#
# Figure 3(i): how far each step turns the boundaries, max |dtheta|: the largest turn of the units, in degrees. Twice, on
# the papers' linear axis from 0 to 180 degrees, which shows the largest turns alone, and beside it (of several layers
# below it) on a log axis, whose floor has all turns below 0.01 degrees.
# A panel for each point of the grid, a line for each method: the largest of all layers, then, where they are few, a panel
# for each layer.
#   pK      K from 0: blocks of one method each: step, largest, median, 90 % of the units
#   note_K  what an empty panel says
wide = per_row > 1 ? per_row : 2
high = per_row > 1 ? 2 * down / per_row : down
width = (wide > 3 ? 8.5 : 10.5) * wide
eval key_begin
do for [c = 0:across - 1] { eval key_add('label_'.c, method_line(value('method_'.c), c + 1).' linewidth 1', method_point(value('method_'.c), c + 1), '') }
eval key_measure(width)
foot = foot_room(width)
top = key_room + (title_0 eq '' && letters eq '' ? 0.5 : 0.9)
height = 7.2 * high - 0.6 + top + foot
eval page(width, height)

set xlabel 'step'
set xrange [-0.02 * x_most:x_most]     # the first steps turn most: off the axis they are seen
set xtics wide_step(x_most, wide)
unset key
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot layout high, wide margins screen 2.5 / width, 1 - 0.9 / width, (1.3 + foot) / height, 1 - top / height \
    spacing screen 2.6 / width, 2.4 / height
do for [cell = 0:high * wide - 1] {
    r = per_row > 1 ? cell / wide / 2 * wide + cell % wide : cell / 2   # the panel
    logs = per_row > 1 ? cell / wide % 2 : cell % 2                      # on a log axis
    set title logs ? value('title_'.r) : lettered(r, value('title_'.r)) noenhanced
    set ylabel (per_row == 1 || cell % wide == 0 ? 'max |Δθ|' : '')
    if (logs) {
        set logscale y; set yrange [0.01:400]
        set ytics ('≤ 0.01°' 0.01, '0.1°' 0.1, '1°' 1, '10°' 10, '45°' 45, '180°' 180)
    } else {
        unset logscale y; set yrange [0:180]
        set ytics ('0°' 0, '45°' 45, '90°' 90, '135°' 135, '180°' 180)
    }
    set label 1 value('note_'.r) noenhanced at graph 0.5, 0.5 center textcolor rgb grey
    plot for [k = 0:across - 1] part('p'.r) index k using 1:(logs ? ($2 > 0.01 ? $2 : $2 >= 0 ? 0.01 : NaN) : $2) with linespoints \
         linestyle style(value('method_'.k), k + 1) linewidth 1 pointnumber 7 pointsize 0.45
    unset arrow; unset label
}
unset multiplot
