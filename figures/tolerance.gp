# SPDX-License-Identifier: MIT
#
# How wrong a learning rate may be: the error over the rates on top, all panels' together; below a panel for each set (and point
# of the grid's other keys) with a bar for each method over the rates at which it is nearly as good as at its best.
#   curves   blocks of one method each: lr, error over the smallest of any method
#   pK       K from 0: blocks of one method each: method, smallest and largest lr within 5 %, within 50 %, best
#   pKlost   method, lr at which a training diverged
#   rate_low, rate_high, metric, larger
wide = down < 4 ? down : 4
high = (down + wide - 1) / wide
longest = 0
do for [c = 0:across - 1] { longest = strlen(value('method_'.c)) > longest ? strlen(value('method_'.c)) : longest }
names = 0.5 + 0.187 * (longest > 8 ? longest : 8)                 # centimetres of the methods' names on the left, and of the numbers of the curves
width = names + 0.5 + (wide == 1 ? 11 : wide == 2 ? 15 : 21)
k_thick = 'within 5 % of its best'; k_thin = 'within 50 %'; k_lost = 'a training diverged'
eval key_begin
do for [c = 0:across - 1] { eval key_add('method_'.c, method_line(value('method_'.c), c + 1).' linewidth 1', method_point(value('method_'.c), c + 1), '') }
eval key_add('k_thick', 'linewidth 7 linecolor rgb grey', '', '')
eval key_add('k_thin', 'linewidth 2.5 linecolor rgb grey', '', '')
eval key_add('k_lost', '', 'pointtype 2 pointsize 0.5 linecolor rgb black linewidth 1.5', '')
eval key_measure(width)
foot = foot_room(width)
one = 0.42 * across + 0.5                     # a panel of bars
top = 6.2                                     # the panel of curves
gap = 1.45
below = 1.25 + foot
height = below + high * one + (high - 1) * gap + 2.1 + top + key_room + 0.3
eval page(width, height)
unset key
set logscale x
eval log_tics('x', rate_low, rate_high, 10, 1)
span = log10(rate_high / rate_low)
x_low = rate_low / 10 ** (0.06 * span); x_high = rate_high * 10 ** (0.06 * span)
set xrange [x_low:x_high]
eval key_draw(width, height, key_low(height))
eval foot_draw(width, height)
set multiplot

# ---- curves: what lies above ten times the best is of no interest
stats part('curves') using (column(2) < 10 ? column(2) : 10) nooutput
set logscale y
set yrange [0.94:(STATS_max < 1.5 ? 1.6 : STATS_max * 1.06)]
set ytics (1, 1.2, 1.5, 2, 3, 5, 10)
set format y '%g'
set ylabel (larger ? "error (1 - ".metric.")\nover the smallest" : metric." over\nthe smallest") noenhanced
set xlabel 'learning rate' offset 0, label_up
base = below + high * one + (high - 1) * gap + 2.1
set margins screen names / width, screen 1 - 0.5 / width, screen base / height, screen (base + top) / height
set arrow 1 from x_low, 1.05 to x_high, 1.05 nohead linewidth 0.8 dashtype (4, 4) linecolor rgb grey
plot for [k = 0:across - 1] part('curves') index k using 1:(column(2) > 30 ? 30 : column(2)) with linespoints \
     linestyle style(value('method_'.k), k + 1) linewidth 1.6 pointsize 0.7
unset arrow; unset label; unset ylabel; unset logscale y; unset ytics

# ---- bars, the first method on top
set yrange [-0.7:across - 0.3]
set errorbars 0
wide_low(c) = column(c) <= rate_low * 1.0001 ? x_low : column(c)             # to the frame where the grid ends
wide_high(c) = column(c) >= rate_high * 0.9999 ? x_high : column(c)
each = (width - names - 0.5 - (wide - 1) * 0.35) / wide
do for [r = 0:down - 1] {
    column_ = r % wide; row_ = r / wide
    left_ = names + column_ * (each + 0.35)
    low_ = below + (high - 1 - row_) * (one + gap)
    set margins screen left_ / width, screen (left_ + each) / width, screen low_ / height, screen (low_ + one) / height
    set title lettered(r, value('title_'.r)) noenhanced offset 0, -0.7
    if (r + wide >= down) { set xlabel 'learning rate' offset 0, label_up } else { unset xlabel }
    do for [k = 0:across - 1] {
        m = value('method_'.k)
        if (column_ == 0) { eval sprintf("set label %d m noenhanced at screen %f, first %d right", 400 + k, (names - 0.15) / width, across - 1 - k) }
    }
    plot for [k = 0:across - 1] part('p'.r) index k using 4:(across - 1 - k):(wide_low(4)):(wide_high(5)) with xerrorbars linestyle style(value('method_'.k), k + 1) dashtype 1 linewidth 2.5 pointtype 0, \
         for [k = 0:across - 1] part('p'.r) index k using 2:(across - 1 - k):(wide_low(2)):(wide_high(3)) with xerrorbars linestyle style(value('method_'.k), k + 1) dashtype 1 linewidth 7 pointtype 0, \
         for [k = 0:across - 1] part('p'.r) index k using 6:(across - 1 - k) with points pointtype 7 pointsize 1.0 linecolor rgb '#ffffff', \
         for [k = 0:across - 1] part('p'.r) index k using 6:(across - 1 - k) with points linestyle style(value('method_'.k), k + 1) linewidth 1.2 pointsize 0.55, \
         part('p'.r.'lost') using 2:(across - 1 - column(1)) with points pointtype 2 pointsize 0.5 linewidth 1.5 linecolor rgb black
    unset label
}
unset multiplot
