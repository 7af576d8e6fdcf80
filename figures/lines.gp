# SPDX-License-Identifier: MIT
#
# Figure 6: units relu(cos(theta) x_1 + sin(theta) x_2 + lambda) on the plane, one panel each.
#   unit    theta/degrees lambda u_1 u_2 phi_1 phi_2, one row per panel
#   line    the ends of the boundary, one data set per panel
#   arrow   x_1 x_2 dx_1 dx_2 side (1 active, -1 inactive), one data set per panel
columns = 4
rows = int(ceil(units / (1.0 * columns)))
width = 16
k_b = 'boundary'; k_phi = 'from the origin to φ'; k_u = 'direction u'; k_on = 'active'; k_off = 'inactive'
eval key_begin
eval key_add('k_b', 'linewidth 2.4 linecolor rgb brown', '', '')
eval key_add('k_phi', 'linewidth 1.4 dashtype (3, 7) linecolor rgb blue', 'pointtype 7 pointsize 0.4 linecolor rgb blue', '')
eval key_add('k_u', 'head filled size screen 0.012, 18 linewidth 1.8 linecolor rgb black', '', '')
eval key_add('k_on', 'head filled size screen 0.012, 18 linewidth 1.8 linecolor rgb green', '', '')
eval key_add('k_off', 'head size screen 0.012, 18 linewidth 1.4 dashtype (4, 3) linecolor rgb vermillion', '', '')
eval key_measure(width)
height = 4.4 * rows + 0.2 + key_room
eval page(width, height)
eval key_draw(width, height, key_low(height))

array T[units]; array L[units]; array U1[units]; array U2[units]; array P1[units]; array P2[units]
stats part('unit') using (k = int($0) + 1, T[k] = $1, L[k] = $2, U1[k] = $3, U2[k] = $4, P1[k] = $5, P2[k] = $6) nooutput

unset border; unset key; unset grid; unset tics
set size ratio -1
set xrange [low:high + 0.7]; set yrange [low:high + 0.7]
set arrow 1 from low, 0 to high, 0 size 0.22, 18 filled linewidth 0.8 linecolor rgb '#333333'
set arrow 2 from 0, low to 0, high size 0.22, 18 filled linewidth 0.8 linecolor rgb '#333333'
set label 1 '{/:Italic x}_1' at high + 0.35, 0 center
set label 2 '{/:Italic x}_2' at 0, high + 0.4 center

set multiplot layout rows, columns margins 0.01, 0.99, screen 0.1 / height, 1 - (key_room + 0.65) / height spacing 0.015, screen 0.8 / height
do for [i = 0:units - 1] {
    theta = T[i + 1]; lambda = L[i + 1]; u1 = U1[i + 1]; u2 = U2[i + 1]; p1 = P1[i + 1]; p2 = P2[i + 1]
    set title lettered(i, sprintf('θ=%g°, λ=%s%g', theta, lambda < 0 ? '−' : '', abs(lambda))) offset 0, -0.7
    set arrow 3 from 0, 0 to p1, p2 nohead linewidth 1.4 dashtype (3, 7) linecolor rgb blue
    set arrow 4 from 0, 0 to u1, u2 size 0.25, 18 filled linewidth 1.8 linecolor rgb black front
    set label 3 '{/:Bold φ}' at 1.36 * p1, 1.36 * p2 center textcolor rgb blue
    set label 4 '{/:Bold u}' at 0.55 * u1 - 0.42 * abs(u2) * sgn(u1), 0.55 * u2 + 0.42 * abs(u1) * sgn(u2) center
    plot part('arrow') index i using ($5 > 0 ? $1 : NaN):2:3:4 with vectors filled size 0.24, 18 linewidth 1.8 \
             linecolor rgb green, \
         part('arrow') index i using ($5 < 0 ? $1 : NaN):2:3:4 with vectors size 0.24, 18 linewidth 1.4 dashtype (4, 3) \
             linecolor rgb vermillion, \
         part('line') index i using 1:2 with lines linewidth 2.4 linecolor rgb brown, \
         part('unit') every ::i::i using 5:6 with points pointtype 7 pointsize 0.4 linecolor rgb blue
    do for [c = 0:key_count - 1] { unset arrow 100 + c; unset label 100 + c; unset label 200 + c }
}
unset multiplot
