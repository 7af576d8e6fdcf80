# SPDX-License-Identifier: MIT
#
# cmake -DOUTPUT=file.c -DSCRIPTS=a.gp,b.gp -P Scripts.cmake: a C file with the text of each script, as
# src/report/scripts.h declares it.
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
set(arrays "")
set(table "")
foreach(script IN LISTS SCRIPTS)
  get_filename_component(name ${script} NAME)
  string(REGEX REPLACE "\\.gp$" "" name ${name})
  string(MAKE_C_IDENTIFIER ${name} word)
  file(READ ${script} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n"
         bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${word}[] = {\n${bytes}0};\n")
  string(APPEND table "    {\"${name}\", ${word}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made from figures/ by cmake/Scripts.cmake. */\n#include \"report/scripts.h\"\n\n${arrays}
const struct figure_script figure_scripts[] = {\n${table}    {0, 0},\n};\n")
