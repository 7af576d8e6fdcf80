# SPDX-License-Identifier: MIT
#
# Sheets of images that a net is most sure of and wrong about, a strip for each training (of one alone several lines).
#   pK        K from 0: a block for each image: x, y in [0, 1], red, green, blue
#   images_K  how many; most: at most so many, tiles: of them side by side
#   truth_N, given_N   N = K * most + place: what it is; what the net says, and its probability
#   note_K    why panel K is empty, or ''
tile = 1.85; gap = 0.25; words_room = 0.85
panels = down * across
shown = 1                                              # on the fullest sheet
do for [i = 0:panels - 1] { if (value('images_'.i) > shown) { shown = value('images_'.i) } }
across_tiles = shown < tiles && shown > 4 ? shown : shown < tiles ? 4 : tiles
lines_of = int((shown + tiles - 1) / tiles)
strip = lines_of * (tile + words_room + 0.15) + 0.95
width = across_tiles * (tile + gap) + gap
foot = foot_room(width)
height = panels * strip + 0.25 + foot
eval page(width, height)
unset key; unset grid; unset border; unset tics; unset colorbox
short(text) = strlen(text) > 17 ? substr(text, 1, 16).'…' : text
shorter(text) = strlen(text) > 17 ? substr(text, 1, strlen(text) - 5 < 11 ? strlen(text) - 5 : 11).'… '.substr(text, strlen(text) - 3, strlen(text)) : text
word_font = label_font(0.6); head_font = label_font(0.85)
set xrange [0:width]; set yrange [0:height]
set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0; set tmargin at screen 1
eval foot_draw(width, height)
left(j) = gap + (j % tiles) * (tile + gap)
low(i, j) = height - i * strip - 0.95 - (j / tiles) * (tile + words_room + 0.15) - tile
n = 1000
do for [i = 0:panels - 1] {
    said = value('score_'.i)
    set label (n) lettered(i, value('title_'.i)).(said ne '' ? ', '.said : '') at gap, height - i * strip - 0.5 left noenhanced font head_font
    n = n + 1
    if (value('note_'.i) ne '') { set label (n) value('note_'.i) at width / 2, height - i * strip - strip / 2 center noenhanced; n = n + 1 }
    if (value('images_'.i) > 0) {
        do for [j = 0:value('images_'.i) - 1] {
            set label (n) short(value('truth_'.(i * most + j))) at left(j) + tile / 2, low(i, j) - 0.22 center noenhanced font word_font textcolor rgb '#1B7837'
            set label (n + 1) shorter(value('given_'.(i * most + j))) at left(j) + tile / 2, low(i, j) - 0.56 center noenhanced font word_font textcolor rgb '#B2182B'
            n = n + 2
        }
    }
}
empty = 1
do for [i = 0:panels - 1] { if (value('images_'.i) > 0) { empty = 0 } }
if (empty) { plot NaN notitle } else {
    plot for [i = 0:panels - 1] for [j = 0:value('images_'.i) - 1] part('p'.i) index j \
         using ($1 * tile + left(j)):($2 * tile + low(i, j)):3:4:5 with rgbimage
}
