# SPDX-License-Identifier: MIT
#
# Linear regions of nets with two inputs, a panel each, shaded by how many units are active; in bold the line between
# classes; dots are training rows, in the colour of their class.
#   pKpolygon    K from 0: x1 x2 active, a block per region, its first corner again at its end
#   pKdecision   x1 x2: a block per piece of the line between classes
#   pKdata       x1 x2 class
#   most         regions in the panel that has most;  classes   of the data, 0: none
tall = 4.7 * (y_high - y_low) / (x_high - x_low)
tall = tall > 9 ? 9 : tall < 2.5 ? 2.5 : tall
bar = 1.7 # for the scale of the shades, to the right
left = tic_room(y_low, y_high) + 0.9
width = left + 5.7 * across - 0.6 + bar
k_data = 'training row'; k_edge = 'edge of a region'; k_line = classes ? 'between classes' : 'output 0'
eval key_begin
do for [c = 0:classes - 1] {
    eval key_add('class_'.c, '', sprintf('pointtype 7 pointsize 0.5 linecolor rgb %d', class_colour(c, classes)), '')
}
if (classes == 0) { eval key_add('k_data', '', 'pointtype 7 pointsize 0.5 linecolor rgb 0x333333', '') }
eval key_add('k_edge', 'linewidth 0.6 linecolor rgb edge_grey', '', '')
eval key_add('k_line', 'linewidth 2.4 linecolor rgb black', '', '')
eval key_measure(width)
foot = foot_room(width)
height = (tall + 2.4) * down + 0.2 + key_room + foot
eval page(width, height)

# one scale for all panels
least = 1e9; largest = 0; shaded = 0
do for [i = 0:down * across - 1] {
    if (value('model_'.i)) {
        stats part('p'.i.'polygon') using 3 name 'active' nooutput
        least = active_min < least ? active_min : least
        largest = active_max > largest ? active_max : largest
        shaded = 1
    }
}
if (shaded) { set cbrange [least:largest > least ? largest : least + 1] }

unset key; unset grid
set border 15
set xrange [x_low:x_high]; set yrange [y_low:y_high]
set palette defined (0 '#FFFFFF', 0.35 '#D6EAF5', 0.7 '#8CC3E3', 1 '#3C93C7')
set xlabel x_name noenhanced offset 0, label_up
set xtics plane_step(1.2 * (x_high - x_low)) offset 0, tics_up
edge = most > 20000 ? 0.08 : most > 3000 ? 0.2 : most > 500 ? 0.35 : 0.6
set cblabel 'active units' offset (format eq 'svg' ? 0 : 0.5), 0
set cbtics scale 0.3 offset -0.5, 0
scale = 'set colorbox user origin screen 1 - 1.8 / width, screen 1 - (key_room + 1.1 + tall) / height '.\
        'size screen 0.25 / width, screen tall / height'

eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot layout down, across margins screen left / width, 1 - (0.4 + bar) / width, (1.2 + foot) / height, 1 - (key_room + 1.1) / height \
    spacing screen 1.0 / width, 2.4 / height
do for [i = 0:down * across - 1] {
    if (i % across == 0) { set ylabel y_name noenhanced offset (format eq 'svg' ? 1.0 : 0.5), 0; set format y } else { unset ylabel; set format y '' }
    set title lettered(i, value('title_'.i))."\n".value('count_'.i) noenhanced offset 0, -0.6
    if (value('model_'.i)) {
        if (shaded) { eval scale; shaded = 0 } else { unset colorbox }
        plot part('p'.i.'polygon') using 1:2:3 with filledcurves closed fillcolor palette, \
             part('p'.i.'polygon') using 1:2 with lines linewidth edge linecolor rgb '#404040', \
             part('p'.i.'data') using 1:2 with points pointtype 7 pointsize 0.4 linecolor rgb '#FFFFFF', \
             part('p'.i.'data') using 1:2:(class_rim($3, classes)) with points pointtype 7 pointsize 0.32 linecolor rgb variable, \
             part('p'.i.'data') using 1:2:(class_colour($3, classes)) with points pointtype 7 pointsize 0.26 \
                 linecolor rgb variable, \
             value('pieces_'.i) > 0 ? part('p'.i.'decision') : '/dev/null' using 1:2 with lines linewidth 2.4 \
                 linecolor rgb black
    } else {
        plot part('p'.i.'data') using 1:2:(class_colour($3, classes)) with points pointtype 7 pointsize 0.26 \
                 linecolor rgb variable
    }
    unset label; unset arrow
}
unset multiplot
