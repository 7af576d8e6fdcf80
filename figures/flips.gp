# SPDX-License-Identifier: MIT
#
# Activation patterns of the data while a net is trained: how many bits flip from one chosen step to the next, and how
# many distinct patterns the rows have; a line for each layer.
#   pK      K from 0: blocks of one layer each (the last: all layers): step, flips, distinct patterns
eval page(7 * across + 0.6, 9 * down)
set xtics tic_step(x_most)

set multiplot layout 2 * down, across title "\n"
do for [r = 0:down - 1] {
    do for [n = 0:1] {
        do for [c = 0:across - 1] {
            i = r * across + c
            if (n == 0) { set title value('title_'.i) noenhanced } else { unset title }
            if (c == 0) { set ylabel (n == 0 ? 'bits that flipped' : 'distinct patterns') } else { unset ylabel }
            if (n == 1) { set xlabel 'step'; set yrange [0:*] } else { unset xlabel; set yrange [*:*] }
            if (n == 0) { set logscale y; set format y '10^{%L}' } else { unset logscale y; set format y '%g' }
            if (i == 0 && n == 0) { set key at screen 0.5, screen 0.99 center top horizontal maxrows 1 noenhanced } else { unset key }
            plot for [k = 0:value('lines_'.i) - 1] part('p'.i) index k using 1:(n == 0 ? ($2 > 0 ? $2 : NaN) : $3) \
                 with lines linecolor rgb colour(k + 1) linewidth 1.2 title value('line_'.k)
        }
    }
}
unset multiplot
