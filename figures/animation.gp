# SPDX-License-Identifier: MIT
#
# The trajectories in motion: where each unit's phi has been up to a moment, and where it is then. Early steps are shown
# more slowly than late ones: page k of K is at (k / K)^2 of the longest training.
#   pK       K from 0: blocks of one unit each: phi_1, phi_2 (or phi, step), step, unit
#   pKheads  blocks of one page each: phi_1, phi_2 (or phi, step), unit, step
tall = features == 2 ? panel_height(4.7, x_high - x_low, y_high - y_low) : 4.7
left = features == 2 ? tic_room(y_low, y_high) + 0.9 : 2.2
big = across == 1 ? 2 : across == 2 ? 1.4 : 1; tall = tall * big # a single run is not lost on a screen
width = left + (4.7 * big + 0.6) * across - 0.2
k_unit = 'path of one unit'; k_end = 'current position'
eval key_begin
eval key_add('k_unit', 'linewidth 1.2 linecolor rgb colour(1)', '', '')
eval key_add('k_end', '', 'pointtype 7 pointsize 0.5 linecolor rgb black', '')
eval key_measure(width)
foot = foot_room(width)
height = (tall + 1.9) * down + 1.0 + key_room + foot
eval page(width, height)

unset key
set xrange [x_low:x_high]
if (features == 2) { set size ratio panel_ratio(x_high - x_low, y_high - y_low); set yrange [y_low:y_high] } else { set yrange [0:x_most] }
if (features == 1) { set ytics tic_step(x_most) }
set xlabel (features == 2 ? 'φ_1' : 'φ') offset 0, label_up
set xtics plane_step(x_high - x_low) offset 0, tics_up
set border 15
do for [page_k = 1:frames + last_pages] {
    k = page_k < frames ? page_k : frames
    if (shown(k)) {
        now = x_most * (k / (frames + 0.0)) ** 2
        set multiplot layout down, across margins screen left / width, 1 - 0.4 / width, (1.2 + foot) / height, 1 - (key_room + 1.4) / height \
            spacing screen 0.6 / width, 1.9 / height
        set label 1 sprintf('step %.0f', now) at screen 0.5, screen 1 - (key_room + 0.3) / height center
        eval key_draw(width, height, key_low(height))
        eval foot_draw(width, height)
        do for [i = 0:down * across - 1] {
            if (i % across == 0) { set ylabel (features == 2 ? 'φ_2' : 'step'); set format y } else { unset ylabel; set format y '' }
            set title lettered(i, value('title_'.i)) noenhanced offset 0, -0.6
            if (value('units_'.i) == 0) {
                set label 2 value('note_'.i) noenhanced at graph 0.5, 0.5 center font small_font textcolor rgb grey
                plot NaN
                unset label 2
            } else {
                plot for [u = 0:value('units_'.i) - 1] part('p'.i) index u using ($3 <= now ? $1 : NaN):2 with lines \
                         linecolor rgb colour(u + 1) linewidth (value('units_'.i) > 20 ? 0.5 : 1.0), \
                     part('p'.i.'heads') index k - 1 using 1:2 with points pointtype 7 pointsize (format eq 'gif' ? 0.7 : 0.3) linecolor rgb '#000000'
            }
            unset label; unset arrow
        }
        unset multiplot
    }
}
