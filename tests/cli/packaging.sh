# SPDX-License-Identifier: MIT
#
# What packaging/ says of the program is so: its version everywhere, its soname in the package's name, and Debian's packages that it is
# built with are those that scripts/install-deps installs. (make deb builds them, scripts/check-deb tries them.)
. "$(dirname "$0")/lib.bash"
cd "$SOURCE_DIR" || exit 1
version=$(sed -n 's/^project(spherelu VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
debian=packaging/debian

same() { [ "$1" = "$2" ] || { echo "  '$1' is not '$2'" && false; }; }
check "the tool's version" same "$version" "$("$SPHERELU" --version | sed -n '1s/spherelu //p')"
check "Debian's version" same "$version-1" "$(sed -n '1s/.*(\(.*\)).*/\1/p' $debian/changelog)"
check "conda's version" same "$version" "$(sed -n 's/^  version: "\(.*\)"/\1/p' packaging/conda/recipe.yaml)"
check "the citation's version" same "$version" "$(sed -n 's/^version: //p' CITATION.cff)"
check "the soname's package" grep -qx "Package: libspherelu${version%.*}" $debian/control
check "and its list of files" test -s "$debian/libspherelu${version%.*}.install"

# cmocka is for tests, gcc, make and libc are Debian's own.
installed() { sed 's/ #.*//' scripts/install-deps | awk -v set="$1=(" 'index($0, set) == 1 { on = 1 } on; on && /\)$/ { exit }' | grep -o '[a-z0-9+.-]*:[<!a-z]' | sed 's/:.*//' | sort -u; }
wanted=$({ installed build && installed downloads; } | grep -vx -e gcc -e make -e libc6-dev -e libcmocka-dev | sort -u)
listed=$(sed -n '/^Build-Depends:/,/^Standards/p' $debian/control | grep -v ^Standards | grep -o '[a-z0-9+.-]*[a-z0-9]\(,\| \[\|$\)' | sed 's/[, ].*//' |
    grep -vx -e debhelper-compat -e Build-Depends -e amd64 -e arm64 | sort -u)
# The modules for MPI are optional; the package spherelu-mpi has those of both families.
listed=$(grep -vx -e libopenmpi-dev -e libmpich-dev <<<"$listed")
check "what Debian builds with is what install-deps installs" same "$listed" "$wanted"

# ---- uPlot for the charts of pages: an archive with another sum, or no registry, leaves nothing and is no failure
mkdir -p "$work/registry/uplot/-"
uplot=$(sed -n 's/^uplot=\([0-9.]*\) .*/\1/p' scripts/install-deps)
echo "another archive" >"$work/registry/uplot/-/uplot-$uplot.tgz"
for registry in "file://$work/registry" "file://$work/none"; do
    rm -rf "$work/charts"
    npm_config_registry=$registry LOG=$work/charts/log scripts/install-deps charts 2>"$work/err"
    check "install-deps charts fails without uPlot" [ $? -eq 0 ]
    check "it does not say what is missing: $(cat "$work/err")" grep -q "uPlot $uplot: optional" "$work/err"
    check "something was left: $(ls "$work/charts")" same log.without "$(ls "$work/charts")"
done

python=${SPH_ONNX_PYTHON:-python3}
if "$python" -c 'import rattler_build' 2>/dev/null; then
    check "conda's recipe is not what rattler-build takes" "$python" scripts/check-conda >"$work/log" 2>&1
    check "another version: $(cat "$work/log")" grep -q "^linux-64: spherelu $version, " "$work/log"
    sed 's/^requirements:/requirement:/' packaging/conda/recipe.yaml >"$work/wrong.yaml"
    check "a wrong key is taken" sh -c '! "$0" -c "from rattler_build import Stage0Recipe; Stage0Recipe.from_file(\"$1\")" 2>/dev/null' "$python" "$work/wrong.yaml"
else
    skipped "the conda recipe ($python has no rattler_build: pip install py-rattler-build; \$SPH_ONNX_PYTHON names another)"
fi
finish
