# A thin cover of meson: these targets install what is missing, build, and run.
BUILD ?= build
MESON_OPTIONS ?=
NINJA := ninja -C $(BUILD)
# Tests wait a third of their time, so three of them keep two cores busy.
PROCESSES ?= $(shell echo $$(($$(nproc) * 3 / 2)))
TEST := meson test -C $(BUILD) --no-rebuild --num-processes $(PROCESSES) --print-errorlogs

# Builds fathom as it is installed, without tests, fuzzers and benchmarks.
all: configured
	@targets=$$(tools/installed_targets.py $(BUILD)) && $(NINJA) $$targets

configured: packages-build
	@tools/configure.sh $(BUILD) $(MESON_OPTIONS)

everything: configured
	$(NINJA)

packages-build:
	@tools/install-packages.sh build

packages-test:
	@tools/install-packages.sh build test

packages-lint:
	@tools/install-packages.sh build test lint

packages-dev:
	@tools/install-packages.sh build test lint dev

$(BUILD)/build.ninja: | packages-build
	meson setup $(BUILD) $(MESON_OPTIONS)

# Records a C program, prints where its time went, and serves the pages.
demo: all
	@tools/demo.sh $(BUILD)

# Every test, those in the browser too.
check: packages-test
	@$(MAKE) --no-print-directory everything
	@tools/browser-packages.sh $(BUILD) || echo "make: without npm packages the tests in the browser are skipped" >&2
	$(TEST) --setup full

# For before each commit: the quick tests of fathom itself, with the packages of the build alone.
check-quick: everything
	$(TEST) --setup quick --suite unit --suite cli --no-suite slow --no-suite soak --no-suite browser

# While working: a debug build with sanitizers, and the quick tests of what changed.
dev: packages-dev
	@tools/dev.sh build-dev

# Lays C files out as .clang-format says.
format: packages-lint
	@tools/format.sh

# Layout, and mistakes in C, in shell scripts and in the scripts of the pages. TIDY=--changed looks
# only at the C files that differ from the last commit.
TIDY ?= --all
lint: packages-lint $(BUILD)/build.ninja
	@tools/lint.sh style
	@$(NINJA) >/dev/null
	@tools/lint.sh tidy $(BUILD) $(TIDY)

# Prints the figures of docs/benchmarks.md; installs the peers that it measures against.
bench: everything
	@tools/install-packages.sh build test bench
	bench/run.sh $(BUILD)

# Two minutes of libFuzzer for each target.
fuzz: packages-test
	fuzz/run.sh

# Every configuration of the protocol models; `make check` runs the small ones.
models: packages-test
	models/run.sh all

# What takes too long for every change: four hours. The CGI protocol under 10,000 rounds of 50 clients
# and 2,000 of chaos, and the tests of the suite `soak`.
soak: packages-test everything
	$(TEST) --setup soak --suite soak
	FATHOM_SOAK_ROUNDS=10000 python3 tests/own_folder.py python3 tests/serve/cgi/faults.py \
	    $(BUILD)/tests/serve/cgi/cgi_test_program 12
	FATHOM_CHAOS_ROUNDS=2000 python3 tests/own_folder.py python3 tests/serve/cgi/chaos.py \
	    $(BUILD)/tests/serve/cgi/cgi_test_program

# One tar that runs on other systems without installation: $(BUILD)/fathom-x86_64.tar.xz
bundle: all
	tools/bundle.py $(BUILD) $(BUILD)/fathom-x86_64.tar.xz

install: all
	meson install -C $(BUILD) --no-rebuild

# Removes the files of the last `make install` from this folder.
uninstall:
	$(NINJA) uninstall

clean:
	rm -rf $(BUILD)

.PHONY: all bundle configured everything uninstall demo check check-quick dev format lint bench fuzz models soak install clean packages-build packages-test packages-lint packages-dev
