# SPDX-License-Identifier: MIT
#
# Linear regions of nets with two inputs, a panel each, shaded by how many units are active; in bold the line between
# classes; dots are training rows.
#   pKpolygon    K from 0: x1 x2 active, a block per region, its first corner again at its end
#   pKdecision   x1 x2: a block per piece of the line between classes
#   pKdata       x1 x2 class
#   most         regions in the panel that has most
tall = 4.7 * (y_high - y_low) / (x_high - x_low)
tall = tall > 9 ? 9 : tall < 2.5 ? 2.5 : tall
width = 1.3 + 5.7 * across - 0.6; height = (tall + 2.4) * down + 0.3
eval page(width, height)

unset key; unset grid; unset colorbox
set border 15
set xrange [x_low:x_high]; set yrange [y_low:y_high]
set palette defined (0 '#FFFFFF', 0.35 '#D6EAF5', 0.7 '#8CC3E3', 1 '#3C93C7')
set xlabel x_name noenhanced offset 0, 0.6
set xtics offset 0, 0.3
edge = most > 20000 ? 0.08 : most > 3000 ? 0.2 : most > 500 ? 0.35 : 0.6
mark(c) = int(word('0x000000 0xD55E00 0x009E73 0xCC79A7 0x8C510A', int(c) % 5 + 1))
shape(c) = int(word('7 9 5 13 11', int(c) % 5 + 1))

set multiplot layout down, across margins screen 1.3 / width, 1 - 0.4 / width, 1.2 / height, 1 - 1.2 / height \
    spacing screen 1.0 / width, 2.4 / height
do for [i = 0:down * across - 1] {
    if (i % across == 0) { set ylabel y_name noenhanced offset 1.5, 0 } else { unset ylabel }
    set title value('title_'.i)."\n".value('count_'.i) noenhanced offset 0, -0.6
    if (value('model_'.i)) {
        plot part('p'.i.'polygon') using 1:2:3 with filledcurves closed fillcolor palette, \
             part('p'.i.'polygon') using 1:2 with lines linewidth edge linecolor rgb '#404040', \
             part('p'.i.'data') using 1:2:(shape($3)):(mark($3)) with points pointtype variable pointsize 0.2 \
                 linecolor rgb variable, \
             value('pieces_'.i) > 0 ? part('p'.i.'decision') : '/dev/null' using 1:2 with lines linewidth 3 \
                 linecolor rgb black
    } else {
        plot part('p'.i.'data') using 1:2:(shape($3)):(mark($3)) with points pointtype variable pointsize 0.2 \
                 linecolor rgb variable
    }
}
unset multiplot
