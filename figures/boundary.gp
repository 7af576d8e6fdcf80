# SPDX-License-Identifier: MIT
#
# Figure 1(a): one unit relu(cos(theta) x_1 + sin(theta) x_2 + lambda) on the plane.
#   unit    theta/degrees lambda u_1 u_2 phi_1 phi_2
#   line    the ends of the boundary
#   arrow   x_1 x_2 dx_1 dx_2 side (1 active, -1 inactive)
width = 8; height = 8.9
k_b = 'boundary'; k_phi = 'from the origin to φ'; k_on = 'active'; k_off = 'inactive'
eval key_begin
eval key_add('k_b', 'linewidth 3 linecolor rgb brown', '', '')
eval key_add('k_phi', 'linewidth 1.6 dashtype (3, 7) linecolor rgb blue', 'pointtype 7 pointsize 0.5 linecolor rgb blue', '')
eval key_add('k_on', 'head filled size screen 0.02, 18 linewidth 2.2 linecolor rgb green', '', '')
eval key_add('k_off', 'head size screen 0.02, 18 linewidth 1.6 dashtype (4, 3) linecolor rgb vermillion', '', '')
eval key_measure(width)
eval page(width, height)

stats part('unit') using (theta = $1, u1 = $3, u2 = $4, p1 = $5, p2 = $6) nooutput

set size ratio -1
set margins screen 0.02, screen 0.98, screen 0.02, screen 1 - (key_room + 0.1) / height
eval key_draw(width, height, key_low(height))
set label 80 letter(0) at screen 0.3 / width, screen 1 - (key_room + 0.35) / height left
set xrange [low:high]; set yrange [low:high]
unset border; unset key; unset grid; unset tics
set angles degrees
set arrow from low, 0 to high, 0 size 0.13, 18 filled linewidth 1 linecolor rgb '#333333'
set arrow from 0, low to 0, high size 0.13, 18 filled linewidth 1 linecolor rgb '#333333'
set label '{/:Italic x}_1' at high, 0 right offset 0, -0.9
set label '{/:Italic x}_2' at 0, high left offset 1, -0.6

# phi: the foot of the perpendicular from the origin; u: the direction of the weight
set arrow from 0, 0 to p1, p2 nohead linewidth 1.6 dashtype (3, 7) linecolor rgb blue
set arrow from 0, 0 to u1, u2 size 0.16, 18 filled linewidth 2.2 linecolor rgb black front
set label '{/:Bold u}({/:Italic θ})' at 0.7 * u1, 0.7 * u2 right offset -0.7, 0.6
set label '{/:Italic θ}' at 0.66 * cos(theta / 2), 0.66 * sin(theta / 2) center
set label '{/:Bold φ} = −{/:Italic λ}{/:Bold u}({/:Italic θ})' at p1, p2 left offset 1.4, 0.1 textcolor rgb blue
# along the boundary from phi: t > 0 is up here
b1(t) = p1 - t * u2; b2(t) = p2 + t * u1
set label '{/*1.2:Italic B}' at b1(-1.9), b2(-1.9) right offset -1.2, -0.3 textcolor rgb brown

plot sample [t = 0:theta] '+' using (0.45 * cos(t)):(0.45 * sin(t)) with lines linewidth 1 linecolor rgb black, \
     part('arrow') using ($5 > 0 ? $1 : NaN):2:3:4 with vectors filled size 0.16, 18 linewidth 2.2 linecolor rgb green, \
     part('arrow') using ($5 < 0 ? $1 : NaN):2:3:4 with vectors size 0.16, 18 linewidth 1.6 dashtype (4, 3) linecolor rgb vermillion, \
     part('line') using 1:2 with lines linewidth 3 linecolor rgb brown, \
     part('unit') using 5:6 with points pointtype 7 pointsize 0.5 linecolor rgb blue
