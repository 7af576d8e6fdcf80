# SPDX-License-Identifier: MIT
#
#   make run       build, compare four methods on the embedded crescents, print the table
#   make figures   the papers' figures, made by experiments/, in build/figures
#   make test      build, all tests but the long ones (minutes)    make check       the quick ones (seconds)
#   make test-data the tests that need real data, with SPHERELU_DATA set
#   make test-long everything (hours), in stages: scripts/test-long. tests/README.md describes the layers
#   make bench     against PyTorch, side by side
#   make fuzz      the file readers, FUZZ_SECONDS=60 each; make fuzz-coverage: the share of their lines that ran
#   make playground           the page that trains in a browser, build/playground.html    make check-playground    its types and style
#   make core      libspherelu-core and its tests by a C compiler and make alone    make wasm    the same in node
#   make install PREFIX=/usr/local      make clean      make format      make tidy
#   make deb       Debian packages, in BUILD/deb (packaging/)
#   make site      the documentation as a static site, in BUILD/site (MkDocs from the Python index)
#   make docs      docs/cli.md and man/spherelu.1, from the help of the tool
#   make release   -O3 -DNDEBUG -flto, in build-release; other targets do with RELEASE=1: make install RELEASE=1
#
# One line per stage; what a stage said stands in BUILD/*.log, and is shown when it fails. V=1 shows all as it comes.
# CC=clang, SAN=address,undefined or SAN=thread (builds in build-SAN; make core has SAN=memory), WERROR=1 (warnings are errors), BUILD=dir
ifeq ($(origin CC),default)
CC := $(if $(findstring thread,$(SAN)),clang,gcc)
endif
comma  := ,
BUILD  ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(RELEASE),-release)
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
export V
sets   := build figures charts downloads $(if $(findstring clang,$(CC)),clang) $(if $(findstring thread,$(SAN)),thread)
build   = @scripts/stage $(BUILD)/build.log "build     " cmake --build $(BUILD) -j$(JOBS)
test   := @scripts/run-tests $(BUILD) -j$(JOBS)
sources = $(wildcard include/*.h src/*/*.[ch] cli/*.[ch] tests/*.[ch] examples/*.c)
options := -DCMAKE_C_COMPILER=$(CC) -DSPH_SAN=$(SAN) -DSPH_WERROR=$(if $(WERROR),ON,OFF) \
           $(if $(RELEASE),-DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON)

.PHONY: all tool configure run figures test test-data check test-long bench install release clean docs format tidy fuzz fuzz-coverage deps core wasm deb site playground check-playground

all: configure
	$(build)

tool: configure
	$(build) --target spherelu

# Once, and when the options change: a build looks by itself whether CMakeLists.txt did.
configure: deps
	@[ -e $(BUILD)/CMakeCache.txt ] && [ "$$(cat $(BUILD)/options 2>/dev/null)" = "$(strip $(options))" ] || { \
	    scripts/stage $(BUILD)/configure.log "configure " cmake -S . -B $(BUILD) \
	        $(if $(wildcard $(BUILD)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja)) $(options) && \
	    echo "$(strip $(options))" >$(BUILD)/options; }

deps:
	@LOG=$(BUILD)/packages.log scripts/install-deps $(sets)

release:
	@$(MAKE) --no-print-directory all RELEASE=1

run: tool
	@rm -rf $(BUILD)/run/crescents
	@echo "run        $(BUILD)/spherelu run experiments/crescents.yaml --out $(BUILD)/run/crescents"
	@$(BUILD)/spherelu run experiments/crescents.yaml --out $(BUILD)/run/crescents

# The experiments that draw something, the quick ones first; their data are made or lie in data/. One that fails does not
# keep the others from it.
drawn := fig1 levy levy-moves banana fig4 convergence lr-sensitivity patterns
figures: tool
	@rm -rf $(BUILD)/figures
	@for name in $(drawn); do \
	    echo "== $$name"; $(BUILD)/spherelu run experiments/$$name.yaml --out $(BUILD)/figures/$$name || \
	    failed="$$failed $$name"; done; echo; echo "pictures, their data and scripts:"; \
	    for dir in $(BUILD)/figures/*/figures; do echo "  $$dir"; done; \
	    [ -z "$$failed" ] || { echo "not made:$$failed"; exit 1; }

test test-data: sets += tests
# TESTS='-R name' chooses some: options of ctest.
test: all
	$(test) -LE long $(TESTS)

# The tests with cases that need real data, with the data: SPHERELU_DATA names the folder.
test-data: all
	@[ -n "$$SPHERELU_DATA" ] || { echo "make test-data: set SPHERELU_DATA to the folder with the data sets"; exit 2; }
	$(test) -L data -LE long

# The layers of the tests are described in tests/layers.txt. make check builds only what it runs.
check: configure
	$(build) --target check_programs
	@SPH_LAYER=check $(test:@%=%) -L check

# STAGES names some of its stages.
test-long:
	@scripts/test-long $(STAGES)

bench: tool
	python=$$(scripts/bench-python $(BUILD)) && set -x && \
	    $$python bench/compare.py --tool $(BUILD)/spherelu && \
	    $$python bench/tracker.py --tool $(BUILD)/spherelu && \
	    $$python bench/compare_images.py --tool $(BUILD)/spherelu && \
	    $$python bench/compare_images.py --tool $(BUILD)/spherelu --sizes

# Each target for FUZZ_SECONDS, from its seeds: the broken files of the tests, experiments, tests/fuzz/seeds. FUZZED names
# some of them. The last lines: what each ran and covered, and all executions.
FUZZ_SECONDS ?= 60
FUZZED ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz:
	@scripts/install-deps build clang tests # libcsv, which a target compares with
	@scripts/stage build-fuzz/configure.log "configure " \
	    cmake -S . -B build-fuzz $(if $(wildcard build-fuzz/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja)) \
	        -DCMAKE_C_COMPILER=clang -DSPH_SAN=address,undefined -DSPH_FUZZ=ON -DSPH_ONEDNN=OFF -DSPH_BLAS=OFF
	@scripts/stage build-fuzz/build.log "build     " cmake --build build-fuzz -j$(JOBS) $(FUZZED:%=--target fuzz_%)
	@scripts/fuzz build-fuzz $(FUZZ_SECONDS) $(FUZZED)

# The lines of each reader that the seeds and what make fuzz found run.
fuzz-coverage:
	@scripts/install-deps build clang coverage
	@scripts/stage build-coverage/configure.log "configure " \
	    cmake -S . -B build-coverage $(if $(wildcard build-coverage/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja)) \
	        -DCMAKE_C_COMPILER=clang -DSPH_FUZZ=ON -DSPH_COVERAGE=ON -DCMAKE_BUILD_TYPE=Debug \
	        -DSPH_ONEDNN=OFF -DSPH_BLAS=OFF -DSPH_SLEEF=OFF
	@scripts/stage build-coverage/build.log "build     " cmake --build build-coverage -j$(JOBS) $(FUZZED:%=--target fuzz_%)
	@scripts/fuzz-coverage build-coverage build-fuzz/corpus $(FUZZED)

core:
	@$(MAKE) --no-print-directory -f core.mk $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

wasm:
	@LOG=$(BUILD)/packages.log scripts/install-deps wasm
	@scripts/check-wasm $(BUILD)

# One HTML file with the engine inside. make run and make test do not need what this installs.
playground:
	@LOG=$(BUILD)/packages.log scripts/install-deps playground
	@scripts/stage $(BUILD)/playground.log "playground" scripts/make-playground $(BUILD)
	@echo "page       $(BUILD)/playground.html"

check-playground:
	@LOG=$(BUILD)/packages.log scripts/install-deps playground
	@scripts/check-playground $(BUILD)

install: all
	@scripts/stage $(BUILD)/install.log "install   " cmake --install $(BUILD) --prefix $(PREFIX)
	@echo "installed under $(PREFIX); $(BUILD)/install_manifest.txt names each file"

deb: playground
	@scripts/install-deps build downloads packages
	@scripts/stage $(BUILD)/deb.log "packages  " scripts/make-deb $(BUILD)/deb
	@ls $(BUILD)/deb/*.deb

clean:
	rm -rf build build-* playground/node_modules

# The pages that are made from the tool's own help.
docs: tool
	@SPHERELU=$(BUILD)/spherelu scripts/make-cli-docs >$(BUILD)/cli.md && cp $(BUILD)/cli.md docs/cli.md
	@SPHERELU=$(BUILD)/spherelu scripts/make-man >$(BUILD)/spherelu.1 && cp $(BUILD)/spherelu.1 man/spherelu.1

site: tool playground
	@LOG=$(BUILD)/packages.log scripts/install-deps site
	@scripts/stage $(BUILD)/site.log "site      " scripts/make-site $(BUILD)
	@tail -n 1 $(BUILD)/site.log && echo "open $(BUILD)/site/index.html"

format:
	@scripts/install-deps tidy
	clang-format -i $(sources)

tidy: all
	@scripts/install-deps tidy
	clang-tidy -quiet -p $(BUILD) $(filter-out $(shell sed -n 's:.*"\(compute/.*\.c\)".*:src/\1:p' src/compute/variant.c),$(filter src/%.c cli/%.c,$(sources)))
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -Iinclude -Isrc -isrc/compute src cli
