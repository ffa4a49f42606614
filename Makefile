# nslua: plain make. Start with `make demo` or `make test`.
BUILD  ?= build
CC     ?= cc
CSTD    = -std=c11 -D_POSIX_C_SOURCE=200809L
WARN    = -Wall -Wextra -Wpedantic -Wshadow
OPT    ?= -O2 -g
SAN    ?=
LUA_CFLAGS := $(shell pkg-config --cflags lua5.4 2>/dev/null || echo -I/usr/include/lua5.4)
CFLAGS_ALL  = $(CSTD) $(WARN) $(OPT) $(SAN) -fPIC -fvisibility=hidden -Isrc $(LUA_CFLAGS) $(CFLAGS)
LIBS    = -lklu -lamd -lcolamd -lbtf -lsuitesparseconfig -llapacke -lopenblas -lm

SRC  := $(shell find src -name '*.c' ! -name nslua.c | sort)
OBJ  := $(SRC:src/%.c=$(BUILD)/obj/%.o)
CORE := $(BUILD)/lib/nslua/core.so

all: $(CORE)

$(CORE): $(OBJ)
	@mkdir -p $(@D)
	$(CC) -shared $(SAN) $(OPT) -o $@ $(OBJ) $(LDFLAGS) $(LIBS)

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d)

test: all
	LUA_PATH="lua/?.lua;lua/?/init.lua;;" LUA_CPATH="$(BUILD)/lib/?.so;;" lua5.4 /usr/bin/busted spec

clean:
	rm -rf build build-*

.PHONY: all test clean
