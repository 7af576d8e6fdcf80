#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} -DSPH_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib
cmake --build build-conda
cmake --install build-conda
