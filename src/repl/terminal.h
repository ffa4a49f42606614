/*
** terminal.h
** Lines typed at a terminal: editing, history and its search, completion, resizing, Ctrl-C and Ctrl-Z, by libedit.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct NsiTerminal NsiTerminal;

/*
** The owner's callbacks; `context` is passed on. complete is called at the Tab key with the line up to the cursor, and may
** call nsi_terminal_insert or nsi_terminal_show; it returns false when there is nothing to complete. idle is called once, when
** the first prompt is shown. colours returns the line with escape sequences of colours in it and no other change, valid until
** its next call; NULL: the line has no colours. Each may be NULL; none may longjmp.
*/
typedef struct NsiTerminalOwner {
  bool (*complete)(void *context, NsiTerminal *terminal, const char *line, size_t cursor);
  void (*idle)(void *context);
  const char *(*colours)(void *context, const char *line);
} NsiTerminalOwner;

/*
** A line among others of one input: its prompt; what stands in it from the start, or NULL; the line above with its prompt, as it
** is on the screen, or NULL; and whether there are lines below.
*/
typedef struct NsiPlace {
  const char *prompt, *text, *above;
  bool below;
} NsiPlace;

typedef enum NsiRead { NSI_LINE, NSI_UP, NSI_END, NSI_CANCELLED } NsiRead;

/* A terminal on standard input and output with a history of at most `lines` entries; NULL when there is none. */
NsiTerminal *nsi_terminal_new(const NsiTerminalOwner *owner, int lines);
void nsi_terminal_free(NsiTerminal *terminal);

/*
** Reads a line. Pasted text is read line by line, without completion. NSI_LINE: *line is the line without its newline, valid
** until the next call; NSI_UP: the same after the key Up, where there is a line above: both are erased from the screen;
** NSI_END: Ctrl-D on an empty line; NSI_CANCELLED: Ctrl-C.
*/
NsiRead nsi_terminal_read(NsiTerminal *terminal, const NsiPlace *place, void *context, const char **line);

/* Discards pasted text that has not been read yet. */
void nsi_terminal_forget_paste(NsiTerminal *terminal);

/* Appends an entry, of one or more lines, to the history. */
void nsi_terminal_remember(NsiTerminal *terminal, const char *entry);

/* Inserts text at the cursor; only for use in `complete`. */
void nsi_terminal_insert(NsiTerminal *terminal, const char *text);

/* Shows text below the line, then the line again; only for use in `complete`. */
void nsi_terminal_show(NsiTerminal *terminal, const char *text);

/* The width of the terminal on standard output in columns; 80 when it is not a terminal. */
int nsi_terminal_width(void);

/* Its height in lines; 24 when it is not a terminal. */
int nsi_terminal_height(void);
