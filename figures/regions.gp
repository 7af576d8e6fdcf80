# SPDX-License-Identifier: MIT
#
# Linear regions of a net on a plane, shaded by how many units are active; the decision boundary in bold; data.
#   polygon    s t active: a block per region, its first corner again at its end
#   decision   s t: a block per piece of the decision boundary
#   data       s t class, class from 0
#   s_low s_high t_low t_high   the window;  s_name t_name   of the axes;  title
#   regions, pieces, points     how many of each;  units   of the net;  square   1: both axes have one unit
eval page(11.5, 9.6)
set margins screen 0.14, screen 0.84, screen 0.125, screen 0.93

unset key; unset grid
set border 15
set tics out
set xrange [s_low:s_high]; set yrange [t_low:t_high]
if (square) { set size ratio -1 }
set xlabel s_name noenhanced; set ylabel t_name noenhanced
if (t_name eq '') { unset ytics } # one input: only s means something
set title title noenhanced offset 0, -0.5
set palette defined (0 '#FFFFFF', 0.35 '#D6EAF5', 0.7 '#8CC3E3', 1 '#3C93C7')
set cblabel 'active units' offset 0.5, 0
set colorbox user origin graph 1.03, graph 0.25 size graph 0.025, graph 0.5
set cbtics scale 0.3
edge = regions > 20000 ? 0.08 : regions > 3000 ? 0.2 : regions > 500 ? 0.4 : 0.7

# data: class 0 dark circles, 1 orange triangles, ...
class_colour(k) = int(word('0x000000 0xD55E00 0x009E73 0xCC79A7 0x8C510A', int(k) % 5 + 1))
class_point(k) = int(word('7 9 5 13 11', int(k) % 5 + 1))

plot part('polygon') using 1:2:3 with filledcurves closed fillcolor palette, \
     part('polygon') using 1:2 with lines linewidth edge linecolor rgb '#404040', \
     points > 0 ? part('data') : '/dev/null' using 1:2:(class_point($3)):(class_colour($3)) with points pointtype variable \
         pointsize (points > 400 ? 0.7 : points > 20 ? 1 : 1.8) linecolor rgb variable, \
     pieces > 0 ? part('decision') : '/dev/null' using 1:2 with lines linewidth 3.2 linecolor rgb black
