# nslua: plain make. `make help` lists the targets; start with `make demo` or `make test`.
BUILD  ?= build
PREFIX ?= /usr/local
LUA    ?= lua5.4
, := ,
hash := \#
BUSTED ?= /usr/bin/busted
GCOV   ?= gcov

# Debian packages for building and testing, for lint, and for the benches. Any one package of gnuplot will do; they conflict.
GNUPLOT     = $(if $(shell command -v gnuplot 2>/dev/null),,gnuplot-nox)
BUILD_NEEDS = gcc libc6-dev liblua5.4-dev liblapacke-dev libopenblas-serial-dev libsuitesparse-dev libcminpack-dev libedit-dev zlib1g-dev
NEEDS       = $(BUILD_NEEDS) lua5.4 lua-busted tmux locales $(GNUPLOT)
LINT_NEEDS  = clang clang-format lua-check cppcheck shellcheck
BENCH_NEEDS = python3-siconos python3-scipy libmujoco-dev
# Optional: for films, and for the specs that look at pages in a browser.
EXTRAS      = $(GNUPLOT) ffmpeg chromium python3
# For the module nslua.sundials: 1 GB with its dependencies, therefore only installed by `make sundials`.
SUNDIALS_NEEDS = libsundials-dev
# For the module nslua.hdf5.
HDF5_NEEDS = libhdf5-dev
# For the modules nslua.nlopt and nslua.ipopt.
NLOPT_NEEDS = libnlopt-dev
IPOPT_NEEDS = coinor-libipopt-dev
# For the module nslua.mpi.
MPI_NEEDS = libopenmpi-dev
# For sweeps on a cluster of this machine alone, by `make cluster`, and on several hosts.
CLUSTER_NEEDS = slurm-wlm munge parallel
# For notebooks: the kernel, and what runs notebooks and tests kernels.
KERNEL_NEEDS = jupyter-notebook jupyter-console python3-ipykernel python3-nbconvert python3-jupyter-kernel-test
# For formulas in pages: they are embedded where a text has one.
PAGE_NEEDS = libjs-katex fonts-katex libjs-three

# For `make deb`.
DEB_NEEDS = build-essential debhelper fakeroot lintian

# For `make site`.
SITE_NEEDS = mkdocs mkdocs-material

# For `make fuzz` and `make builds`.
FUZZ_NEEDS   = clang libclang-rt-14-dev
FUZZ_SECONDS ?= 60
BUILDS_NEEDS = clang

# A build directory whose name holds "asan" is built with the sanitizers.
ifneq ($(findstring asan,$(BUILD)),)
SAN ?= -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Wl,-z,nodelete
OPT ?= -O1 -g
endif
# A build directory whose name holds "cov" counts the lines and branches that run.
ifneq ($(findstring cov,$(notdir $(BUILD))),)
SAN ?= --coverage -fprofile-abs-path
OPT ?= -O0 -g
endif
SAN ?=
# LTO=yes optimises across files at the link (gcc): steps are 3 % faster, and each link takes most of a minute: packages and
# containers have it. In one partition: where gcc cuts the program in several, the cuts move with its size, and steps of small
# models became up to 30 % slower.
LTO ?=
OPT ?= -O2 -g -ffunction-sections$(if $(LTO), -flto=auto -flto-partition=one)

# A build takes all cores when no -j is given, here or to the make that calls this one (while a Makefile is read, the caller's flags are in
# the environment alone). Several goals, as in `make lint test`, are made one after the other.
ifeq ($(findstring -j,$(shell printf %s "$$MAKEFLAGS")),)
ifeq ($(and $(word 2,$(MAKECMDGOALS)),$(filter-out all fmu $(BUILD)/%,$(MAKECMDGOALS))),)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif
endif

# A line for each file that is made; V=1 shows the commands.
Q   = $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)  $@')

# The specs with a longer form for `make soak`.
SOAK = $(shell grep -rlE '"campaign"|NSLUA_SOAK|NSLUA_RANDOM|#long' spec --include='*_spec.lua')

