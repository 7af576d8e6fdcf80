# SPDX-License-Identifier: MIT
#
# Figures 3(a)-(h): where each unit's phi goes while the net is trained, a line for each unit; a dot where it ends. With
# one feature it is phi over steps.
#   pK      K from 0: blocks of one unit each: phi_1, phi_2 (or phi, step), step, unit
#   pKends  phi_1, phi_2 (or phi, step), unit at the end
tall = features == 2 ? 4.7 * (y_high - y_low) / (x_high - x_low) : 4.7
left = features == 2 ? 1.5 : 1.9
width = left + 5.7 * across - 0.6; height = (tall + 1.9) * down + 0.4
eval page(width, height)

unset key
set xrange [x_low:x_high]
if (features == 2) { set size ratio -1; set yrange [y_low:y_high] }
if (features == 1) { set yrange [0:x_most]; set ytics tic_step(x_most) }
set xlabel (features == 2 ? 'φ_1' : 'φ') offset 0, label_up
set xtics offset 0, tics_up
set border 15
set multiplot layout down, across margins screen left / width, 1 - 0.4 / width, 1.2 / height, 1 - 0.8 / height \
    spacing screen 1.0 / width, 1.9 / height
do for [i = 0:down * across - 1] {
    if (i % across == 0) { set ylabel (features == 2 ? 'φ_2' : 'step') offset (features == 2 ? 0.2 : 1.5), 0; set format y } else { unset ylabel; if (features == 1) { set format y '' } }
    set title value('title_'.i) noenhanced offset 0, -0.6
    plot for [u = 0:value('units_'.i) - 1] part('p'.i) index u using 1:2 with lines \
             linecolor rgb colour(u + 1) linewidth (value('units_'.i) > 20 ? 0.5 : 1.0), \
         part('p'.i.'ends') using 1:2:3 with points pointtype 7 pointsize 0.25 linecolor rgb '#000000'
}
unset multiplot
