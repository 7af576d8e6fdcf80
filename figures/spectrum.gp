# SPDX-License-Identifier: MIT
#
# Figures 2(d)-(g), bottom: where the units' phi lie at chosen steps, from the start at the bottom to the end at the top.
# To the right of each bar stands how many units lie outside the window.
#   pKspectrum   K from 0: blocks of one bar each: phi, bar, step, units outside
width = 6.2 * across + 0.6
k_spectrum = 'φ of a unit'; k_outside = 'units outside'
eval key_begin
eval key_add('k_spectrum', 'linewidth 1.4 linecolor rgb brown', '', '')
eval key_add('k_outside', '', '', '')
eval key_measure(width)
foot = foot_room(width)
height = 5.5 * down + 0.8 + key_room + foot
eval page(width, height)

unset key; unset ytics
set xrange [x_low:x_high]
set border 15
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set label 201 'n' at screen key_x(1, width) + 0.5 / width, screen key_y(1, height, key_low(height)) center textcolor rgb grey
set multiplot layout down, across margins screen 2.0 / width, 1 - 0.9 / width, (1.3 + foot) / height, 1 - (key_room + 0.8) / height \
    spacing screen 1.7 / width, 2.2 / height
do for [i = 0:down * across - 1] {
    set title lettered(i, value('title_'.i)) noenhanced offset 0, -0.6
    set xlabel x_name offset 0, label_up
    set yrange [-0.2:value('bars_'.i) + 0.01]
    if (i % across == 0) { set ylabel 'step' offset -2, 0 } else { unset ylabel }
    if (value('bars_'.i) == 0) {
        set label 2 value('note_'.i) noenhanced at graph 0.5, 0.5 center font small_font textcolor rgb grey
        plot NaN
        unset label 2
        continue
    }
    plot part('p'.i.'spectrum') using 1:2:(0):(0.8) with vectors nohead linecolor rgb brown linewidth 0.7, \
         for [b = 0:value('bars_'.i) - 1] part('p'.i.'spectrum') index b every ::::0 \
             using (x_low):($2 + 0.4):(sprintf('%g', $3)) with labels right offset -0.5, 0 font small_font, \
         for [b = 0:value('bars_'.i) - 1] part('p'.i.'spectrum') index b every ::::0 \
             using (x_high):($2 + 0.4):(sprintf('%g', $4)) with labels left offset 0.5, 0 font small_font textcolor rgb grey
    unset label; unset arrow
}
unset multiplot
