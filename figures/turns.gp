# SPDX-License-Identifier: MIT
#
# Figure 3(i): how far each step turns the boundaries, max |dtheta|: the largest turn of the units, in degrees. Twice: on a
# linear axis, with a small panel of the first 40 steps, which turn most, if there are 400 steps or more, and beside it (of several layers
# below it) on a log axis, whose floor has all turns below 0.01 degrees. The linear axis is the papers', 0 to 180 degrees; where
# no turn exceeds 45 degrees it is shorter.
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

first_steps = 40
across_room = 2.6; down_room = 2.4                    # between panels
low = 1.3 + foot; panel_wide = (width - 3.4 - (wide - 1) * across_room) / wide
panel_high = (height - top - low - (high - 1) * down_room) / high
at_left(c) = 2.5 + c * (panel_wide + across_room)
at_low(r) = low + (high - 1 - r) * (panel_high + down_room)
# A panel between shares of the place of cell (column c, row r).
place_at(c, r, x, X, y, Y) = sprintf('set lmargin at screen %f; set rmargin at screen %f; set bmargin at screen %f; set tmargin at screen %f', \
    (at_left(c) + x * panel_wide) / width, (at_left(c) + X * panel_wide) / width, \
    (at_low(r) + y * panel_high) / height, (at_low(r) + Y * panel_high) / height)
linear_most(x) = x > 45 ? 180 : x > 0 ? 4 * tic_step(x * 1.25) * ceil(x / (4 * tic_step(x * 1.25))) : 1

unset key
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot
do for [cell = 0:high * wide - 1] {
    r = per_row > 1 ? cell / wide / 2 * wide + cell % wide : cell / 2   # the panel
    logs = per_row > 1 ? cell / wide % 2 : cell % 2                      # on a log axis
    eval place_at(cell % wide, cell / wide, 0, 1, 0, 1)
    set title logs ? value('title_'.r) : lettered(r, value('title_'.r)) noenhanced
    set ylabel (per_row == 1 || cell % wide == 0 ? 'max |Δθ|' : '')
    set xlabel 'step'
    set xrange [-0.02 * x_most:x_most]     # the first steps turn most: off the axis they are seen
    set xtics wide_step(x_most, wide)
    most = 180
    if (value('note_'.r) eq '') { set xrange [*:*]; set yrange [*:*]; stats part('p'.r) using 2 nooutput; most = linear_most(STATS_max); set xrange [-0.02 * x_most:x_most] }
    if (logs) {
        set logscale y; set yrange [0.01:400]
        set ytics ('≤ 0.01°' 0.01, '0.1°' 0.1, '1°' 1, '10°' 10, '45°' 45, '180°' 180); set format y
    } else {
        unset logscale y; set yrange [0:most]
        set ytics most / 4.0; set format y '%g°'
    }
    set label 1 value('note_'.r) noenhanced at graph 0.5, 0.5 center textcolor rgb grey
    plot for [k = 0:across - 1] part('p'.r) index k using 1:(logs ? ($2 > 0.01 ? $2 : $2 >= 0 ? 0.01 : NaN) : $2) with linespoints \
         linestyle style(value('method_'.k), k + 1) linewidth 1 pointnumber 7 pointsize 0.45
    unset arrow; unset label
    if (!logs && value('note_'.r) eq '' && x_most > 10 * first_steps) {
        eval place_at(cell % wide, cell / wide, 0.42, 0.98, 0.44, 0.92)
        unset ylabel; set title sprintf('first %d steps', first_steps) offset 0, -0.7 font small_font
        unset xlabel
        set object 1 rectangle from graph -0.2, graph -0.2 to graph 1.02, graph 1.16 behind fillcolor rgb 'white' fillstyle solid noborder
        set xrange [0:first_steps]; set xtics first_steps / 2 font small_font; set ytics most / 2.0 font small_font; set border 15
        plot for [k = 0:across - 1] part('p'.r) index k every ::0::(first_steps - 1) using 1:2 with linespoints \
             linestyle style(value('method_'.k), k + 1) linewidth 1 pointnumber 7 pointsize 0.35
        unset object 1; set border 3; set xtics norangelimit font ''; set ytics norangelimit font ''; set title offset 0, 0 font ''
    }
}
unset multiplot
