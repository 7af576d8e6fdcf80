#!/bin/bash
# SPDX-License-Identifier: MIT
#
# As faults.sh, from every place of every command: the first and the last call that is made from there. FAULTS_EACH=all: every
# call, which takes most of a day.
FAULTS_EACH=${FAULTS_EACH:-places} exec bash "$(dirname "$0")/faults.sh"
