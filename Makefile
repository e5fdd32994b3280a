# A thin cover of meson: these targets install what is missing, build, and run.
BUILD ?= build
NINJA := ninja -C $(BUILD)

all: $(BUILD)/build.ninja
	$(NINJA)

$(BUILD)/build.ninja:
	tools/install-packages.sh build
	meson setup $(BUILD)

packages-test:
	tools/install-packages.sh build test

check: packages-test all
	meson test -C $(BUILD) --setup full --print-errorlogs

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD)

.PHONY: all check install clean packages-test
