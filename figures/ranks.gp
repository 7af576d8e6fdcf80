# SPDX-License-Identifier: MIT
#
# Methods by their average rank over several sets of data (Demsar's diagram): the axis on top, the better half named on the
# left, the other on the right; a bar joins methods that are not told apart.
#   rank_I, method_I    by rank; number_I its place in the file; from_G, to_G the ends of bars; critical, sets
#   ranks, groups       the same numbers as data
left = (across + 1) / 2                       # named on the left
high = left > across - left ? left : across - left
bars = 0.32 * groups
longest = 0
do for [i = 0:across - 1] { longest = strlen(value('method_'.i)) > longest ? strlen(value('method_'.i)) : longest }
names = 0.9 + 0.187 * (longest + 6)           # centimetres of the names on one side
axis = 9.0
width = axis + 2 * names
foot = foot_room(width)
height = 2.6 + bars + 0.62 * high + foot
eval page(width, height)
eval foot_draw(width, height)
unset key; unset border; unset tics; unset grid
room = names / axis * (across - 1)            # the same in ranks
set xrange [1 - room:across + room]
low = 0.25 + bars                             # where the first name stands, in centimetres below the axis
set yrange [-(low + 0.62 * high):1.7]
set margins screen 0, screen 1, screen (foot + 0.2) / height, screen 1 - 0.2 / height

set arrow 1 from 1, 0 to across, 0 nohead linewidth 1.2 linecolor rgb black
do for [k = 1:across] {
    set arrow (10 + k) from k, 0 to k, 0.14 nohead linewidth 1.2 linecolor rgb black
    set label (10 + k) sprintf('%d', k) at k, 0.42 center textcolor rgb black
}
set label 1 sprintf('average rank over %d sets', sets) at (1 + across) / 2.0, 0.95 center textcolor rgb black
set arrow 2 from 1, 1.2 to 1 + critical, 1.2 heads size screen 0.006, 90 linewidth 1.2 linecolor rgb black
set label 2 sprintf('CD %.2f', critical) at 1 + critical / 2, 1.52 center textcolor rgb black
do for [i = 0:across - 1] {
    r = value('rank_'.i); c = value('number_'.i) + 1; m = value('method_'.i)
    y = -(low + 0.62 * ((i < left ? i : across - 1 - i) + 0.5))
    side = i < left ? 1 - 0.3 / axis * (across - 1) : across + 0.3 / axis * (across - 1)
    eval sprintf("set arrow %d from %f, 0 to %f, %f nohead %s linewidth 1", 100 + i, r, r, y, method_line(m, c))
    eval sprintf("set arrow %d from %f, %f to %f, %f nohead %s linewidth 1", 200 + i, r, y, side, y, method_line(m, c))
    eval sprintf("set label %d '' at %f, 0 point %s front", 300 + i, r, method_point(m, c))
    eval sprintf("set label %d sprintf('%%s  %%.2f', m, r) noenhanced at %f, %f %s textcolor rgb black", 100 + i, \
                 side + (i < left ? -0.15 : 0.15) / axis * (across - 1), y, i < left ? 'right' : 'left')
}
do for [g = 0:groups - 1] {
    eval sprintf("set arrow %d from %f, %f to %f, %f nohead linewidth 4 linecolor rgb black front", 400 + g, \
                 value('from_'.g) - 0.03, -(0.28 + 0.32 * g), value('to_'.g) + 0.03, -(0.28 + 0.32 * g))
}
plot NaN notitle
