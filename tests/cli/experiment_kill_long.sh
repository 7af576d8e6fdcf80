#!/bin/bash
# SPDX-License-Identifier: MIT
#
# As experiment_kill.sh, a hundred times.
KILLS=100 exec bash "$(dirname "$0")/experiment_kill.sh"
