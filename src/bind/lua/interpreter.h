/*
** interpreter.h
** What the interpreter nslua offers to the module it has loaded: which coroutine runs, and its Ctrl-C.
*/
#ifndef NSL_LUA_INTERPRETER_H
#define NSL_LUA_INTERPRETER_H

#include <lua.h>
#include <stdbool.h>

typedef struct NsiInterpreter {
  /* The thread that runs Lua code, the main one or a coroutine; async-signal-safe. */
  lua_State *(*running)(void);

  /* Whether a prompt waits for the end of what runs: a loop around runs that fail must not keep it from the user. */
  bool (*prompted)(void);

  /* Puts the hook that stops Lua code back on L when a SIGINT still waits to be obeyed. */
  void (*rearm)(lua_State *L);

  /* From now on a SIGINT calls raise too (in the handler), and clear is called once it has been obeyed. NULL: no more. */
  void (*listen)(void (*raise)(void), void (*clear)(void));

  /* Whether a SIGINT waits to be obeyed. */
  bool (*waits)(void);

  /* To be called by a handler of SIGINT that is in the interpreter's place; async-signal-safe. */
  void (*told)(void);
} NsiInterpreter;

/* Defined by the interpreter alone: NULL, as a weak symbol is, under any other host. */
__attribute__((weak, visibility("default"))) extern const NsiInterpreter nsi_interpreter;

#endif
