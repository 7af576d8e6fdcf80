# SPDX-License-Identifier: MIT
#
# Figures 3(a)-(h): the path of each unit's phi in training, a thin line in a color for each unit, with a circle at
# its start and a dot at its end. With one feature it is phi over steps.
#   pK      K from 0: blocks of one unit each: phi_1, phi_2 (or phi, step), step, unit
#   note_K  why a panel of no units is empty
#   outside_K  how many units leave the panel
#   pKends  phi_1, phi_2 (or phi, step), unit at the end
tall = features == 2 ? panel_height(4.7, x_high - x_low, y_high - y_low) : 4.7
left = features == 2 ? tic_room(y_low, y_high) + 0.9 : 2.2
width = left + 5.3 * across - 0.2
k_unit = 'one unit'; k_begin = 'start'; k_end = 'end'
eval key_begin
eval key_add('k_unit', 'linewidth 0.8 linecolor rgb colour(1)', '', '')
eval key_add('k_begin', '', 'pointtype 6 pointsize 0.8 linewidth 1 linecolor rgb black', '')
eval key_add('k_end', '', 'pointtype 7 pointsize 0.45 linecolor rgb black', '')
eval key_measure(width)
foot = foot_room(width)
height = (tall + 1.9) * down + 0.3 + key_room + foot
eval page(width, height)

unset key
set xrange [x_low:x_high]
if (features == 2) { set size ratio panel_ratio(x_high - x_low, y_high - y_low); set yrange [y_low:y_high] }
if (features == 1) { set yrange [0:x_most]; set ytics tic_step(x_most) }
set xlabel (features == 2 ? 'φ_1' : 'φ') offset 0, label_up
set xtics plane_step(x_high - x_low) offset 0, tics_up
set border 15
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set style textbox opaque noborder fillcolor rgb 'white' margins 0.4, 0.2
set multiplot layout down, across margins screen left / width, 1 - 0.4 / width, (1.2 + foot) / height, 1 - (key_room + 0.7) / height \
    spacing screen 0.6 / width, 1.9 / height
do for [i = 0:down * across - 1] {
    if (i % across == 0) { set ylabel (features == 2 ? 'φ_2' : 'step'); set format y } else { unset ylabel; set format y '' }
    set title lettered(i, value('title_'.i)) noenhanced offset 0, -0.6
    if (value('units_'.i) == 0) {
        set label 2 value('note_'.i) noenhanced at graph 0.5, 0.5 center font small_font textcolor rgb grey
        plot NaN
        unset label 2
    } else {
        set label 3 value('outside_'.i) noenhanced at graph 0.97, 0.05 right font small_font textcolor rgb grey front boxed
        plot for [u = 0:value('units_'.i) - 1] part('p'.i) index u using 1:2 with lines \
                 linecolor rgb colour(u + 1) linewidth (value('units_'.i) > 20 ? 0.4 : 0.7), \
             for [u = 0:value('units_'.i) - 1] part('p'.i) index u every ::0::0 using 1:2 with points pointtype 6 pointsize 0.8 \
                 linewidth 1 linecolor rgb black, \
             part('p'.i.'ends') using 1:2:3 with points pointtype 7 pointsize 0.45 linecolor rgb black
    }
    unset arrow; unset label
}
unset multiplot
