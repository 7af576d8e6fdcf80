# SPDX-License-Identifier: MIT
#
# cmake -DOUTPUT=file.c -DSCRIPTS=a.gp,b.css,charts.js [-DUPLOT=dir] -P Scripts.cmake: a C file with the text of each script, as
# src/report/scripts.h declares it. UPLOT: the unpacked uPlot, which becomes the first part of charts.js, behind its licence,
# and uplot.css; without it there is no charts.js.
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
if(UPLOT)
  file(READ ${UPLOT}/LICENSE licence)
  file(READ ${UPLOT}/uPlot.iife.min.js uplot)
  foreach(script IN LISTS SCRIPTS)
    if(script MATCHES "charts\\.js$")
      file(READ ${script} charts)
    endif()
  endforeach()
  file(WRITE made/charts.js "/*! uPlot\n${licence}\n*/\n${uplot}\n${charts}")
  configure_file(${UPLOT}/uPlot.min.css made/uplot.css COPYONLY)
endif()
list(FILTER SCRIPTS EXCLUDE REGEX "charts\\.js$")
if(UPLOT)
  list(APPEND SCRIPTS made/charts.js made/uplot.css)
endif()
set(arrays "")
set(table "")
foreach(script IN LISTS SCRIPTS)
  get_filename_component(name ${script} NAME)
  string(REGEX REPLACE "\\.gp$" "" name ${name})
  string(MAKE_C_IDENTIFIER ${name} word)
  file(READ ${script} bytes HEX)
  file(SHA256 ${script} sum)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n"
         bytes "${bytes}")
  string(REGEX REPLACE "(..)" "\\\\x\\1" sum "${sum}")
  string(APPEND arrays "static const unsigned char ${word}[] = {\n${bytes}0};\n")
  string(APPEND table "    {\"${name}\", ${word}, \"${sum}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made from figures/ by cmake/Scripts.cmake. */\n#include \"report/scripts.h\"\n\n${arrays}
const struct figure_script figure_scripts[] = {\n${table}    {0, 0, 0},\n};\n")
