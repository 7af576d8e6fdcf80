# SPDX-License-Identifier: MIT
#
# The look of every figure. Before this stand the figure's variables; after it its script, which opens its page with
#   eval page(width, height)        in centimetres
# then plots; an animation begins each of its pages with
#   eval frame(k)                   k = 1 .. frames
if (!exists('format')) format = 'png'               # png, svg, pdf; animations also gif
if (!exists('output')) output = name.'.'.format
if (!exists('frames')) frames = 1
if (!exists('seconds')) seconds = 0.1
part(p) = name.'.'.p.'.dat'                         # a data file of this figure

set encoding utf8
set loadpath '.'

# ---------------------------------------------------------------- pages
# 10 pt in all formats, so that a figure of this width stands in a paper at its own size. PNG has 200 dots per inch.
font = 'Helvetica'
page_png(w, h) = sprintf("set terminal pngcairo size %d,%d enhanced color rounded pointscale 2.8 linewidth 1.9 ".\
                         "font '%s,20' background '#ffffff'", w / 2.54 * 200, h / 2.54 * 200, font)
page_svg(w, h) = sprintf("set terminal svg size %d,%d enhanced rounded dashlength 0.6 linewidth 0.9 font 'sans-serif,12' ".\
                         "background '#ffffff'", w / 2.54 * 96, h / 2.54 * 96)    # a family that every browser has
page_pdf(w, h) = sprintf("set terminal pdfcairo size %fcm,%fcm enhanced color rounded fontscale 1 linewidth 1.25 font '%s,7'", \
                         w, h, font)
page_gif(w, h) = sprintf("set terminal gif animate delay %d loop 0 optimize size %d,%d enhanced font '%s,11'", \
                         seconds * 100, w / 2.54 * 100, h / 2.54 * 100, font)
page_frames(w, h) = sprintf("set terminal pngcairo size %d,%d enhanced color rounded pointscale 1.5 linewidth 1.1 font '%s,11' ".\
                            "background '#ffffff'", w / 2.54 * 110, h / 2.54 * 110, font)
page(w, h) = format eq 'svg' ? page_svg(w, h)."; set output '".output."'" : \
             format eq 'pdf' ? page_pdf(w, h)."; set output '".output."'" : \
             format eq 'gif' ? page_gif(w, h)."; set output '".output."'" : \
             format eq 'frames' ? page_frames(w, h) : page_png(w, h)."; set output '".output."'"
# Frames are files of their own; svg, pdf and png show the last one only.
frame(k) = format eq 'frames' ? sprintf("set output '%s.frame%05d.png'", name, k) : "print ''"
shown(k) = k == frames || format eq 'gif' || format eq 'frames'

# Fonts for labels: a share of the page's own.
points_of = format eq 'png' ? 20 : format eq 'svg' ? 12 : format eq 'pdf' ? 7 : 11
label_font(share) = sprintf(',%.1f', share * points_of)
small_font = label_font(0.65); tiny_font = label_font(0.55)
# How far up numbers and names below an axis go, in gnuplot's characters: those of its SVG are half as high again.
tics_up = format eq 'svg' ? 0.6 : 0.3; label_up = format eq 'svg' ? 1.05 : 0.6
# A round distance between tics, five or so on an axis of this length.
power(x) = 10.0 ** floor(log10(x))
tic_step(x) = (x / 5.0 / power(x / 5.0) < 1.5 ? 1 : x / 5.0 / power(x / 5.0) < 3.5 ? 2 : \
               x / 5.0 / power(x / 5.0) < 7.5 ? 5 : 10) * power(x / 5.0)
# The same where an axis is one of this many side by side: fewer where tics would run into each other.
wide_step(x, across) = tic_step(across > 4 ? 2.0 * x : x)
# A legend over the whole width of a page, whose names are legend_0, ... in as many rows as they need:
#   eval legend_measure(count, width)            gives legend_rows
#   legend_x(c, width), legend_y(c, height, y)   then say where name c stands: its lowest row is y centimetres high
legend_width(s) = 1.3 + 0.17 * strlen(s)
legend_measure(n, w) = sprintf("legend_rows = 1; legend_at = 0.3; array legend_left[%d]; array legend_line[%d]; ".\
    "do for [legend_c = 1:%d] { legend_w = legend_width(value('legend_'.(legend_c - 1))); ".\
    "if (legend_at + legend_w > %f && legend_at > 0.3) { legend_rows = legend_rows + 1; legend_at = 0.3 }; ".\
    "legend_left[legend_c] = legend_at; legend_line[legend_c] = legend_rows; legend_at = legend_at + legend_w }", n, n, n, w)
