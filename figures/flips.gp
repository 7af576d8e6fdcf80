# SPDX-License-Identifier: MIT
#
# Activation patterns of the data while a net is trained: how many bits flip from one chosen step to the next, and how
# many distinct patterns the rows have; a line for each layer. All panels of a kind have one axis.
#   pK      K from 0: blocks of one layer each (the last: all layers): step, flips, distinct patterns
width = 6 * across + 1.6
do for [c = 0:lines_most - 1] { eval sprintf("legend_%d = line_%d", c, c) }
eval legend_measure(lines_most, width)
head = 0.3 + 0.5 * legend_rows
height = (down > 1 ? 9.5 : 8.3) * down + head
eval page(width, height)

unset key
set xrange [0:x_most]
set xtics wide_step(x_most, 5)
do for [c = 0:lines_most - 1] {
    set arrow 100 + c from screen legend_x(c, width), screen legend_y(c, height, height - head + 0.1) rto screen 0.7 / width, screen 0 nohead \
        linecolor rgb colour(c + 1) linewidth 1.2
    set label 100 + c value('legend_'.c) noenhanced at screen legend_x(c, width) + 0.85 / width, \
        screen legend_y(c, height, height - head + 0.1) left
}
set multiplot layout 2 * down, across margins screen 1.9 / width, 1 - 0.5 / width, 1.3 / height, 1 - (head + 0.9) / height \
    spacing screen 1.0 / width, (down > 1 ? 1.9 : 0.7) / height
do for [r = 0:down - 1] {
    do for [n = 0:1] {
        do for [c = 0:across - 1] {
            i = r * across + c
            if (n == 0) { set title value('title_'.i) noenhanced offset 0, -0.5 } else { unset title }
            if (c == 0) { set ylabel (n == 0 ? 'bits that flipped' : 'distinct patterns') } else { unset ylabel }
            if (n == 1) { set xlabel 'step' offset 0, label_up; set format x '%g' } else { unset xlabel; set format x '' }
            if (n == 0) { set logscale y; set yrange [flips_least / 1.2:flips_most * 1.2] }
            if (n == 1) { unset logscale y; set yrange [0:distinct_most * 1.05] }
            set format y (c > 0 ? '' : n == 0 ? '10^{%L}' : '%g')
            plot for [k = 0:value('lines_'.i) - 1] part('p'.i) index k using 1:(n == 0 ? ($2 > 0 ? $2 : NaN) : $3) \
                 with lines linecolor rgb colour(k + 1) linewidth 1.2
            unset arrow; unset label
        }
    }
}
unset multiplot
