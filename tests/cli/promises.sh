#!/bin/bash
# SPDX-License-Identifier: MIT
#
# SECURITY.md and docs/reliability.md name the tests that hold their promises: each promise has one, and each of them exists
# and runs in make test.
. "$(dirname "$0")/lib.bash"
for page in SECURITY.md docs/reliability.md; do
    check "$page names no test" grep -q '`\(cli\|test\)_' "$SOURCE_DIR/$page"
    while read -r name; do
        case $name in
        cli_*) file=tests/cli/${name#cli_}.sh ;;
        python/*) file=${name%::*} ;;
        *) file=tests/$name.c ;;
        esac
        check "$page: $name is no test" [ -e "$SOURCE_DIR/$file" ]
        [[ $name = *::* ]] && check "$page: $name is no test" grep -q "^def ${name#*::}(" "$SOURCE_DIR/$file"
    done < <(grep -oE '`(cli_[a-z_0-9]+|test_[a-z_0-9]+|python/[a-z_/]+\.py(::[a-z_0-9]+)?)`' "$SOURCE_DIR/$page" | tr -d '`' | sort -u)
done
# SECURITY.md says that make test runs them
for name in $(grep -oE '`(cli|test)_[a-z_0-9]+`' "$SOURCE_DIR/SECURITY.md" | tr -d '`' | sort -u); do
    check "SECURITY.md: make test does not run $name" eval '! grep -qE "^$name +long" "$SOURCE_DIR/tests/layers.txt"'
done
while IFS= read -r row; do
    check "a promise without a test: $row" grep -q '| *`[a-z/_.:`, 0-9]*` |$' <<<"$row"
done < <(sed -n '/^## What you can/,/^## What you cannot/p' "$SOURCE_DIR/SECURITY.md" | grep '^|' | grep -v '^| promise\|^| ---')
finish
