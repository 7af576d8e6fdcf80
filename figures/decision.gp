# SPDX-License-Identifier: MIT
#
# Figures 3(j)-(m): what a classifier of two features says where, the line between its classes, the data (dots: training
# rows, crosses: test rows) and a red star at the phi of each unit of the first layer.
#   pKmap    K from 0: x1, x2, colour, margins that are 0 on the line
#   pKdata   x1, x2, class: training rows, then test rows
#   pKstars  phi_1, phi_2, unit
tall = 4.7 * (y_high - y_low) / (x_high - x_low)
width = 1.3 + 5.7 * across - 0.6; height = (tall + 2.4) * down + 0.3
eval page(width, height)

panels = down * across
lines = classes == 2 ? 1 : classes
do for [i = 0:panels - 1] {
    if (value('model_'.i)) {
        do for [k = 0:lines - 1] {
            eval sprintf("set table $line_%d_%d", i, k)
            set contour base; set cntrparam levels discrete 0; unset surface
            splot part('p'.i.'map') using 1:2:4 + k
            unset table
        }
    }
}
unset contour; set surface

star_font = label_font(0.95); halo_font = label_font(1.2)
unset key; unset colorbox
set xrange [x_low:x_high]; set yrange [y_low:y_high]
set size ratio -1
set border 15
unset grid
set cbrange [0:1]
set palette defined (0 '#DCEBF7', 0.499 '#EFF6FB', 0.501 '#FDF1E0', 1 '#F9DDB1')
set xlabel x_name noenhanced offset 0, label_up
set xtics offset 0, tics_up
mark(c) = int(c) % 2 == 0 ? 0x0072B2 : 0xE69F00
set multiplot layout down, across margins screen 1.3 / width, 1 - 0.4 / width, 1.2 / height, 1 - 1.2 / height \
    spacing screen 1.0 / width, 2.4 / height
do for [i = 0:panels - 1] {
    if (i % across == 0) { set ylabel y_name noenhanced offset 1.5, 0 } else { unset ylabel }
    set title value('title_'.i)."\n".value('score_'.i) noenhanced offset 0, -0.6
    if (value('model_'.i)) {
        plot part('p'.i.'map') using 1:2:3 with image, \
             part('p'.i.'data') index 0 using 1:2:(mark($3)) with points pointtype 7 pointsize 0.25 linecolor rgb variable, \
             part('p'.i.'data') index 1 using 1:2:(mark($3)) with points pointtype 2 pointsize 0.3 linewidth 0.6 linecolor rgb variable, \
             for [k = 0:lines - 1] sprintf('$line_%d_%d', i, k) using 1:2 with lines linecolor rgb black linewidth 2.4, \
             part('p'.i.'stars') using 1:2:('★') with labels font halo_font textcolor rgb '#FFFFFF', \
             part('p'.i.'stars') using 1:2:('★') with labels font star_font textcolor rgb '#D00000'
    } else {
        plot part('p'.i.'data') index 0 using 1:2:(mark($3)) with points pointtype 7 pointsize 0.25 linecolor rgb variable
    }
}
unset multiplot
