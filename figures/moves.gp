# SPDX-License-Identifier: MIT
#
# Figure 2(c): how far each step moves the boundaries, max |dphi|: the largest move of the units, on a log2 axis.
# A panel for each point of the grid, a line for each method: the largest of all layers, then, where they are few, a panel
# for each layer. All panels have one axis: the papers', 2^-16 to 2^16, or longer at its end; it ends at 2^2 if no move is larger.
#   pK      K from 0: blocks of one method each: step, largest, median, 90 % of the units
#   note_K  what an empty panel says
wide = per_row > 1 ? per_row : down < 3 ? down : 3
high = (down + wide - 1) / wide
width = (wide > 3 ? 8.5 : 10.5) * wide
eval key_begin
do for [c = 0:across - 1] { eval key_add('label_'.c, method_line(value('method_'.c), c + 1).' linewidth 1', method_point(value('method_'.c), c + 1), '') }
eval key_measure(width)
foot = foot_room(width)
top = key_room + (title_0 eq '' && letters eq '' ? 0.5 : 0.9)
height = 7.2 * high - 0.6 + top + foot
eval page(width, height)

set xlabel 'step'
set xrange [0:x_most]
set xtics wide_step(x_most, wide)
unset key
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
y_least = 2.0**-16; y_most = 0
do for [r = 0:down - 1] { if (value('note_'.r) eq '') { stats part('p'.r) using 2 nooutput; y_most = STATS_max > y_most ? STATS_max : y_most } }
y_most = y_most < 2.0**2 ? 2.0**2 : y_most < 2.0**16 ? 2.0**16 : 4 * y_most
set logscale y 2
set yrange [0.97 * y_least:y_most]
set ytics ()   # 2^0, a move of 1, and 2^16 are what the papers speak of
set for [k = -16:ceil(log(y_most) / log(2)):(y_most > 2.0**8 ? 8 : 4)] ytics add (sprintf('2^{%d}', k) 2.0**k)
set multiplot layout high, wide margins screen 2.5 / width, 1 - 0.9 / width, (1.3 + foot) / height, 1 - top / height \
    spacing screen 2.0 / width, 2.4 / height
do for [r = 0:down - 1] {
    set title lettered(r, value('title_'.r)) noenhanced
    if (r % wide == 0) { set ylabel 'max |Δφ|' } else { unset ylabel }
    set label 1 value('note_'.r) noenhanced at graph 0.5, 0.5 center textcolor rgb grey
    plot for [k = 0:across - 1] part('p'.r) index k using 1:($2 > 0 ? $2 : NaN) with linespoints \
         linestyle style(value('method_'.k), k + 1) linewidth 1 pointnumber 7 pointsize 0.45
    unset arrow; unset label
}
unset multiplot
