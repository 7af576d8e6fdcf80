#!/bin/bash
# SPDX-License-Identifier: MIT
#
# As faults.sh, every call of every command.
FAULTS_EACH='' exec bash "$(dirname "$0")/faults.sh"
