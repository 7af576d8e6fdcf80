# SPDX-License-Identifier: MIT
#
#   make run       build, compare four methods on the embedded crescents, print the table
#   make figures   the papers' figures, made by experiments/, in build/figures
#   make test      build, all tests but the long ones        make check       the quick ones, in seconds
#   make test-long everything, then under the sanitizers     make bench       against PyTorch, side by side
#   make fuzz      the file readers, FUZZ_SECONDS=60 each
#   make install PREFIX=/usr/local      make clean      make format      make tidy
#
# CC=clang, SAN=address,undefined or SAN=thread (builds in build-SAN), WERROR=1 (warnings are errors), BUILD=dir
ifeq ($(origin CC),default)
CC := $(if $(findstring thread,$(SAN)),clang,gcc)
endif
comma  := ,
BUILD  ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
sets   := build figures $(if $(findstring clang,$(CC)),clang) $(if $(findstring thread,$(SAN)),thread)
ctest  := ctest --test-dir $(BUILD) --output-on-failure -j$(JOBS)
sources = $(wildcard include/*.h src/*/*.[ch] cli/*.[ch] tests/*.[ch] examples/*.c)

.PHONY: all tool configure run figures test check test-long bench install clean format tidy fuzz deps core

all: configure
	@cmake --build $(BUILD) -j$(JOBS)

tool: configure
	@cmake --build $(BUILD) -j$(JOBS) --target spherelu

configure: deps
	@cmake -S . -B $(BUILD) $(if $(wildcard $(BUILD)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja)) \
	    -DCMAKE_C_COMPILER=$(CC) -DSPH_SAN=$(SAN) $(if $(WERROR),-DSPH_WERROR=ON) >$(BUILD).log 2>&1 || \
	    { cat $(BUILD).log; exit 1; }
	@mv $(BUILD).log $(BUILD)/configure.log

deps:
	@scripts/install-deps $(sets)

run: tool
	@rm -rf $(BUILD)/run/crescents
	$(BUILD)/spherelu run experiments/crescents.yaml --out $(BUILD)/run/crescents

# The experiments that draw something, the quick ones first. One that cannot run (banana needs banana.csv in
# SPHERELU_DATA) does not keep the others from it.
drawn := fig1 levy banana convergence lr-sensitivity patterns
figures: tool
	@rm -rf $(BUILD)/figures
	@for name in $(drawn); do \
	    echo "== $$name"; $(BUILD)/spherelu run experiments/$$name.yaml --out $(BUILD)/figures/$$name || \
	    failed="$$failed $$name"; done; echo; echo "pictures, their data and scripts:"; \
	    for dir in $(BUILD)/figures/*/figures; do echo "  $$dir"; done; \
	    [ -z "$$failed" ] || { echo "not made:$$failed"; exit 1; }

test: all
	$(ctest) -LE long

check: all
	$(ctest) -L quick

test-long: all
	$(ctest)
	$(MAKE) test SAN=address,undefined
	$(MAKE) test SAN=thread
	$(MAKE) fuzz

bench: tool
	@scripts/install-deps bench
	/usr/bin/python3 bench/compare.py --tool $(BUILD)/spherelu
	/usr/bin/python3 bench/tracker.py --tool $(BUILD)/spherelu
	/usr/bin/python3 bench/compare_images.py --tool $(BUILD)/spherelu

# Each target for FUZZ_SECONDS, from the broken files of the tests.
FUZZ_SECONDS ?= 60
fuzzed := safetensors npz
fuzz:
	@scripts/install-deps build clang
	@cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang -DSPH_SAN=address,undefined -DSPH_FUZZ=ON >/dev/null
	@cmake --build build-fuzz -j$(JOBS) $(fuzzed:%=--target fuzz_%)
	@for reader in $(fuzzed); do \
	    mkdir -p build-fuzz/corpus/$$reader && \
	    build-fuzz/tests/fuzz_$$reader -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
	        build-fuzz/corpus/$$reader tests/bad/$$reader || exit 1; \
	done

core:
	@$(MAKE) --no-print-directory -f core.mk $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

install: all
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-*

format:
	@scripts/install-deps tidy
	clang-format -i $(sources)

tidy: all
	@scripts/install-deps tidy
	clang-tidy -quiet -p $(BUILD) $(filter-out $(shell sed -n 's:.*"\(compute/.*\.c\)".*:src/\1:p' src/compute/variant.c),$(filter src/%.c cli/%.c,$(sources)))
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -Iinclude -Isrc -isrc/compute src cli
