# SPDX-License-Identifier: MIT
#
# The installed tree, under a path with a blank and moved once: a project of somebody else's builds with it by find_package and by
# pkg-config, shared and static, and its programs run.
. "$(dirname "$0")/lib.bash"
if [ -n "${SPH_SAN:-}" ]; then
    skipped "a sanitized library is nobody's to link"
    exit 77
fi
check "installed" cmake --install "$(dirname "$SPHERELU")" --prefix "$work/first place" >log 2>&1
mv "first place" "a place"
prefix="$work/a place"
libdir=$(dirname "$(find "$prefix" -name libspherelu.a)")
version=$("$SPHERELU" --version | sed -n '1s/spherelu //p')
check "the tool runs" "$prefix/bin/spherelu" --version >log
check "its manual" test -s "$prefix/share/man/man1/spherelu.1"
cp -r "$SOURCE_DIR/tests/consumer" project

for static in OFF ON; do
    check "configured, static $static" cmake -S project -B "by cmake $static" -Dspherelu_STATIC=$static "-DCMAKE_PREFIX_PATH=$prefix" >log 2>&1
    check "built, static $static" cmake --build "by cmake $static" >log 2>&1 || tail -n 5 log
    check "runs, static $static" "./by cmake $static/whole" >out
    check "its version" grep -qx "$version: 2 features" out
    check "the core runs" "./by cmake $static/numbers" >out
done
check "shared is shared" sh -c "ldd 'by cmake OFF/whole' | grep -q 'a place.*libspherelu.so'"
check "static is not" sh -c "! ldd 'by cmake ON/whole' | grep -q libspherelu"
check "another version is refused" sh -c "! sed 's/spherelu 0.2/spherelu 9/' project/CMakeLists.txt >project/new || \
    { mv project/new project/CMakeLists.txt && ! cmake -S project -B wrong '-DCMAKE_PREFIX_PATH=$prefix' >log 2>&1; }"

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    build() { eval "cc '$1' -o '$2' $(pkg-config --cflags "$3") $4"; } # pkg-config writes words for a shell
    check "whole, shared" build project/whole.c whole spherelu "$(pkg-config --libs spherelu)"
    check "it runs" ./whole >out
    check "numbers, shared" build project/numbers.c numbers spherelu-core "$(pkg-config --libs spherelu-core)"
    check "it runs" ./numbers >out
    static() { pkg-config --static --libs "$1" | sed "s/-l$1\( \|$\)/-l:lib$1.a /"; }
    check "whole, static" build project/whole.c whole_static spherelu "$(static spherelu)"
    check "it runs" ./whole_static >out
    check "numbers, static" build project/numbers.c numbers_static spherelu-core "$(static spherelu-core)"
    check "it runs" ./numbers_static >out
    check "static is not shared" sh -c "! ldd whole_static | grep -q libspherelu"
else
    skipped "pkg-config is not installed"
fi
finish
