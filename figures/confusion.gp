# SPDX-License-Identifier: MIT
#
# Confusion matrices: a line for each true class, a column for each predicted class; the darker, the larger the
# share of the line.
#   pK       K from 0: place of the predicted class, of the true class, share, rows, and the numbers of both classes
#   name_C   the name of the class at place C; classes: how many there are, all_classes: of so many
#   counts   whether there is room for numbers
#   note_K   why panel K is empty, or ''
longest = 0
do for [c = 0:classes - 1] { if (strlen(value('name_'.c)) > longest) { longest = strlen(value('name_'.c)) } }
named = classes <= 30
room = named ? 0.35 + (classes <= 12 ? 0.135 : 0.11) * (longest < 18 ? longest : 18) : 0.4
side = classes <= 12 ? 5.2 : 7.2
width = room + 1.2 + (side + 0.6) * across
foot = foot_room(width)
height = (side + 1.9) * down + room + 0.9 + foot
eval page(width, height)
short(text) = strlen(text) > 18 ? substr(text, 1, 17).'…' : text
unset key; unset grid
set xrange [-0.5:classes - 0.5]; set yrange [classes - 0.5:-0.5]
set cbrange [0:1]
set palette defined (0 '#FFFFFF', 0.25 '#C9D9EC', 0.6 '#5E8FC4', 1 '#0B3C7D')
unset colorbox
set border 15
set tics scale 0
cell_font = label_font(classes <= 5 ? 0.75 : classes <= 10 ? 0.6 : 0.5)
name_font = label_font(classes <= 12 ? 0.65 : classes <= 20 ? 0.5 : 0.38)
eval foot_draw(width, height)
set multiplot layout down, across margins screen (room + 1.2) / width, 1 - 0.4 / width, (room + 0.95 + foot) / height, 1 - 1.3 / height \
    spacing screen 0.6 / width, 1.9 / height
do for [i = 0:down * across - 1] {
    set title lettered(i, value('title_'.i))."\n".value('score_'.i) noenhanced offset 0, -0.6
    unset xtics; unset ytics; unset xlabel; unset ylabel
    if (named) {
        set xtics () rotate by 90 right font name_font noenhanced offset 0, 0.2
        set for [c = 0:classes - 1] xtics add (short(value('name_'.c)) c)
        if (i % across == 0) {
            set ytics () font name_font noenhanced
            set for [c = 0:classes - 1] ytics add (short(value('name_'.c)) c)
        }
    }
    if (i / across == down - 1) { set label 98 'predicted class' at graph 0.5, graph -0.02 - (room + 0.25) / side center }
    if (i % across == 0) { set label 97 (all_classes > classes ? sprintf('true class (%d of %d)', classes, all_classes) : 'true class') at graph -0.02 - (room + 0.5) / side, graph 0.5 center rotate by 90 }
    if (value('note_'.i) ne '') {
        set label 99 value('note_'.i) at graph 0.5, 0.5 center noenhanced
        plot NaN notitle
    } else {
        plot part('p'.i) using 1:2:3 with image pixels, \
             part('p'.i) using 1:2:(counts && $4 > 0 ? sprintf('%d', $4) : ''):($3 > 0.5 ? 0xFFFFFF : 0x222222) with labels font cell_font textcolor rgb variable
    }
    unset label; unset arrow
}
unset multiplot
