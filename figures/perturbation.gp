# SPDX-License-Identifier: MIT
#
# Figure 1(b)-(e): a unit's boundary (solid) and its spatial location (dotted, from the origin) before and after eps is
# added to each of its learned numbers; one panel per method. A short arrow at phi points to the active side.
#   phi        eps phi_1 phi_2 u_1 u_2 turn/degrees shift, one data set per method, the unperturbed base first
#   boundary   two points of a boundary, data set method * planes + plane
#   names      the methods;  planes   boundaries in a panel
eval page(16, 11.2)

reach = 2
eps_colours = '#000000 #56B4E9 #009E73 #E69F00 #D55E00 #CC79A7 #0072B2 #777777'
eps_colour(k) = word(eps_colours, k % words(eps_colours) + 1)
eps_dash(k) = k == 0 ? 1 : k

array E[planes]
stats part('phi') index 0 using (E[int($0) + 1] = $1) nooutput
array T[words(names)]
do for [m = 1:words(names)] { stats part('phi') index m - 1 using (abs($6)) nooutput; T[m] = STATS_max }
exponent(x) = floor(log10(x) + 1e-9)
eps_text(x) = abs(x / 10**exponent(x) - 1) < 1e-6 ? sprintf('10^{%d}', exponent(x)) : sprintf('%g', x)
eps_title(k) = E[k + 1] == 0 ? 'base' : sprintf('{/:Italic ε} = %s', eps_text(E[k + 1]))

set size ratio -1
set clip two
set xrange [-reach:reach]; set yrange [-reach:reach]
set xtics -2, 1, 2; set ytics -2, 1, 2
set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '#999999'
set yzeroaxis linetype 1 linewidth 0.8 linecolor rgb '#999999'
set border 15
unset key

set multiplot layout 2, 3 margins 0.05, 0.99, 0.07, 0.945 spacing 0.055, 0.15
do for [m = 0:words(names) - 1] {
    set title sprintf(T[m + 1] < 10 ? '%s: turns by up to %.1f°' : '%s: turns by up to %.0f°', word(names, m + 1), T[m + 1]) \
        offset 0, -0.7 noenhanced
    set label 2 '{/:Italic x}_1' at graph 0.875, 0 center offset 0, -1.1
    set label 1 '{/:Italic x}_2' at graph 0, 0.875 right offset -0.7, 0
    plot for [k = planes - 1:0:-1] part('boundary') index m * planes + k using 1:2 with lines \
             linewidth (k == 0 ? 3.2 : 2.2) linecolor rgb eps_colour(k), \
         for [k = planes - 1:0:-1] part('phi') index m every ::k::k using (0):(0):2:3 with vectors nohead \
             linewidth 1.8 dashtype (2, 6) linecolor rgb eps_colour(k), \
         for [k = planes - 1:0:-1] part('phi') index m every ::k::k using 2:3:(0.45 * $4):(0.45 * $5) with vectors \
             filled size 0.13, 20 linewidth 2 linecolor rgb eps_colour(k), \
         for [k = planes - 1:0:-1] part('phi') index m every ::k::k using 2:3 with points \
             pointtype 7 pointsize 0.3 linecolor rgb eps_colour(k)
}
# the key, where a sixth panel would be
unset title; unset tics; unset border; unset grid; unset xzeroaxis; unset yzeroaxis; unset label 1; unset label 2
key_y(k) = 0.92 - 0.125 * k
do for [k = 0:planes - 1] {
    set arrow from graph 0.1, graph key_y(k) to graph 0.3, graph key_y(k) nohead linewidth (k == 0 ? 3.2 : 2.2) \
        linecolor rgb eps_colour(k)
    set label eps_title(k) at graph 0.36, graph key_y(k)
}
set arrow from graph 0.1, graph key_y(planes) to graph 0.3, graph key_y(planes) nohead linewidth 1.8 dashtype (2, 6) \
    linecolor rgb grey
set label 'from 0 to {/:Bold φ}' at graph 0.36, graph key_y(planes)
plot NaN
unset multiplot
