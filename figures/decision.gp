# SPDX-License-Identifier: MIT
#
# Figures 3(j)-(m): what a classifier of two features says where, the line between its classes, the data (dots: training
# rows, crosses: test rows) and a red star at the phi of each unit of the first layer.
# One colour a class, dark and pale of two; then the map is shaded by the probability.
#   pKmap    K from 0: x1, x2, probability of the second class (of more than two: the class), margins that are 0 on the
#            line
#   class_K  the name of a class
#   pKdata   x1, x2, class: training rows, then test rows
#   pKstars  phi_1, phi_2, unit; stars_K of them
tall = panel_height(4.7, x_high - x_low, y_high - y_low)
left = tic_room(y_low, y_high) + 0.9; width = left + 5.3 * across - 0.2
k_train = 'training row'; k_test = 'test row'; k_line = 'between classes'; k_star = 'φ of a unit'
eval key_begin
do for [c = 0:classes - 1] {
    eval key_add('class_'.c, '', sprintf('pointtype 5 pointsize 0.8 linecolor rgb %d', class_colour(c, classes)), '')
}
eval key_add('k_train', '', 'pointtype 7 pointsize 0.4 linecolor rgb grey', '')
eval key_add('k_test', '', 'pointtype 2 pointsize 0.45 linewidth 0.9 linecolor rgb grey', '')
eval key_add('k_line', 'linewidth 2.4 linecolor rgb black', '', '')
eval key_add('k_star', '', '', 'textcolor rgb star_red')
eval key_measure(width)
foot = foot_room(width)
heads = median_0 eq '' ? 1.1 : 1.55                   # centimetres for a title
height = (tall + heads + 1.3) * down + 0.2 + key_room + foot
eval page(width, height)

panels = down * across
lines = classes == 2 ? 1 : classes
stars = 0                                            # in the panel that has most
do for [i = 0:panels - 1] {
    if (value('model_'.i)) {
        stars = value('stars_'.i) > stars ? value('stars_'.i) : stars
        do for [k = 0:lines - 1] {
            eval sprintf("set table $line_%d_%d", i, k)
            set contour base; set cntrparam levels discrete 0; unset surface
            splot part('p'.i.'map') using 1:2:4 + k
            unset table
        }
    }
}
unset contour; set surface

star = stars <= 40 ? 1 : stars <= 150 ? 0.6 : 0.35   # many would hide what they stand on
star_font = label_font(0.85 * star); rim_font = label_font(1.2 * star); halo_font = label_font(1.55 * star)
unset key; unset colorbox
set xrange [x_low:x_high]; set yrange [y_low:y_high]
set size ratio panel_ratio(x_high - x_low, y_high - y_low)
set border 15
unset grid
set cbrange [0:1]
set palette defined (0 '#CFC3E6', 0.499 '#ECE6F5', 0.501 '#FFFCDD', 1 '#F9F3B0')
set xlabel x_name noenhanced offset 0, label_up
set xtics plane_step(x_high - x_low) offset 0, tics_up
rgb(c) = class_colour(c, classes)
tint(v) = 255 - 0.22 * (255 - int(v))                # a channel, paler
red(c) = tint(rgb(c) / 65536); green_of(c) = tint(rgb(c) / 256 % 256); blue_of(c) = tint(rgb(c) % 256)
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot layout down, across margins screen left / width, 1 - 0.4 / width, (1.2 + foot) / height, 1 - (key_room + heads) / height \
    spacing screen 0.6 / width, (heads + 1.3) / height
do for [i = 0:panels - 1] {
    if (i % across == 0) { set ylabel y_name noenhanced; set format y } else { unset ylabel; set format y '' }
    set title lettered(i, value('title_'.i))."\n".value('score_'.i).(median_0 eq '' ? '' : "\n".value('median_'.i)) noenhanced offset 0, -0.6
    if (value('model_'.i)) {
        plot for [k = 1:classes == 2] part('p'.i.'map') using 1:2:3 with image, \
             for [k = 1:classes != 2] part('p'.i.'map') using 1:2:(red($3)):(green_of($3)):(blue_of($3)) with rgbimage, \
             part('p'.i.'data') index 0 using 1:2:(class_rim($3, classes)) with points pointtype 7 pointsize 0.3 linecolor rgb variable, \
             part('p'.i.'data') index 0 using 1:2:(rgb($3)) with points pointtype 7 pointsize 0.22 linecolor rgb variable, \
             part('p'.i.'data') index 1 using 1:2:(class_rim($3, classes)) with points pointtype 2 pointsize 0.35 linewidth 1.5 linecolor rgb variable, \
             part('p'.i.'data') index 1 using 1:2:(rgb($3)) with points pointtype 2 pointsize 0.3 linewidth 0.6 linecolor rgb variable, \
             for [k = 0:lines - 1] sprintf('$line_%d_%d', i, k) using 1:2 with lines linecolor rgb black linewidth 2.4, \
             part('p'.i.'stars') using 1:2:('★') with labels font halo_font textcolor rgb '#FFFFFF', \
             part('p'.i.'stars') using 1:2:('★') with labels font rim_font textcolor rgb black, \
             part('p'.i.'stars') using 1:2:('★') with labels font star_font textcolor rgb star_red
    } else {
        plot part('p'.i.'data') index 0 using 1:2:(rgb($3)) with points pointtype 7 pointsize 0.25 linecolor rgb variable
    }
    unset label; unset arrow
}
unset multiplot