CSTD       := -std=c11 -D_XOPEN_SOURCE=700
WARN       := -Wall -Wextra -Wpedantic -Wshadow
LUA_CFLAGS := $(shell pkg-config --cflags lua5.4 2>/dev/null || echo -I/usr/include/lua5.4)
CPPFLAGS_ALL = $(CSTD) -Isrc $(LUA_CFLAGS) $(CPPFLAGS)
# initial-exec: each thread has the memory of the few thread-local variables from its start. Memory allocated at first use
# would end the process when the allocation fails.
CFLAGS_ALL   = $(CPPFLAGS_ALL) $(WARN) $(OPT) $(SAN) -fPIC -fno-plt -fvisibility=hidden -ftls-model=initial-exec $(CFLAGS)
LIBS       := -lklu -lamd -lcolamd -lbtf -lsuitesparseconfig -lcminpack -llapacke -lopenblas -lz -lm -ldl -pthread

# The interpreter contains Lua and exports its symbols for C modules, as the stock lua5.4 does: so it needs no liblua at run
# time, and calls do not go through a jump table. Without the static library it is linked with the shared one.
LUA_ARCHIVE := $(filter /%,$(shell $(CC) -print-file-name=liblua5.4.a 2>/dev/null))
LUA_LIB     := $(if $(LUA_ARCHIVE),-Wl$(,)--whole-archive $(LUA_ARCHIVE) -Wl$(,)--no-whole-archive,-llua5.4)

