#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The playground in Chromium: playground/tests. Skipped, with the reason, where node, chromium or the page are missing.
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../../scripts/test-playground" "$(dirname "$SPHERELU")"
