# SPDX-License-Identifier: MIT
#
# The look of every figure. Before this stand the figure's variables; after it its script, which opens its page with
#   eval page(width, height)        in centimetres
# then plots; an animation plots pages 1 .. frames of it, those for which shown(k), and last_pages times the last one
if (!exists('format')) format = 'png'               # png, svg, pdf; animations also gif
if (!exists('output')) output = name.'.'.format
if (!exists('frames')) frames = 1
if (!exists('seconds')) seconds = 0.1
if (!exists('dots')) dots = 200                     # per inch, of png
part(p) = name.'.'.p.'.dat'                         # a data file of this figure

set encoding utf8
set loadpath '.'

# ---------------------------------------------------------------- pages
# 10 pt in all formats, so that a figure of this width stands in a paper at its own size.
font = 'Helvetica'
page_png(w, h) = sprintf("set terminal pngcairo size %d,%d enhanced color rounded pointscale %g linewidth %g ".\
                         "font '%s,%g' background '#ffffff'", w / 2.54 * dots, h / 2.54 * dots, 0.014 * dots, 0.0095 * dots, \
                         font, 0.1 * dots)
page_svg(w, h) = sprintf("set terminal svg size %d,%d enhanced rounded dashlength 0.6 linewidth 0.9 font 'sans-serif,12' ".\
                         "background '#ffffff'", w / 2.54 * 96, h / 2.54 * 96)    # a family that every browser has
page_pdf(w, h) = sprintf("set terminal pdfcairo size %fcm,%fcm enhanced color rounded fontscale 1 linewidth 1.25 font '%s,7'", \
                         w, h, font)
page_gif(w, h) = sprintf("set terminal gif animate delay %d loop 0 optimize size %d,%d enhanced linewidth 1.5 ".\
                         "font '%s,12'", seconds * 100, w / 2.54 * 130, h / 2.54 * 130, font)
page(w, h) = format eq 'svg' ? page_svg(w, h)."; set output '".output."'" : \
             format eq 'pdf' ? page_pdf(w, h)."; set output '".output."'" : \
             format eq 'gif' ? page_gif(w, h)."; set output '".output."'" : \
             page_png(w, h)."; set output '".output."'"
# A gif shows all pages of an animation, the last one longer; svg, pdf and png show the last one only.
shown(k) = k == frames || format eq 'gif'
last_pages = format eq 'gif' ? int(2 / seconds) : 0

# Fonts for labels: a share of the page's own.
points_of = format eq 'png' ? 0.1 * dots : format eq 'pdf' ? 7 : 12
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
# The same in a plane's panel: fewer where they are long.
plane_step(x) = tic_step(strlen(sprintf('%g', tic_step(x))) > 3 ? 2.0 * x : x)
# The tics of a logarithmic axis ('x' or 'y') that shows low to high: powers of the base, seven at most, labelled 10^{-3}. With
# fewer than two powers in the range gnuplot chooses the tics, labelled as plain numbers: gnuplot 6 puts some between
# powers, and %L or %T would print the power below. labels = 0 leaves the tics without labels.
power_first(x, base) = ceil(log(x) / log(base) - 1e-6)
power_last(x, base) = floor(log(x) / log(base) + 1e-6)
power_step(low, high, base) = ceil((power_last(high, base) - power_first(low, base) + 1) / 7.0)
log_tics(axis, low, high, base, labels) = \
    !(low > 0) || power_last(high, base) - power_first(low, base) < 1 ? \
    sprintf("set %stics autofreq; set format %s '%s'", axis, axis, labels ? '%g' : '') : \
    sprintf("set %stics (); set for [tic_k = %d:%d:%d] %stics add (%s %d.0 ** tic_k)", axis, power_first(low, base), \
            power_last(high, base), power_step(low, high, base), axis, labels ? sprintf("sprintf('%d^{%%d}', tic_k)", base) : "''", base).\
    (base != 10 || power_step(low, high, base) > 1 ? '' : \
     sprintf("; set for [tic_k = %d:%d] for [tic_m = 2:9] %stics add ('' tic_m * 10.0 ** tic_k 1)", \
             power_first(low, base) - 1, power_last(high, base), axis))
# A key over the whole width of a page, in as many rows as its names need. What it explains is added piece by piece:
#   eval key_begin
#   eval key_add('label_0', 'linestyle 3', '', '')     the variable that has its name; then what stands before it, of
#   eval key_add('k_star', '', '', 'textcolor rgb red') which '' is left out: a line, a point, a star
#   eval key_measure(width)                            gives key_room, its centimetres
#   eval key_draw(width, height, y)                    its lowest row is y centimetres high (key_low(height): at the
#                                                      top of the page); unset label; unset arrow
#                                                      after the first plot of a page
key_begin = "key_count = 0"
key_add(n, l, p, s) = sprintf("key_name_%d = value('%s'); key_line_%d = \"%s\"; key_point_%d = \"%s\"; key_star_%d = \"%s\"; ".\
    "key_count = key_count + 1", key_count, n, key_count, l, key_count, p, key_count, s)
