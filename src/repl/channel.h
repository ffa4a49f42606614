/*
** channel.h
** Messages between this process and the program that has started it as the worker of a kernel, over two pipes.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

/*
** A message is a text of at most 2^31 bytes after its length: four bytes, the highest first.
**
** `pipes` is "R,W": the file descriptors for reading and writing that this process has inherited; false when they are not open.
** From then on programs that this process starts do not inherit them, what is printed leaves at once, and on Linux this process
** ends when the one that has started it does.
*/
bool nsi_channel_open(const char *pipes);

/*
** Lua functions: receive() waits for a message and returns it, nil at the end; send(text) ends the process by SIGPIPE when
** nobody reads; ask(text) does both. No Lua code runs between the two, so that an interrupt cannot leave an answer unread.
*/
int nsi_channel_receive(lua_State *L);
int nsi_channel_send(lua_State *L);
int nsi_channel_ask(lua_State *L);