legend_x(c, w) = legend_left[c + 1] / w
legend_y(c, h, y) = (y + 0.5 * (legend_rows - legend_line[c + 1])) / h
# Centimetres for the tic labels of a vertical axis.
tic_room(low, high) = 0.3 + 0.19 * (strlen(sprintf('%g', tic_step(high - low))) > strlen(sprintf('%.0f', abs(low) > abs(high) ? low : high)) ? \
                                    strlen(sprintf('%g', tic_step(high - low))) + 1 : strlen(sprintf('%.0f', abs(low) > abs(high) ? low : high)) + 1)
# A plane's panel of some width: one unit on both axes where their lengths are alike, else a square.
alike(x, y) = x < 3.0 * y && y < 3.0 * x
panel_ratio(x, y) = alike(x, y) ? -1 : 1
panel_height(width, x, y) = alike(x, y) ? width * y / x : width

# ---------------------------------------------------------------- colours
# Okabe and Ito's, which colour-blind readers tell apart; yellow is too pale for lines on white and is left out.
vermillion = '#D55E00'; orange = '#E69F00'; sky = '#56B4E9'; purple = '#CC79A7'
green = '#009E73'; blue = '#0072B2'; black = '#000000'; grey = '#777777'; brown = '#8C510A'
colours = '#0072B2 #D55E00 #009E73 #E69F00 #CC79A7 #56B4E9 #000000 #8C510A #777777 #6A3D9A'
colour(i) = word(colours, (int(i) - 1) % words(colours) + 1)      # i from 1: units, whatever has no name of its own

# A row of class c of some; 0 classes: it has none. (a number, for `linecolor rgb variable`)
class_colour(c, classes) = classes == 0 ? 0x333333 : classes == 2 ? (int(c) ? 0xE69F00 : 0x0072B2) : \
                           int('0x'.substr(colour(c + 1), 2, 7))

# A method has one colour and one dash everywhere, so that figures also read in black and white.
set style line 1 linecolor rgb vermillion linewidth 2   dashtype 1                # SP
set style line 2 linecolor rgb orange     linewidth 2   dashtype (10, 4)          # WN
set style line 3 linecolor rgb sky        linewidth 2   dashtype (14, 4, 3, 4)    # BN
set style line 4 linecolor rgb purple     linewidth 2   dashtype (3, 3)           # LN
set style line 5 linecolor rgb grey       linewidth 2   dashtype (6, 3)           # MBN, WN+MBN
set style line 6 linecolor rgb blue       linewidth 2.6 dashtype 1                # GmP
set style line 7 linecolor rgb green      linewidth 2.6 dashtype 1                # GmP+IMN
set style line 8 linecolor rgb black      linewidth 2   dashtype (14, 4)          # sphere
set style line 9 linecolor rgb brown      linewidth 2   dashtype (3, 3, 10, 3)    # sphere+IMN
do for [i = 1:10] { set style line 20 + i linecolor rgb colour(i) linewidth 2 dashtype i % 5 + 1 }

methods = 'SP WN BN LN MBN GmP GmP+IMN Sphere Sphere+IMN SP+BN SP+LN WN+MBN GmP+BN sphere gmp sp wn'
styles = '1 2 3 4 5 6 7 8 9 3 4 5 7 8 6 1 2'
place(m) = sum [i = 1:words(methods)] (word(methods, i) eq m ? i : 0)
# The line style of method m, the i-th of this figure (from 1).
style(m, i) = place(m) > 0 ? int(word(styles, place(m))) : 20 + (int(i) - 1) % 10 + 1

# ---------------------------------------------------------------- axes
set border 3 linewidth 0.8 linecolor rgb '#333333'
set tics nomirror out scale 0.5 textcolor rgb '#333333'
set grid linecolor rgb '#E4E4E4' linewidth 0.6 linetype 1
set key noenhanced top right reverse Left samplen 2.5 spacing (format eq 'svg' ? 0.85 : 1.15)
set xtics offset 0, tics_up - 0.3
set xlabel offset 0, label_up - 0.6
set style fill solid 1.0 noborder
set pointsize 0.3
set samples 400