key_width(s) = 1.25 + 0.2 * strlen(s)
key_measure(w) = sprintf("key_rows = 1; key_at = 0.3; array key_left[%d]; array key_row[%d]; ".\
    "do for [key_c = 1:%d] { key_w = key_width(value('key_name_'.(key_c - 1))); ".\
    "if (key_at + key_w > %f && key_at > 0.3) { key_rows = key_rows + 1; key_at = 0.3 }; ".\
    "key_left[key_c] = key_at; key_row[key_c] = key_rows; key_at = key_at + key_w }; key_room = 0.2 + key_gap + 0.55 * key_rows", \
    key_count, key_count, key_count, w)
key_gap = format eq 'svg' ? 0.35 : 0                 # whose titles stand higher
key_low(h) = h - key_room + key_gap + 0.15
key_x(c, w) = key_left[c + 1] / w
key_y(c, h, y) = (y + 0.55 * (key_rows - key_row[c + 1])) / h
key_one(c, w, h, y) = sprintf("set label %d value('key_name_%d') noenhanced at screen %f, screen %f left", 100 + c, c, \
        key_x(c, w) + 0.85 / w, key_y(c, h, y)).\
    (value('key_line_'.c) eq '' ? '' : sprintf("; set arrow %d from screen %f, screen %f rto screen %f, screen 0 %s%s", \
        100 + c, key_x(c, w), key_y(c, h, y), 0.7 / w, value('key_line_'.c)[1:4] eq 'head' ? '' : 'nohead ', value('key_line_'.c))).\
    (value('key_point_'.c) eq '' ? '' : sprintf("; set label %d '' at screen %f, screen %f point %s", 200 + c, \
        key_x(c, w) + 0.35 / w, key_y(c, h, y), value('key_point_'.c))).\
    (value('key_star_'.c) eq '' ? '' : sprintf("; set label %d '★' at screen %f, screen %f center %s", 300 + c, \
        key_x(c, w) + 0.35 / w, key_y(c, h, y), value('key_star_'.c)))
key_draw(w, h, y) = sprintf("do for [key_c = 0:%d] { eval key_one(key_c, %f, %f, %f) }", key_count - 1, w, h, y)

# A method's line in a key, with its mark: what key_add takes.
method_line(m, i) = sprintf('linestyle %d', style(m, i))
method_point(m, i) = sprintf('pointtype %d pointsize 0.45 linecolor rgb %s linewidth 1', mark(m, i), line_colour(m, i))

# At the foot of a page: which seed is shown, and what saw the test rows. foot_room(width) is what it takes.
if (!exists('foot_seed')) foot_seed = ''
if (!exists('foot_leak')) foot_leak = ''
foot_joined = foot_seed.(foot_seed ne '' && foot_leak ne '' ? '; ' : '').foot_leak
foot_long(w) = foot_seed ne '' && foot_leak ne '' && 0.6 + 0.135 * strlen(foot_joined) > w # two lines
foot_room(w) = foot_joined eq '' ? 0 : foot_long(w) ? 0.8 : 0.45
foot_draw(w, h) = foot_joined eq '' ? "" : \
    foot_long(w) ? sprintf("set label 90 foot_seed noenhanced at screen %f, screen %f left font small_font textcolor rgb '#444444'; ".\
                           "set label 91 foot_leak noenhanced at screen %f, screen %f left font small_font textcolor rgb '#444444'", \
                           0.3 / w, 0.65 / h, 0.3 / w, 0.28 / h) : \
    sprintf("set label 90 foot_joined noenhanced at screen %f, screen %f left font small_font textcolor rgb '#444444'", 0.3 / w, 0.28 / h)

# "(c) " before the title of panel i, from 0, where it has a letter: `letters` has one for each, or -.
if (!exists('letters')) letters = ''
letter(i) = i < strlen(letters) && substr(letters, i + 1, i + 1) ne '-' ? '('.substr(letters, i + 1, i + 1).')' : ''
lettered(i, title) = letter(i).(letter(i) ne '' && title ne '' ? ' ' : '').title
# Centimetres for the tic labels of a vertical axis.
tic_room(low, high) = 0.3 + 0.19 * (strlen(sprintf('%g', tic_step(high - low))) > strlen(sprintf('%.0f', abs(low) > abs(high) ? low : high)) ? \
                                    strlen(sprintf('%g', tic_step(high - low))) + 1 : strlen(sprintf('%.0f', abs(low) > abs(high) ? low : high)) + 1)
