/*
** interpreter.h
** What the interpreter nslua offers to the module: the running coroutine and its Ctrl-C handling.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

typedef struct NsiInterpreter {
  /* The thread that runs Lua code, the main one or a coroutine; async-signal-safe. */
  lua_State *(*running)(void);

  /* Whether a prompt waits for the running code: a loop whose runs all fail must let the user back to it. */
  bool (*prompted)(void);

  /* Sets the hook that stops Lua code on L again when a SIGINT is still pending. */
  void (*rearm)(lua_State *L);

  /* From now on a SIGINT also calls raise (in the handler), and clear once it has had its effect. NULL: stop that. */
  void (*listen)(void (*raise)(void), void (*clear)(void));

  /* Whether a SIGINT is pending. */
  bool (*waits)(void);

  /* For a SIGINT handler that has replaced the interpreter's: tells the interpreter of a signal. Async-signal-safe. */
  void (*told)(void);
} NsiInterpreter;

/* Defined by the interpreter alone; under any other host this weak symbol has the address NULL. */
__attribute__((weak, visibility("default"))) extern const NsiInterpreter nsi_interpreter;
