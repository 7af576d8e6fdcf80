# SPDX-License-Identifier: MIT
#
# Figure 1(a): one unit relu(cos(theta) x_1 + sin(theta) x_2 + lambda) on the plane.
#   unit    theta/degrees lambda u_1 u_2 phi_1 phi_2
#   line    the ends of the boundary
#   arrow   x_1 x_2 dx_1 dx_2 side (1 active, -1 inactive)
eval page(8.5, 8)

stats part('unit') using 1 nooutput; degrees = STATS_min
stats part('unit') using 3:4 nooutput; ux = STATS_min_x; uy = STATS_min_y
stats part('unit') using 5:6 nooutput; px = STATS_min_x; py = STATS_min_y

set size ratio -1
set xrange [-reach:reach]; set yrange [-reach:reach]
set xlabel '{/:Italic x}_1'; set ylabel '{/:Italic x}_2' rotate by 0
unset border; unset key; unset grid
set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '#333333'
set yzeroaxis linetype 1 linewidth 0.8 linecolor rgb '#333333'
unset tics
set arrow 1 from -reach, 0 to reach, 0 size 0.14, 20 filled linewidth 0.8 linecolor rgb '#333333'
set arrow 2 from 0, -reach to 0, reach size 0.14, 20 filled linewidth 0.8 linecolor rgb '#333333'
