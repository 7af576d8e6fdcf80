# SPDX-License-Identifier: MIT
#
# Figure 1(b)-(e): a unit's boundary (solid) and its spatial location (dotted, from the origin) before and after delta is
# added to each of its learned numbers. A column for each delta; the methods of the papers' figure in the first row, the others
# in the second. A boundary that lies outside the window is an arrow at its border, towards it; below the panel stands how far.
#   phi        delta phi_1 phi_2 u_1 u_2 turn/degrees shift, one data set per method, the unperturbed base first
#   boundary   two points of a boundary, data set method * planes + plane
#   names      the methods;  planes   boundaries of a method, the base's first
count = words(names)
wide = planes - 1 < 4 ? planes - 1 : 4
bands = (planes - 1 + wide - 1) / wide
high = 2 * bands                                     # two rows a band
second(m) = strstrt(' SP WN GmP ', ' '.word(names, m + 1).' ') == 0
width = 1.9 + 4.9 * wide + 0.1
k_base = 'unperturbed'; k_phi = 'from the origin to φ'
eval key_begin
eval key_add('k_base', "linecolor rgb '#BBBBBB' linewidth 4.5", '', '')
do for [m = 1:count] {
    eval sprintf("k_%d = word(names, %d)", m, m)
    eval key_add('k_'.m, method_line(word(names, m), m), method_point(word(names, m), m), '')
}
eval key_add('k_phi', 'linewidth 1.6 dashtype (2, 5) linecolor rgb grey', '', '')
eval key_measure(width)
height = key_room + 6.2 * high
eval page(width, height)

# phi, u and the turn of method m, plane k
array E[planes]; array P1[count * planes]; array P2[count * planes]; array U1[count * planes]; array U2[count * planes]
array T[count * planes]
do for [m = 0:count - 1] {
    stats part('phi') index m using (i = m * planes + int($0) + 1, E[int($0) + 1] = $1, P1[i] = $2, P2[i] = $3, \
                                     U1[i] = $4, U2[i] = $5, T[i] = $6) nooutput
}
exponent(x) = floor(log10(x) + 1e-9)
delta_text(x) = abs(x / 10**exponent(x) - 1) < 1e-6 ? sprintf('10^{%d}', exponent(x)) : sprintf('%g', x)
inside(i) = abs(U1[i] * P1[i] + U2[i] * P2[i]) <= reach * (abs(U1[i]) + abs(U2[i]))
far(i) = sqrt(P1[i]**2 + P2[i]**2)
# The window: a round number, twice the base's distance or more.
step(x) = x <= 1 ? 1 : x <= 2 ? 2 : x <= 5 ? 5 : 10
round_up(x) = step(x / power(x)) * power(x)
reach = far(1) > 0 ? round_up(2 * far(1) * (1 - 1e-9)) : 2
# where the way to phi leaves the window
leaves(i) = reach / (abs(P1[i]) > abs(P2[i]) ? abs(P1[i]) : abs(P2[i]))

set size ratio -1
set clip two
set xrange [-reach:reach]; set yrange [-reach:reach]
set xtics -reach / 2, reach / 2, reach / 2 offset 0, tics_up; set ytics -reach / 2, reach / 2, reach / 2
set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '#999999'
set yzeroaxis linetype 1 linewidth 0.8 linecolor rgb '#999999'
set border 15
unset key
eval key_draw(width, height, key_low(height))
set multiplot layout high, wide margins screen 1.9 / width, 1 - 0.4 / width, 1.4 / height, 1 - (key_room + 0.7) / height \
    spacing screen 0.4 / width, 1.5 / height
do for [cell = 0:high * wide - 1] {
    row = cell / wide % 2                            # of its band
    k = cell / wide / 2 * wide + cell % wide + 1
    if (k > planes - 1) { set multiplot next; continue }
    if (cell % wide == 0) { set ylabel '{/:Italic x}_2'; set format y } else { unset ylabel; set format y '' }
    if (row == 0) { set title lettered(k - 1, sprintf('δ = %s', delta_text(E[k + 1]))) offset 0, -0.6 } else { unset title }
    if (row == 1) { set xlabel '{/:Italic x}_1' offset 0, label_up } else { unset xlabel }
    outside = ''
    do for [m = 0:count - 1] {
        i = m * planes + k + 1
        if (second(m) == row && !inside(i)) {
            outside = outside.(outside eq '' ? '' : ', ').sprintf('%s %.1f', word(names, m + 1), far(i))
            set arrow 300 + m from 0.88 * leaves(i) * P1[i], 0.88 * leaves(i) * P2[i] to leaves(i) * P1[i], leaves(i) * P2[i] \
                filled size screen 0.3 / width, 25 front linestyle style(word(names, m + 1), m + 1) dashtype 1
        }
    }
    if (outside ne '') { set label 3 'outside, |φ|: '.outside at graph 0.5, graph -0.2 center font small_font }
    plot part('boundary') index 0 using 1:2 with lines linewidth 4.5 linecolor rgb '#BBBBBB', \
         part('phi') index 0 every ::0::0 using (0):(0):2:3 with vectors nohead linewidth 2.4 dashtype (2, 5) linecolor rgb '#888888', \
         for [m = 0:count - 1] part('boundary') index m * planes + k using (second(m) == row ? $1 : NaN):2 with lines \
             linestyle style(word(names, m + 1), m + 1) linewidth (m == 0 ? 3.2 : 1.6), \
         for [m = 0:count - 1] part('phi') index m every ::k::k using (second(m) == row ? 0 : NaN):(0):2:3 with vectors nohead \
             linestyle style(word(names, m + 1), m + 1) linewidth 1.6 dashtype (2, 5), \
         part('phi') index 0 every ::0::0 using 2:3 with points pointtype 7 pointsize 0.5 linecolor rgb '#888888', \
         for [m = 0:count - 1] part('phi') index m every ::k::k using (second(m) == row ? $2 : NaN):3 with points \
             linestyle style(word(names, m + 1), m + 1) linewidth 1.2 pointsize 0.5
    unset label; unset arrow
}
unset multiplot