# nslua.sundials is built when the headers of SUNDIALS 6 are installed. The core never links it.
SUNDIALS      := $(shell printf '%s\n' '$(hash)include <ida/ida.h>' '$(hash)include <cvode/cvode.h>' \
                 '$(hash)if SUNDIALS_VERSION_MAJOR != 6' '$(hash)error' \
                 '$(hash)endif' | $(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo $(BUILD)/lib/nslua/sundials.so)
SUNDIALS_OBJ  := $(patsubst %,$(BUILD)/obj/%.o,bind/file/core_functions bind/ode/sundials_module ode/sundials ode/sundials_cvode)
SUNDIALS_LIBS := -lsundials_ida -lsundials_cvode -lsundials_sunnonlinsolfixedpoint -lsundials_sunlinsoldense \
                 -lsundials_sunmatrixdense -lsundials_nvecserial

# nslua.hdf5 is built with the headers of serial HDF5 1.10 or later; Debian's hdf5.pc may name the parallel library.
HDF5_CFLAGS := $(shell pkg-config --cflags hdf5-serial 2>/dev/null || { test ! -d /usr/include/hdf5/serial || \
               echo -I/usr/include/hdf5/serial; })
HDF5_LIBS   := $(shell pkg-config --libs hdf5-serial 2>/dev/null || \
               echo $(patsubst %/libhdf5.so,-L%,$(wildcard /usr/lib/*/hdf5/serial/libhdf5.so)) -lhdf5) -lhdf5_hl
HDF5        := $(shell printf '%s\n' '$(hash)include <hdf5.h>' '$(hash)if !H5_VERSION_GE(1, 10, 2) || defined H5_HAVE_PARALLEL' \
               '$(hash)error' '$(hash)endif' | $(CC) $(CPPFLAGS) $(HDF5_CFLAGS) -E -xc - >/dev/null 2>&1 && \
               echo $(BUILD)/lib/nslua/hdf5.so)
HDF5_OBJ    := $(patsubst src/%.c,$(BUILD)/obj/%.o,src/bind/file/core_functions.c $(sort $(wildcard src/bind/file/hdf5_module.c src/io/hdf5*.c)))

# nslua.nlopt is built with the headers of NLopt, nslua.ipopt with those of IPOPT.
NLOPT        := $(shell echo '$(hash)include <nlopt.h>' | $(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && \
                echo $(BUILD)/lib/nslua/nlopt.so)
NLOPT_OBJ    := $(patsubst %,$(BUILD)/obj/%.o,bind/file/core_functions bind/numerics/nlopt_module solvers/optimise/nlopt)

IPOPT_CFLAGS := $(shell pkg-config --cflags ipopt 2>/dev/null || echo -I/usr/include/coin)
IPOPT_LIBS   := $(shell pkg-config --libs ipopt 2>/dev/null || echo -lipopt)
IPOPT        := $(shell echo '$(hash)include <IpStdCInterface.h>' | $(CC) $(CPPFLAGS) $(IPOPT_CFLAGS) -E -xc - >/dev/null 2>&1 && \
                echo $(BUILD)/lib/nslua/ipopt.so)
IPOPT_OBJ    := $(patsubst %,$(BUILD)/obj/%.o,bind/file/core_functions bind/numerics/ipopt_module solvers/optimise/ipopt)

# nslua.fmu, what ns.fmi.export puts into each unit (FMU): the engine, Lua and the functions of FMI. It exports these functions alone.
# It is built where there is a static library of Lua, by `make fmu`, `make test` and `make install`.
# A shared object cannot refer to the variables stdin, stdout and stderr as that library does: the copy refers to three variables
# of src/fmu/instance.c in their place.
# Each unit has a copy, therefore one without debug information.
FMU_STRIP = $(if $(SAN),,-Wl$(,)--strip-debug)
FMU_OBJ := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(sort $(wildcard src/fmu/*.c)))
FMU_LUA := $(BUILD)/fmu/liblua.a
FMU     := $(if $(LUA_ARCHIVE),$(BUILD)/lib/nslua/fmu.so)

# nslua.mpi is built with the headers of Open MPI.
MPI_CFLAGS := $(shell pkg-config --cflags ompi-c 2>/dev/null || mpicc --showme:compile 2>/dev/null)
MPI_LIBS   := $(shell pkg-config --libs ompi-c 2>/dev/null || mpicc --showme:link 2>/dev/null)
MPI        := $(shell printf '%s\n' '$(hash)include <mpi.h>' '$(hash)if !defined OPEN_MPI || MPI_VERSION < 3' '$(hash)error' \
              '$(hash)endif' | $(CC) $(CPPFLAGS) $(MPI_CFLAGS) -E -xc - >/dev/null 2>&1 && echo $(BUILD)/lib/nslua/mpi.so)
MPI_OBJ    := $(patsubst %,$(BUILD)/obj/%.o,bind/file/core_functions bind/file/mpi_module workers/mpi workers/tether)

SRC    := $(shell find src -name '*.c' ! -name nslua.c ! -name 'sundials*.c' ! -name 'hdf5*.c' ! -name 'nlopt*.c' ! -name 'ipopt*.c' ! -name mpi.c ! -name mpi_module.c ! -name tether.c ! -name core_functions.c ! -path 'src/repl/*' ! -path 'src/fmu/*' | sort)
HOST   := $(patsubst src/%.c,$(BUILD)/obj/%.o,src/nslua.c $(sort $(wildcard src/repl/*.c)))
OBJ    := $(SRC:src/%.c=$(BUILD)/obj/%.o)
# Engine functions bound for specs alone (nslua.internal): the module in the build directory has them, the installed one has not.
INTERNAL := $(patsubst spec/%.c,$(BUILD)/%.o,$(sort $(wildcard spec/internal/*.c)))
CORE   := $(BUILD)/lib/nslua/core.so
NSLUA  := $(BUILD)/bin/nslua
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib/lua/5.4
LUADIR ?= $(PREFIX)/share/lua/5.4

all: $(CORE) $(NSLUA) optional  ## the module and the interpreter, in build/

# The optional modules whose headers are there. One that can not be compiled or linked is left out with a word: the headers may be
# those of another version, or the library may be missing.
OPTIONAL_MODULES = $(SUNDIALS) $(HDF5) $(NLOPT) $(IPOPT) $(MPI)
optional:
	@mkdir -p $(BUILD); test -z "$(strip $(OPTIONAL_MODULES))" || \
	  $(MAKE) --no-print-directory -k $(OPTIONAL_MODULES) 2>$(BUILD)/optional.log || for module in $(OPTIONAL_MODULES); do \
	    $(MAKE) -s -q $$module 2>/dev/null || { rm -f $$module; echo "left out, since it can not be built here (see $(BUILD)/optional.log): $$module"; }; \
	  done

$(CORE): $(OBJ) $(INTERNAL) src/hot.ld
$(BUILD)/public/core.so: $(OBJ) src/hot.ld
# Where the linker knows such scripts (GNU's and LLVM's do).
HOT = $(shell echo 'int f;' | $(CC) -shared -fPIC -xc - $(LDFLAGS) -Wl,-T,src/hot.ld -o $(BUILD)/hot.so 2>/dev/null && echo -Wl,-T,src/hot.ld)
# nodelete: the module stays loaded, since a SIGINT may call its handler while the last Lua state closes the module.
%.so:
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) -Wl,-z,nodelete $(HOT) -o $@ $(filter %.o,$^) $(LDFLAGS) $(LIBS)

$(BUILD)/lib/nslua/sundials.so: $(SUNDIALS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) -o $@ $^ $(LDFLAGS) $(SUNDIALS_LIBS)

# nodelete: HDF5 registers functions that run at the end of the process.
$(BUILD)/lib/nslua/hdf5.so: $(HDF5_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) -Wl,-z,nodelete -o $@ $^ $(LDFLAGS) $(HDF5_LIBS)
$(filter-out %/core_functions.o,$(HDF5_OBJ)): CFLAGS_ALL += $(HDF5_CFLAGS)

$(BUILD)/lib/nslua/nlopt.so: $(NLOPT_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) -Wl,-z,nodelete -o $@ $^ $(LDFLAGS) -lnlopt -lm

$(BUILD)/lib/nslua/ipopt.so: $(IPOPT_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) -Wl,-z,nodelete -o $@ $^ $(LDFLAGS) $(IPOPT_LIBS) -lm
$(BUILD)/obj/solvers/optimise/ipopt.o: CFLAGS_ALL += $(IPOPT_CFLAGS)

$(FMU_LUA): $(LUA_ARCHIVE)
	@mkdir -p $(@D)
	objcopy --redefine-sym stdin=fmu_stdin --redefine-sym stdout=fmu_stdout --redefine-sym stderr=fmu_stderr $< $@

$(BUILD)/lib/nslua/fmu.so: $(OBJ) $(FMU_OBJ) $(FMU_LUA) src/fmu/exports.map
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) $(FMU_STRIP) -Wl,--version-script=src/fmu/exports.map -Wl,-Bsymbolic -Wl,--disable-new-dtags,-rpath,'$$ORIGIN' \
	  -o $@ $(filter-out %.map,$^) $(LDFLAGS) $(LIBS)

# nodelete: Open MPI's threads and the function at the end of the process need the module to the end.
$(BUILD)/lib/nslua/mpi.so: $(MPI_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(SAN) $(OPT) -Wl,-z,nodelete -o $@ $^ $(LDFLAGS) $(MPI_LIBS)
$(BUILD)/obj/workers/mpi.o: CFLAGS_ALL += $(MPI_CFLAGS)

$(NSLUA): $(HOST)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(OPT) -Wl,-E -o $@ $^ $(LUA_LIB) $(LDFLAGS) -ledit -lm -ldl
	@test -e $(BUILD)/../lua/nslua/init.lua || ln -sfn $(CURDIR)/lua $(BUILD)/lua

# The directory of KaTeX, whose files pages with formulas embed; empty when it is not installed.
KATEX ?= $(firstword $(patsubst %/katex.min.js,%,$(wildcard $(addsuffix /katex.min.js,/usr/share/javascript/katex \
           /usr/share/nodejs/katex/dist /usr/local/share/javascript/katex))))
$(BUILD)/katex.h: FORCE
	@mkdir -p $(@D)
	@echo '$(if $(KATEX),$(hash)define NS_KATEX "$(KATEX)")' > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
FORCE:
$(BUILD)/obj/bind/lua/versions.o: CPPFLAGS_ALL += -include $(BUILD)/katex.h
$(BUILD)/obj/bind/lua/versions.o: $(BUILD)/katex.h

# Here loops of a constant length are written out.
$(BUILD)/obj/integrators/euler_moreau/single.o: CFLAGS_ALL += $(if $(filter -O2,$(OPT)),-O3)

# Here loops over the entries of a matrix are vectorised.
$(BUILD)/obj/solvers/balance.o: CFLAGS_ALL += $(if $(filter -O2,$(OPT)),-O3)

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(BUILD)/internal/%.o: spec/internal/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# A host for spec/robust that makes allocations fail.
$(BUILD)/robust/faults: spec/robust/faults.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(WARN) -O1 -g -Wl,-E -o $@ $< $(LUA_LIB) -lm -ldl

# A host for spec/robust that runs a Lua state in each of several threads.
$(BUILD)/robust/threads: spec/robust/threads.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(WARN) $(SAN) -O1 -g -Wl,-E -o $@ $< $(LUA_LIB) -lm -ldl -pthread

# Feeds arbitrary bytes to the readers of files, without a fuzzer: see fuzz_files.c.
FUZZ_OBJ = $(patsubst %,$(BUILD)/obj/%.o,io/csv io/npy io/zip io/checkpoint io/stream io/file io/number \
           base/memory base/text base/error base/status)
$(BUILD)/robust/fuzz_files: spec/robust/fuzz_files.c $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS) -lz -lm

# What imports units (FMU) in spec/fmu: a module of Lua.
$(BUILD)/fmu/importer.so: spec/fmu/importer.c $(patsubst %,$(BUILD)/obj/%.o,io/zip io/file base/memory base/text base/error base/status)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(WARN) $(SAN) -O1 -g -fPIC -shared -fvisibility=hidden -o $@ $^ -lz -ldl -lm

# Modules and preloaded libraries of spec/robust: signals, full disks.
$(BUILD)/robust/%.so: spec/robust/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(WARN) -O1 -g -fPIC -shared -o $@ $< -ldl

-include $(OBJ:.o=.d) $(SUNDIALS_OBJ:.o=.d) $(HDF5_OBJ:.o=.d) $(NLOPT_OBJ:.o=.d) $(IPOPT_OBJ:.o=.d) $(MPI_OBJ:.o=.d) $(FMU_OBJ:.o=.d) $(HOST:.o=.d) $(INTERNAL:.o=.d)

demo: packages  ## install what is missing, build, run a clutch
	@$(MAKE) --no-print-directory all
	$(NSLUA) scripts/clutch.lua

test: packages  ## install what is missing, build, run the specs in both hosts
	@$(MAKE) --no-print-directory all fmu
	@$(ALONE) LUA=$(LUA) BUSTED=$(BUSTED) CC='$(CC)' sh spec/run.sh $(BUILD)

check:  ## the same on a build with AddressSanitizer and UBSan, with the tests that take long and 2,000 random problems
	@NSLUA_LONG=1 NSLUA_RANDOM=$${NSLUA_RANDOM:-2000} $(MAKE) --no-print-directory test BUILD=build-asan

soak: packages  ## the long campaigns: 20,000 random problems, long runs of simulations
	@$(MAKE) --no-print-directory all
	@$(ALONE) NSLUA_RANDOM=$${NSLUA_RANDOM:-20000} NSLUA_SOAK=1 HOSTS=nslua SPECS="$(SOAK)" BUSTED=$(BUSTED) CC='$(CC)' \
	  sh spec/run.sh $(BUILD)

# Two machines: one with nothing, one with what many have: OpenBLAS with threads, a pager, the libraries of optional modules.
BARE_WITH = libopenblas0-pthread less libhdf5-dev libnlopt-dev coinor-libipopt-dev
bare:  ## demo and test on Debian machines that hold make and git alone (root; a quarter of an hour)
	@$(ALONE) sh spec/bare.sh "" "$(BARE_WITH)"

coverage: packages  ## which lines and branches of the C sources the specs run (gcc and its gcov)
	@$(MAKE) --no-print-directory BUILD=build-cov all
	@find build-cov -name '*.gcda' -delete
	@status=0; $(ALONE) HOSTS=nslua BUSTED=$(BUSTED) CC='$(CC)' sh spec/run.sh build-cov || status=$$?; \
	  $(LUA) spec/coverage.lua build-cov $(GCOV) && exit $$status

fuzz: packages  ## libFuzzer (clang) on the readers of files, FUZZ_SECONDS=60 each
	@$(call provide,$(FUZZ_NEEDS))
	@$(MAKE) --no-print-directory all
	@FUZZ_SECONDS=$(FUZZ_SECONDS) sh spec/robust/fuzz.sh $(BUILD)

builds: packages  ## builds and specs with gcc and clang, each at -O0 and -O3
	@$(call provide,$(BUILDS_NEEDS))
	@$(ALONE) sh spec/builds.sh

format: lint-packages  ## lays the C sources out as .clang-format says
	@find src spec/internal -name '*.[ch]' | sort | xargs clang-format -i

lint: lint-packages  ## layers, names, layout, compiler warnings, luacheck, cppcheck, shellcheck
	@CC='$(CC)' CPPFLAGS="$(CPPFLAGS_ALL) $(HDF5_CFLAGS) $(IPOPT_CFLAGS) $(MPI_CFLAGS)" WARN="$(WARN)" sh spec/lint.sh

bench: packages  ## side by side with peers
	@$(MAKE) --no-print-directory all
	@$(call provide,$(BENCH_NEEDS)) || echo "bench: going on without $(BENCH_NEEDS)"
	@set -e; found=; for f in bench/bench_*.lua; do test -f $$f || continue; found=1; echo "== $$f"; $(NSLUA) $$f; done; \
	  test "$$found" || echo "bench: no measurements in bench/ yet"

# A commit that stays the same, so that small losses can't add up unseen; `make compare` builds it once. REFERENCE= is none.
REFERENCE    ?= faac5b7a
reference_dir = build-reference/$(REFERENCE)

compare: all $(if $(REFERENCE),$(reference_dir)/build/bin/nslua)  ## times of this build over another one's (OLD=its directory) and a fixed one's
	$(if $(OLD)$(REFERENCE),,$(error compare: OLD=DIRECTORY or REFERENCE=COMMIT is missing; TABLES="clutch linear ..." chooses tables))
	$(NSLUA) bench/compare.lua $(or $(OLD),$(reference_dir)) . $(if $(and $(OLD),$(REFERENCE)),--reference $(reference_dir)) $(TABLES)

$(reference_dir)/build/bin/nslua:
	rm -rf $(reference_dir)
	mkdir -p $(reference_dir)
	git archive $(REFERENCE) | tar -x -C $(reference_dir)
	make --no-print-directory -C $(reference_dir) BUILD=build

# Paths, quoted for the shell: PREFIX and DESTDIR may hold blanks.
quote = '$(subst ','\'',$(1))'
TO_BIN   = $(call quote,$(DESTDIR)$(BINDIR))
TO_LIB   = $(call quote,$(DESTDIR)$(LIBDIR)/nslua)
TO_LUA   = $(call quote,$(DESTDIR)$(LUADIR)/nslua)
TO_SHARE = $(call quote,$(DESTDIR)$(PREFIX)/share)
# The kernel's file is not looked at before Jupyter starts it: ipykernel need not be there.
KERNEL   = io.write(require "nslua.notebook.install".text("python3", os.getenv "KERNEL_FILE", os.getenv "KERNEL_PROGRAM"))
install: all $(FMU) $(BUILD)/public/core.so  ## PREFIX=/usr/local DESTDIR=
	install -d $(TO_BIN) $(TO_LIB) $(TO_LUA) $(TO_SHARE)/nslua/library $(TO_SHARE)/man/man1 $(TO_SHARE)/bash-completion/completions
	install -m 755 $(NSLUA) $(TO_BIN)/nslua
	install -m 755 $(BUILD)/public/core.so $(TO_LIB)/core.so
	for module in $(OPTIONAL_MODULES) $(FMU); do if test -e $$module; then install -m 755 $$module $(TO_LIB) || exit 1; fi; done
	cp -R lua/nslua/. $(TO_LUA)
	cp -R docs/reference/. $(TO_LUA)/reference
	chmod -R u=rwX,go=rX $(TO_LUA)
	$(NSLUA) -e '$(ANNOTATIONS)' > $(TO_SHARE)/nslua/library/nslua.lua
	install -m 644 docs/nslua.1 $(TO_SHARE)/man/man1/nslua.1
	install -m 644 docs/nslua.bash $(TO_SHARE)/bash-completion/completions/nslua
	install -d $(TO_SHARE)/jupyter/kernels/nslua
	KERNEL_FILE=$(call quote,$(LUADIR)/nslua/notebook/nslua_kernel.py) KERNEL_PROGRAM=$(call quote,$(BINDIR)/nslua) \
	  $(NSLUA) -e '$(KERNEL)' > $(TO_SHARE)/jupyter/kernels/nslua/kernel.json

uninstall:  ## takes away what install has put there
	rm -f $(TO_BIN)/nslua $(TO_SHARE)/man/man1/nslua.1 $(TO_SHARE)/bash-completion/completions/nslua
	rm -rf $(TO_LIB) $(TO_LUA) $(TO_SHARE)/nslua $(TO_SHARE)/jupyter/kernels/nslua

VERSION := $(shell sed -n 's/^$(hash)define NS_VERSION "\(.*\)"/\1/p' src/base/version.h)

# The files of the source: those that git has or would take; without git all but the builds.
TREE = if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -coz --exclude-standard | xargs -0 ls -d 2>/dev/null | \
         tar -c --no-recursion -T -; else tar -c --exclude='./build*' .; fi

# make, inside a make, as from the command line.
ALONE = env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u MAKEOVERRIDES

# An optional module that is not built here has no package.
DEB_BUILD_PROFILES += $(if $(HDF5),,pkg.nslua.nohdf5) $(if $(IPOPT),,pkg.nslua.noipopt) $(if $(MPI),,pkg.nslua.nompi) $(if $(NLOPT),,pkg.nslua.nonlopt) \
                      $(if $(SUNDIALS),,pkg.nslua.nosundials)
DEB = $(BUILD)/deb
deb:  ## Debian packages in build/deb/, from a copy of the source
	@$(call provide,$(BUILD_NEEDS) $(DEB_NEEDS))
	rm -rf $(DEB)
	mkdir -p $(DEB)/nslua-$(VERSION)
	@{ $(TREE); } | tar -x -C $(DEB)/nslua-$(VERSION)
	cd $(DEB)/nslua-$(VERSION) && $(ALONE) DEB_BUILD_PROFILES="$(strip $(DEB_BUILD_PROFILES))" dpkg-buildpackage -us -uc -b -j$(shell nproc)
	rm -rf $(DEB)/nslua-$(VERSION)
	lintian --fail-on error,warning $(DEB)/*.changes

# The program of the archive looks for libraries in its lib/nslua first, also for those of the modules that it loads (DT_RPATH).
MOVABLE = $(BUILD)/movable/nslua
$(MOVABLE): $(HOST)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(OPT) -Wl,-E -o $@ $^ $(LUA_LIB) $(LDFLAGS) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib/nslua' -ledit -lm -ldl

# A directory that works wherever it is unpacked, with the libraries of the program and of core.so, but for those of the C library.
DIST_NAME := nslua-$(VERSION)-$(shell uname -s | tr A-Z a-z)-$(shell uname -m)
DIST       = $(BUILD)/dist/$(DIST_NAME)
PACK       = gzip
C_LIBRARY  = linux-vdso|ld-linux|lib(c|m|dl|rt|pthread)\.so
dist: all $(MOVABLE) $(BUILD)/public/core.so  ## build/dist/nslua-VERSION-SYSTEM.tar.gz, which runs where it is unpacked
	rm -rf $(BUILD)/dist
	@$(MAKE) --no-print-directory install DESTDIR=$(BUILD)/dist PREFIX=/$(DIST_NAME) BINDIR=/$(DIST_NAME)/bin \
	  LIBDIR=/$(DIST_NAME)/lib/lua/5.4 LUADIR=/$(DIST_NAME)/share/lua/5.4
	rm -r $(DIST)/share/jupyter
	install -m 755 $(MOVABLE) $(DIST)/bin/nslua
	install -d $(DIST)/lib/nslua $(DIST)/share/doc/nslua/libraries
	@for library in $$(ldd $(MOVABLE) $(BUILD)/public/core.so | awk '/=> \// { print $$3 }' | sort -u | grep -v -E '/($(C_LIBRARY))'); do \
	  cp -L $$library $(DIST)/lib/nslua; \
	  package=$$(dpkg -S "*/$$(basename $$(realpath $$library))" 2>/dev/null | sed -n '1s/:.*//p'); \
	  test -z "$$package" || install -m 644 /usr/share/doc/$$package/copyright $(DIST)/share/doc/nslua/libraries/$$package; \
	done
	strip -g $(DIST)/bin/nslua $(DIST)/lib/lua/5.4/nslua/*.so
	cp -R scripts $(DIST)/share/nslua/scripts
	cp README.md CHANGELOG.md LICENSE docs/install.md $(DIST)/share/doc/nslua
	chmod -R u=rwX,go=rX $(DIST)
	tar -c --sort=name --owner=0 --group=0 --numeric-owner -C $(BUILD)/dist $(DIST_NAME) | $(PACK) > $(DIST).tar.gz

ANNOTATIONS = io.write(require "nslua.help.annotations".text(require "nslua.help".book(), require "nslua"))
docs: all annotations  ## draws the gallery's pictures (docs/gallery/), the tutorial's notebook, and the annotations
	$(NSLUA) docs/gallery.lua
	$(NSLUA) docs/notebook.lua

site:  ## builds the documentation as HTML in build/site/html
	@$(call provide,$(SITE_NEEDS) $(PAGE_NEEDS))
	@$(MAKE) --no-print-directory all
	$(NSLUA) docs/site.lua --into $(BUILD)/site

annotations: all  ## library/nslua.lua: the API for editors
	@mkdir -p library
	$(NSLUA) -e '$(ANNOTATIONS)' > library/nslua.lua

clean:  ## removes build/ and build-asan/
	rm -rf build build-*

help:  ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*  ## \(.*\)/  \1\t\2/p' Makefile

extras:  ## installs optional programs: ffmpeg for films, chromium for specs of pages and pictures in space, KaTeX for formulas, three.js for pages in space
	@$(call provide,$(EXTRAS) $(PAGE_NEEDS))
	@$(MAKE) --no-print-directory all

sundials:  ## installs SUNDIALS (1 GB with what it depends on) and builds the module of ns.dae("ida", ...)
	@$(call provide,$(SUNDIALS_NEEDS))
	@$(MAKE) --no-print-directory all

hdf5:  ## installs HDF5 and builds the module of .h5 files
	@$(call provide,$(HDF5_NEEDS))
	@$(MAKE) --no-print-directory all

mpi:  ## installs Open MPI and builds the module of sweeps by mpirun
	@$(call provide,$(MPI_NEEDS) openmpi-bin)
	@$(MAKE) --no-print-directory all

optimisers:  ## installs NLopt and IPOPT and builds the modules of ns.minimize and of optimal control
	@$(call provide,$(NLOPT_NEEDS) $(IPOPT_NEEDS))
	@$(MAKE) --no-print-directory all

fmu: $(FMU)  ## the library that ns.fmi.export packs into units (FMU)

kernel:  ## installs Jupyter and makes nslua known to it, for this user
	@$(call provide,$(KERNEL_NEEDS))
	@$(MAKE) --no-print-directory all
	$(NSLUA) kernel install --user

CLUSTER = /tmp/nslua-cluster
cluster:  ## installs Slurm and GNU parallel and starts Slurm on this machine alone, in CLUSTER=/tmp/nslua-cluster
	@$(call provide,$(CLUSTER_NEEDS))
	@sh spec/cluster.sh start $(CLUSTER)

cluster-stop:  ## stops that and removes its directory
	@sh spec/cluster.sh stop $(CLUSTER) && rm -rf $(CLUSTER)

packages:
	@$(call provide,$(NEEDS))
build-packages:
	@$(call provide,$(BUILD_NEEDS))
lint-packages:
	@$(call provide,$(NEEDS) $(LINT_NEEDS))

# On Debian installs the missing packages of $(1); elsewhere names the missing libraries.
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
HEADERS = lua.h:Lua-5.4 lapacke.h:LAPACKE cblas.h:OpenBLAS suitesparse/klu.h:SuiteSparse cminpack-1/cminpack.h:cminpack histedit.h:libedit zlib.h:zlib
define provide
if command -v dpkg >/dev/null && command -v apt-get >/dev/null; then \
  missing=$$(for p in $(1); do dpkg -s $$p 2>/dev/null | grep -q '^Status: install ok installed' || echo $$p; done); \
  test -z "$$missing" || { echo "installing:" $$missing; $(SUDO) apt-get -o Acquire::Retries=3 update && \
    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y --no-install-recommends $$missing; }; \
else \
  missing=$$(for h in $(HEADERS); do echo "#include <$${h%%:*}>" | $(CC) $(CPPFLAGS_ALL) -E -xc - >/dev/null 2>&1 || \
    echo $${h#*:}; done; for c in $(CC) $(LUA) $(BUSTED); do command -v $$c >/dev/null || echo $$c; done); \
  test -z "$$missing" || { echo "nslua needs, and this system lacks:" $$missing; exit 1; }; \
fi
endef


.PHONY: all fmu demo test check soak coverage fuzz builds lint format bench compare deb dist docs site extras sundials hdf5 mpi optimisers kernel cluster cluster-stop annotations install uninstall clean help optional packages bare build-packages lint-packages
