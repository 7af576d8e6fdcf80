# SPDX-License-Identifier: MIT
#
# How far a unit's boundary turns when delta is added to each of its learned numbers.
#   turn    delta turn/degrees shift, one data set per method
#   names   the methods;  inputs   of the unit
eval page(11, 7.5)

stats part('turn') using 1 nooutput
set logscale xy
eval log_tics('x', STATS_min, STATS_max, 10, 1)
set format y '%g'
set yrange [:300]
set xlabel '{/:Italic δ}, added to each parameter'
set ylabel 'turn of the boundary, degrees'
set key bottom right
set title sprintf('%d inputs', inputs) offset 0, -0.6
plot for [m = 0:words(names) - 1] part('turn') index m using 1:($2 > 0 ? $2 : NaN) with linespoints \
         linestyle style(word(names, m + 1), m + 1) pointtype mark(word(names, m + 1), m + 1) pointsize 0.9 - 0.12 * m title word(names, m + 1)
