# SPDX-License-Identifier: MIT
#
# sph_need(name pkg-config-name header library debian-package): the imported target dep::name, or an error that
# names the package. pkg-config is only a hint: not every distribution ships every .pc file.
# sph_want(name pkg-config-name header library): the target, or none.
find_package(PkgConfig QUIET)

function(sph_want name pc header library)
  if(PkgConfig_FOUND AND pc)
    pkg_check_modules(hint_${name} QUIET ${pc})
  endif()
  find_path(${name}_INCLUDE ${header} HINTS ${hint_${name}_INCLUDE_DIRS})
  find_library(${name}_LIBRARY ${library} HINTS ${hint_${name}_LIBRARY_DIRS})
  mark_as_advanced(${name}_INCLUDE ${name}_LIBRARY)
  if(NOT ${name}_INCLUDE OR NOT ${name}_LIBRARY)
    return()
  endif()
  add_library(dep::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(dep::${name} PROPERTIES IMPORTED_LOCATION ${${name}_LIBRARY}
                        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${${name}_INCLUDE})
endfunction()

function(sph_need name pc header library package)
  sph_want("${name}" "${pc}" "${header}" "${library}")
  if(NOT TARGET dep::${name})
    message(FATAL_ERROR "${header} or lib${library} not found: install ${package} (scripts/install-deps does)")
  endif()
endfunction()
