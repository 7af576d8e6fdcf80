# SPDX-License-Identifier: MIT
#
# Figures 2(a)-(b) and 5: units relu(u(theta) x + lambda) on the line, one panel each.
#   unit       theta/degrees lambda u phi, one row per panel
#   response   x z: the unit's output, one data set per panel
columns = 2
rows = int(ceil(units / (1.0 * columns)))
width = 14
k_b = 'boundary, at φ'; k_z = 'output z of the unit'; k_on = 'active'; k_off = 'inactive'
eval key_begin
eval key_add('k_b', 'linewidth 2.4 linecolor rgb brown', 'pointtype 7 pointsize 0.45 linecolor rgb brown', '')
eval key_add('k_z', 'linewidth 2.6 linecolor rgb blue', '', '')
eval key_add('k_on', 'head filled size screen 0.012, 18 linewidth 2 linecolor rgb green', '', '')
eval key_add('k_off', 'head size screen 0.012, 18 linewidth 1.4 dashtype (4, 3) linecolor rgb vermillion', '', '')
eval key_measure(width)
height = 4.6 * rows + 0.2 + key_room
eval page(width, height)
eval key_draw(width, height, key_low(height))

array T[units]; array L[units]; array U[units]; array P[units]
stats part('unit') using (k = int($0) + 1, T[k] = $1, L[k] = $2, U[k] = $3, P[k] = $4) nooutput

unset border; unset key; unset grid; unset tics
top = 2.6; bottom = -0.75
set xrange [low:high + 0.35]; set yrange [bottom:top]
set arrow 1 from low, 0 to high, 0 size 0.13, 18 filled linewidth 0.8 linecolor rgb '#333333'
set arrow 2 from 0, bottom to 0, top size 0.13, 18 filled linewidth 0.8 linecolor rgb '#333333'
set label 1 '{/:Italic x}' at high + 0.2, 0 center
set label 2 '{/:Italic z}' at 0, top right offset -0.8, -0.4

set multiplot layout rows, columns margins 0.01, 0.99, screen 0.1 / height, 1 - (key_room + 0.65) / height spacing 0.03, screen 0.85 / height
do for [i = 0:units - 1] {
    theta = T[i + 1]; lambda = L[i + 1]; u = U[i + 1]; phi = P[i + 1]
    set title lettered(i, sprintf('θ = %s, λ = %s%g', theta > 90 ? 'π' : '0', lambda < 0 ? '−' : '', abs(lambda))) \
        offset 0, -0.7
    set arrow 3 from phi, bottom to phi, top - 0.2 nohead linewidth 2.4 linecolor rgb brown
    do for [k = 0:2] {
        y = 0.75 + 0.55 * k
        set arrow 10 + k from phi, y to phi + 0.6 * u, y size 0.16, 18 filled linewidth 2 linecolor rgb green
        set arrow 20 + k from phi, y to phi - 0.6 * u, y size 0.16, 18 linewidth 1.4 dashtype (4, 3) linecolor rgb vermillion
    }
    set label 3 '{/:Bold φ}' at phi, 0 center offset 1.1, -0.8 textcolor rgb brown
    plot part('response') index i using 1:2 with lines linewidth 2.6 linecolor rgb blue, \
         part('unit') every ::i::i using 4:(0) with points pointtype 7 pointsize 0.45 linecolor rgb brown
    do for [c = 0:key_count - 1] { unset arrow 100 + c; unset label 100 + c; unset label 200 + c }
}
unset multiplot
