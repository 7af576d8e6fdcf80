# SPDX-License-Identifier: MIT
#
# Figures 2(d)-(g): what the nets say before and after training; below, where the boundaries were recorded, where the
# units' phi lie at chosen steps, from the start at the bottom to the end at the top, with the number of units that lie
# outside the window. Above each, the test score of the seed shown and the median of all seeds.
#   pK           K from 0: x, prediction before, prediction after
#   train, test  x y of the rows
#   pKspectrum   blocks of one bar each: phi, bar, step, units outside
above = 5.5; below = spectrum ? 3.6 : 0
gap_left = 1.5; gap_right = 0.6; gap_top = median_0 eq '' ? 1.3 : 1.75; gap_bottom = 1.2
width = 5.9 * across + 0.2
k_function = 'function'; k_test = 'test row'; k_train = 'training row'; k_before = 'prediction before'; k_after = 'after training'
k_spectrum = 'φ of a unit, by step'; k_outside = 'right of a bar: units outside'
eval key_begin
if (is_function) { eval key_add('k_function', 'linewidth 2.4 linecolor rgb black', '', '') } \
else { eval key_add('k_test', '', 'pointtype 6 pointsize 0.5 linecolor rgb grey', '') }
eval key_add('k_train', '', 'pointtype 7 pointsize 0.5 linecolor rgb vermillion', '')
eval key_add('k_before', 'linewidth 1.8 dashtype (8, 4) linecolor rgb blue', '', '')
eval key_add('k_after', 'linewidth 2 linecolor rgb blue', '', '')
if (spectrum) {
    eval key_add('k_spectrum', 'linewidth 1.4 linecolor rgb brown', '', '')
    eval key_add('k_outside', '', '', '')
}
eval key_measure(width)
foot = foot_room(width)
height = (gap_top + above + below + gap_bottom) * down + key_room + foot
eval page(width, height)

set xrange [x_low:x_high]
set border 15
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
if (spectrum) { set label 205 'n' at screen key_x(5, width) + 0.5 / width, screen key_y(5, height, key_low(height)) center textcolor rgb grey }
unset key
set multiplot
do for [i = 0:down * across - 1] {
    c = i % across; r = i / across
    set lmargin at screen (5.9 * c + gap_left) / width
    set rmargin at screen (5.9 * (c + 1) + 0.2 - gap_right) / width
    base = height - key_room - (gap_top + above + below + gap_bottom) * (r + 1)
    set bmargin at screen (base + gap_bottom + below) / height
    set tmargin at screen (base + gap_bottom + below + above - 0.15) / height
    set yrange [y_low:y_high]
    set ytics nomirror out scale 0.5
    if (c == 0) { set ylabel y_name offset 1.5, 0 } else { unset ylabel }
    set label 1 lettered(i, value('title_'.i)) noenhanced at graph 0.5, (median_0 eq '' ? 1.15 : 1.22) center
    set label 2 value('score_'.i) noenhanced at graph 0.5, (median_0 eq '' ? 1.06 : 1.13) center
    set label 3 value('median_'.i) noenhanced at graph 0.5, 1.05 center textcolor rgb grey
    if (spectrum) { set format x ''; unset xlabel } else { set format x; set xlabel x_name }
    plot part('test') using 1:(is_function ? $2 : NaN) with lines linecolor rgb black linewidth 2.4, \
         part('test') using 1:(is_function ? NaN : $2) with points pointtype 6 pointsize 0.4 linecolor rgb grey, \
         part('p'.i) using 1:2 with lines linecolor rgb blue linewidth 1.8 dashtype (8, 4), \
         part('p'.i) using 1:3 with lines linecolor rgb blue linewidth 2, \
         part('train') using 1:2 with points pointtype 7 pointsize 0.4 linecolor rgb vermillion
    unset label; unset arrow
    if (spectrum) {
        set bmargin at screen (base + gap_bottom) / height
        set tmargin at screen (base + gap_bottom + below - 0.1) / height
        set yrange [-0.2:value('bars_'.i) + 0.01]
        unset ytics
        if (c == 0) { set ylabel 'step' offset -1.6, 0 } else { unset ylabel }
        set format x '%g'; set xlabel x_name offset 0, label_up
        if (value('bars_'.i) == 0) {
            set label 2 value('note_'.i) noenhanced at graph 0.5, 0.5 center font small_font textcolor rgb grey
            plot NaN
            unset label 2
            continue
        }
        plot part('p'.i.'spectrum') using 1:2:(0):(0.8) with vectors nohead linecolor rgb brown linewidth 0.7, \
             for [b = 0:value('bars_'.i) - 1] part('p'.i.'spectrum') index b every ::::0 \
                 using (x_low):($2 + 0.4):(b % 2 == 0 ? sprintf('%g', $3) : '') with labels right offset -0.5, 0 font tiny_font, \
             for [b = 0:value('bars_'.i) - 1] part('p'.i.'spectrum') index b every ::::0 \
                 using (x_high):($2 + 0.4):(sprintf('%g', $4)) with labels left offset 0.5, 0 font tiny_font textcolor rgb grey
    }
}
unset multiplot
