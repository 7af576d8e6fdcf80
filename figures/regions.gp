# SPDX-License-Identifier: MIT
#
# Linear regions of a net on a plane, shaded by how many units are active; the decision boundary in bold; data as dots, in
# the colour of their class. Of a net with one input the regions are intervals, and the picture is a strip.
#   polygon    s t active: a block per region, its first corner again at its end
#   decision   s t: a block per piece of the decision boundary
#   data       s t class row, class and row from 0
#   map        s t output, on a grid; only where output_map is 1: it takes the place of the shades
#   s_low s_high t_low t_high   the window;  s_name t_name   of the axes;  title
#   regions, pieces, points     how many of each;  units   of the net;  square   1: both axes have one unit
#   inputs   of the net;  classifier   1: of a classifier;  classes   of the data, 0: none;  class_K   their names;  planar   1: the points are the three rows that the plane goes through
width = 11.5
k_edge = 'edge of a region'; k_line = classifier ? 'between classes' : 'output 0'; k_data = 'row'
eval key_begin
do for [c = 0:(points > 0 ? classes - 1 : -1)] {
    eval key_add('class_'.c, '', sprintf('pointtype 7 pointsize 0.5 linecolor rgb %d', class_colour(c, classes)), '')
}
if (points > 0 && !classifier) { eval key_add('k_data', '', 'pointtype 7 pointsize 0.5 linecolor rgb 0x333333', '') }
eval key_add('k_edge', 'linewidth 0.7 linecolor rgb edge_grey', '', '')
if (pieces > 0) { eval key_add('k_line', 'linewidth 2.4 linecolor rgb black', '', '') }
eval key_measure(width)
height = (inputs == 1 ? 4.2 : 9.6) + key_room
eval page(width, height)
eval key_draw(width, height, 0.25)
below = key_room / height; share(x) = below + x * (1 - below)       # of the page above the key
if (inputs == 1) {
    set margins screen 0.05, screen 0.85, screen share(0.36), screen share(0.82)
    set colorbox user origin graph 1.03, graph -0.1 size graph 0.02, graph 1.2
} else {
    set margins screen 0.15, screen 0.85, screen share(0.135), screen share(0.925)
    set ylabel t_name noenhanced offset (format eq 'svg' ? 1.5 : 0.3), 0
    set colorbox user origin graph 1.03, graph 0.25 size graph 0.025, graph 0.5
}

unset key; unset grid
set border 15
set tics out
if (inputs == 1) { unset ytics }
set xrange [s_low:s_high]; set yrange [t_low:t_high]
if (square) { set size ratio -1 }
set xlabel s_name noenhanced offset 0, label_up - 0.6
set title title noenhanced offset 0, (format eq 'svg' ? -0.7 : -0.5)
set palette defined (0 '#FFFFFF', 0.35 '#D6EAF5', 0.7 '#8CC3E3', 1 '#3C93C7')
set cblabel 'active units' offset 0.5, 0
set cbtics scale 0.3 offset -0.5, 0
edge = regions > 20000 ? 0.08 : regions > 3000 ? 0.2 : regions > 500 ? 0.4 : 0.7
dot_size = planar ? 0.6 : 0.25
number_font = label_font(0.8)
lift(t) = (t > (t_low + t_high) / 2 ? -0.05 : 0.05) * (t_high - t_low)

if (output_map) {
    set palette defined (0 '#2C1E4A', 0.25 '#3B5B92', 0.5 '#3FA08F', 0.75 '#A8D67B', 1 '#FDF6B5')
    set cblabel (classifier ? 'logit' : 'output')
}

plot for [k = 1:!output_map] part('polygon') using 1:2:3 with filledcurves closed fillcolor palette, \
     for [k = 1:output_map] part('map') using 1:2:3 with image, \
     part('polygon') using 1:2 with lines linewidth edge linecolor rgb '#404040', \
     points > 0 ? part('data') : '/dev/null' using 1:2 with points pointtype 7 pointsize dot_size * 1.5 linecolor rgb '#FFFFFF', \
     points > 0 ? part('data') : '/dev/null' using 1:2:(class_rim($3, classes)) with points pointtype 7 pointsize dot_size * 1.2 \
         linecolor rgb variable, \
     points > 0 ? part('data') : '/dev/null' using 1:2:(class_colour($3, classes)) with points pointtype 7 pointsize dot_size \
         linecolor rgb variable, \
     pieces > 0 ? part('decision') : '/dev/null' using 1:2 with lines linewidth 2.4 linecolor rgb black, \
     points > 0 && planar ? part('data') : '/dev/null' using 1:($2 + lift($2)):(sprintf('row %d', $4)) with labels \
         font number_font
