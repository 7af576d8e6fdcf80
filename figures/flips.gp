# SPDX-License-Identifier: MIT
#
# Activation patterns of the data while a net is trained: how many bits flip from one chosen step to the next, and how
# many distinct patterns the rows have; a line for each layer. All panels of a kind have one axis.
#   pK      K from 0: blocks of one layer each (the last: all layers): step, flips, distinct patterns
width = 6 * across + 1.6
eval key_begin
do for [c = 0:lines_most - 1] {
    eval key_add('line_'.c, sprintf('linewidth 1.4 dashtype %d linecolor rgb colour(%d)', dash(c + 1), c + 1), \
                 sprintf('pointtype %d pointsize 0.45 linecolor rgb colour(%d)', dot(c + 1), c + 1), '')
}
eval key_measure(width)
foot = foot_room(width)
head = key_room
height = (down > 1 ? 9.5 : 8.3) * down + head + foot
eval page(width, height)

unset key
set xrange [0:x_most]
set xtics wide_step(x_most, 5)
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot layout 2 * down, across margins screen 1.9 / width, 1 - 0.5 / width, (1.3 + foot) / height, 1 - (head + 0.9) / height \
    spacing screen 1.0 / width, (down > 1 ? 1.9 : 0.7) / height
do for [r = 0:down - 1] {
    do for [n = 0:1] {
        do for [c = 0:across - 1] {
            i = r * across + c
            if (n == 0) { set title lettered(i, value('title_'.i)) noenhanced offset 0, -0.5 } else { unset title }
            if (c == 0) { set ylabel (n == 0 ? 'bits that flipped' : 'distinct patterns') } else { unset ylabel }
            if (n == 1) { set xlabel 'step' offset 0, label_up; set format x '%g' } else { unset xlabel; set format x '' }
            if (n == 0) { set logscale y; set yrange [flips_least / 1.2:flips_most * 1.2]; eval log_tics('y', flips_least / 1.2, flips_most * 1.2, 10, c == 0) }
            if (n == 1) { unset logscale y; set yrange [0:distinct_most * 1.05]; set ytics autofreq; set format y (c > 0 ? '' : '%g') }
            plot for [k = 0:value('lines_'.i) - 1] part('p'.i) index k using 1:(n == 0 ? ($2 > 0 ? $2 : NaN) : $3) \
                 with linespoints linecolor rgb colour(k + 1) linewidth 1.2 dashtype dash(k + 1) pointtype dot(k + 1) pointnumber 5 pointsize 0.45
            unset arrow; unset label
        }
    }
}
unset multiplot
