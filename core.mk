# SPDX-License-Identifier: MIT
#
#   make core      libspherelu-core.a and its tests, in build/core, by a C compiler, libc and make alone
#   make core SAN=memory    the same under clang's sanitizer of memory that nobody wrote, in build/core-memory: it knows
#                           only what it compiled, and all of the core is
#   make core QUICK=1       with four of the tests
#   make core CC=emcc       the same archive for WebAssembly, in build/core-wasm, without the tests: scripts/check-wasm
#
# The rooms of numbers, compiled as CMakeLists.txt does, less the libraries that make them fast. Those can be had by
# hand: CFLAGS='-fopenmp -DSPH_SLEEF -DSPH_BLAS=\"libopenblas.so.0\"' LDLIBS="-fopenmp -lsleef". WERROR=1: warnings are errors.
ifeq ($(origin CC),default)
CC := $(if $(SAN),clang,gcc)
endif
machine := $(shell $(CC) -dumpmachine)
wasm    := $(filter wasm32-%,$(machine))
ifneq ($(wasm),)
AR := emar
endif
BUILD ?= build
comma := ,
core  := $(BUILD)/core$(if $(wasm),-wasm)$(if $(SAN),-$(subst $(comma),-,$(SAN)))

# ---------------------------------------------------------------- sources
rooms    := base comm compute param layer net rows train boundary
included := $(shell sed -n 's:.*"\(compute/.*\.c\)".*:src/\1:p' src/compute/variant.c)
sources  := $(filter-out $(included) src/compute/variant.c,$(sort $(wildcard $(rooms:%=src/%/*.c))))

# The tests that need nothing but these rooms.
tests := test_api test_arena test_boundaries test_conv_convert test_conv_gradients test_convert test_cursor test_data_scaling \
         test_golden test_golden_conv test_golden_losses test_gradients test_hyperplane test_kernels_act test_kernels_angles \
         test_kernels_image test_kernels_loss test_kernels_matrix test_kernels_moves test_kernels_norm \
         test_kernels_unit test_losses test_memory test_metrics test_norms test_onednn test_param test_perturb test_plan test_random test_regions \
         test_regions_cases test_split test_text test_theory test_tracker test_train_loop test_train_schedule \
         test_train_scores test_train_stop test_trainer test_watch test_winograd test_zoo
ifdef QUICK
tests := test_api test_golden test_gradients test_train_loop
endif

# ---------------------------------------------------------------- flags
CFLAGS ?=
san := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer \
       $(if $(findstring memory,$(SAN)),-fsanitize-memory-track-origins))
variants := plain base $(if $(filter x86_64-%,$(filter-out %x32,$(machine))),avx2 avx512)
version := $(shell sed -n 's/^project.spherelu VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
OPTIMIZE ?= -O2 -g
flags := -std=c17 $(OPTIMIZE) -fPIC -fvisibility=hidden -DSPH_BUILD_SHARED -D_GNU_SOURCE=1 -DSPH_VERSION='"$(version)"' -Iinclude -Isrc \
         -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(WERROR),-Werror) $(san) \
         $(if $(filter avx2,$(variants)),-DSPH_HAVE_AVX2 -DSPH_HAVE_AVX512)
plain := -O2 -ffp-contract=off
base  := -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp-simd -DKERNELS_FAST $(if $(wasm),-msimd128)
avx2  := $(base) -mavx2 -mfma
avx512 := $(avx2) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
test_flags := -ffp-contract=off -Itests/stand_in -Itests -DSPH_TESTS_DIR='"$(CURDIR)/tests"'
compile = @mkdir -p $(@D); $(CC) $(flags) $(1) $(CFLAGS) -MMD -MP -c $< -o $@

# ---------------------------------------------------------------- rules
.PHONY: all library summary smoke
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
all: library $(if $(wasm),,summary)
library: $(core)/libspherelu-core.a

# Compiled anew when the compiler or its flags are others.
stamp := $(CC) $(flags) $(CFLAGS) $(plain) $(avx512) $(LDLIBS)
ifneq ($(strip $(stamp)),$(strip $(file <$(core)/flags)))
$(shell mkdir -p $(core))
$(file >$(core)/flags,$(stamp))
endif

kernels := $(filter-out avx512_f64,$(foreach v,$(variants),$(v)_f32 $(v)_f64))
objects := $(sources:src/%.c=$(core)/%.o) $(kernels:%=$(core)/compute/kernels_%.o)

$(core)/%.o: src/%.c $(core)/flags
	$(call compile)
$(kernels:%=$(core)/compute/kernels_%.o): $(core)/compute/kernels_%.o: src/compute/variant.c $(core)/flags
	$(call compile,$($(firstword $(subst _, ,$*))) -DREAL_BITS=$(lastword $(subst _f, ,$*)) -DKERNELS_TABLE=kernels_$*)
$(core)/tests/%.o: tests/%.c $(core)/flags
	$(call compile,$(test_flags))

# What is installed shows sph_ names only: all objects become one, in which hidden names are local. Tests see them all.
$(core)/internals.a: $(objects)
	@rm -f $@; $(AR) rcs $@ $^
$(core)/libspherelu-core.a: $(objects)
	@echo "core: $@ ($(words $(objects)) objects, kernels $(strip $(variants)))"
ifneq ($(wasm),)
	@rm -f $@; $(AR) rcs $@ $^
else
	@$(CC) -r -nostdlib -o $(core)/whole.o $^ && objcopy --localize-hidden $(core)/whole.o
	@rm -f $@; $(AR) rcs $@ $(core)/whole.o; rm $(core)/whole.o
endif

$(tests:%=$(core)/tests/%): %: %.o $(core)/tests/fault.o $(core)/internals.a
	@$(CC) $(CFLAGS) $(san) -Wl,--wrap=mem_get -Wl,--wrap=mem_get_large -Wl,--wrap=mem_resize $^ $(LDLIBS) -lm -pthread -o $@

# A test's log is there once it has passed; 77 says that there is nothing to test here.
$(tests:%=$(core)/tests/%.log): $(core)/tests/%.log: $(core)/tests/%
	@cd $(@D); $(if $(SAN),SPH_LAYER=check )./$* >$*.running 2>&1 || [ $$? = 77 ] || { cat $*.running; echo "core: $* FAILED"; exit 1; }
	@mv $(@:.log=.running) $@; echo "core: passed $*"

summary: $(tests:%=$(core)/tests/%.log)
	@echo "core: $(words $^) test programs passed," \
	    "$$(cat $^ | grep -c '^\[       OK') cases, $$(cat $^ | grep -c '^\[  SKIPPED') skipped"

# The same training here and in node: scripts/check-wasm compares. The module is read at once: newer nodes have a fetch,
# which emscripten 3.1 takes for a browser's.
link_wasm := -sALLOW_MEMORY_GROWTH=1 -sWASM_ASYNC_COMPILATION=0
smoke: $(core)/tests/wasm/smoke$(if $(wasm),.js)
$(core)/tests/wasm/smoke $(core)/tests/wasm/smoke.js: $(core)/tests/wasm/smoke.o $(core)/internals.a
	@$(CC) $(CFLAGS) $(if $(WERROR),-Werror) $^ $(LDLIBS) -lm $(if $(wasm),$(link_wasm),-pthread) -o $@

-include $(wildcard $(core)/*/*.d $(core)/tests/wasm/*.d)