# A plane's panel of some width: one unit on both axes where their lengths are alike, else a square.
alike(x, y) = x < 3.0 * y && y < 3.0 * x
panel_ratio(x, y) = alike(x, y) ? -1 : 1
panel_height(width, x, y) = alike(x, y) ? width * y / x : width

# ---------------------------------------------------------------- colours
# Okabe and Ito's, which colour-blind readers tell apart. No colour means two things in one picture, and where two are
# alike in grey a dash, a mark or the place tells them apart (scripts/colour-check).
vermillion = '#D55E00'; orange = '#E69F00'; sky = '#56B4E9'; purple = '#CC79A7'; yellow = '#F0E442'
green = '#009E73'; blue = '#0072B2'; black = '#000000'; grey = '#666666'; brown = '#8C510A'
colours = '#0072B2 #D55E00 #009E73 #E69F00 #CC79A7 #56B4E9 #000000 #8C510A #777777 #6A3D9A'
colour(i) = word(colours, (int(i) - 1) % words(colours) + 1)      # i from 1: units, layers, whatever has no name of its own
dash_1 = 1; dash_2 = 2; dash_3 = 4; dash_4 = 3; dash_5 = 5
dash(i) = value('dash_'.((int(i) - 1) % 5 + 1))                   # the same of dashes, and of marks
marks = '7 5 9 13 11 15 6 4 8 12 10 14'
dot(i) = int(word(marks, (int(i) - 1) % words(marks) + 1))

# Classes: of two, dark and pale, as grey too; 0 classes: there are none. Numbers, for `linecolor rgb variable`.
class_colours = '#3B0F70 #F0E442 #009E73 #D55E00 #56B4E9 #CC79A7 #000000 #E69F00 #777777 #0072B2'
class_colour(c, classes) = classes == 0 ? 0x333333 : int('0x'.substr(word(class_colours, int(c) % words(class_colours) + 1), 2, 7))
# Pale ones have a rim.
class_rim(c, classes) = classes == 0 || int(c) % words(class_colours) != 1 ? class_colour(c, classes) : 0x6E6600
star_red = '#D00000'; edge_grey = '#404040'; band_grey = '#DDDDDD'

# A method has one colour, one dash and one mark everywhere, so that figures also read in black and white.
set style line 1 linecolor rgb vermillion linewidth 2   dashtype 1             pointtype 4    # SP
set style line 2 linecolor rgb orange     linewidth 2   dashtype (10, 4)       pointtype 8    # WN
set style line 3 linecolor rgb purple     linewidth 2   dashtype (14, 4, 3, 4) pointtype 6    # BN
set style line 4 linecolor rgb sky        linewidth 2   dashtype (3, 7)        pointtype 10   # LN, GmP he, WN+IMN
set style line 5 linecolor rgb grey       linewidth 2   dashtype (6, 6)        pointtype 12   # MBN, WN+MBN
set style line 6 linecolor rgb blue       linewidth 2.6 dashtype 1             pointtype 7    # GmP
set style line 7 linecolor rgb green      linewidth 2.6 dashtype 1             pointtype 5    # GmP+IMN
set style line 8 linecolor rgb black      linewidth 2   dashtype (14, 4)       pointtype 9    # sphere, SP+IMN
set style line 9 linecolor rgb brown      linewidth 2   dashtype (3, 6, 10, 6) pointtype 13   # sphere+IMN
style_colours = 'vermillion orange purple sky grey blue green black brown'
style_marks = '4 8 6 10 12 7 5 9 13'
do for [i = 1:10] { set style line 20 + i linecolor rgb colour(i) linewidth 2 dashtype dash(i) pointtype dot(i) }

methods = 'SP WN BN LN MBN GmP GmP+IMN Sphere Sphere+IMN SP+BN SP+LN WN+MBN GmP+BN sphere gmp sp wn sp+bn gmp+imn wn+mbn GmP_glorot GmP_he SP+IMN WN+IMN'
styles = '1 2 3 4 5 6 7 8 9 3 4 5 7 8 6 1 2 3 7 5 7 4 8 4'
joined(m) = strstrt(m, ' ') > 0 ? m[1:strstrt(m, ' ') - 1].'_'.m[strstrt(m, ' ') + 1:*] : m    # a name of two words
place(m) = sum [i = 1:words(methods)] (word(methods, i) eq joined(m) ? i : 0)
# The line style of method m, the i-th of this figure (from 1); its mark, and its colour as gnuplot writes it.
style(m, i) = place(m) > 0 ? int(word(styles, place(m))) : 20 + (int(i) - 1) % 10 + 1
mark(m, i) = style(m, i) < 20 ? int(word(style_marks, style(m, i))) : dot(i)
line_colour(m, i) = style(m, i) < 20 ? word(style_colours, style(m, i)) : sprintf('colour(%d)', i)

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
