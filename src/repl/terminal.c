/*
** terminal.c
** Line editing by libedit; this file reads the keys and handles signals, completion and colours.
*/
#include "repl/terminal.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

enum { SIGNALS = 3 };

struct NsiTerminal {
  EditLine *edit;
  History *history;
  NsiTerminalOwner owner;
  void *context;
  const NsiPlace *place;
  bool filled;      /* the line has the place's text */
  char *left;       /* the line that the key Up has left; NULL: it has not */
  sigset_t outside; /* signal mask while waiting for a key */
  mbstate_t decoding;
  bool idle_done, cancelled;
  bool brackets; /* the terminal marks pasted text by escape sequences */
  char *pasted;  /* pasted text; the bytes from `taken` to `held` are not read yet */
  size_t taken, held, room;
  bool from_paste; /* the last key came from pasted text */
};

/* Signals that are blocked while a line is read, except while waiting for a key. */
static const int signals[SIGNALS] = {SIGINT, SIGWINCH, SIGTSTP};
static volatile sig_atomic_t arrived[SIGNALS];

static void terminal_on_signal(int number) {
  for (int i = 0; i < SIGNALS; i++)
    if (signals[i] == number) arrived[i] = 1;
}

static void terminal_set_handler(int number, void (*handler)(int), struct sigaction *before) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, before);
}

static bool terminal_take(int number) {
  bool came = false;
  for (int i = 0; i < SIGNALS; i++)
    if (signals[i] == number) came = arrived[i], arrived[i] = 0;
  return came;
}

static NsiTerminal *terminal_of(EditLine *edit) {
  void *terminal = NULL;
  el_get(edit, EL_CLIENTDATA, &terminal);
  return terminal;
}

/* ---- what is pasted ---- */

/*
** On request (xterm's control sequences, mode 2004) the terminal sends pasted text between PASTE_BEGINS and PASTE_ENDS. It is
** read as text: its lines are like typed lines, and a tab in it is only a tab.
*/
#define PASTE_ON     "\033[?2004h"
#define PASTE_OFF    "\033[?2004l"
#define PASTE_BEGINS "\\e[200~"
#define PASTE_ENDS   "\033[201~"

static void ask_for_brackets(const NsiTerminal *t, bool on) {
  if (!t->brackets) return;
  fputs(on ? PASTE_ON : PASTE_OFF, stdout);
  fflush(stdout);
}

/* Discards the pasted text that has not been read. */
static void drop_paste(NsiTerminal *t) {
  t->taken = t->held = 0;
  t->from_paste = false;
}

/* Adds a byte; false when there is no memory. */
static bool hold_byte(NsiTerminal *t, char byte) {
  if (t->held == t->room) {
    size_t room = 2 * t->room + 256;
    char *more = realloc(t->pasted, room);
    if (!more) return false;
    t->pasted = more;
    t->room = room;
  }
  t->pasted[t->held++] = byte;
  return true;
}

/* Removes the last `size` bytes, and, from `from` on, bytes that would act as keys; line ends become newlines. */
static void clean_paste(NsiTerminal *t, size_t from, size_t size) {
  size_t end = t->held - size, to = from;
  for (size_t i = from; i < end; i++) {
    unsigned char c = (unsigned char)t->pasted[i];
    if (c == '\r' && i + 1 < end && t->pasted[i + 1] == '\n') continue;
    if (c == '\r') c = '\n';
    if (c >= ' ' ? c != 127 : c == '\n' || c == '\t') t->pasted[to++] = (char)c;
  }
  t->held = to;
}

/* ---- colours ---- */

/* The columns of a text in *columns; false when a character has another width than one column, as a newline. */
static bool text_columns(const char *from, const char *to, int *columns) {
  mbstate_t state = {0};
  wchar_t c;
  *columns = 0;
  while (from < to) {
    size_t length = mbrtowc(&c, from, (size_t)(to - from), &state);
    if (length == 0 || length > (size_t)(to - from) || wcwidth(c) != 1) return false;
    from += length;
    ++*columns;
  }
  return true;
}

/*
** libedit has no colours. After it has drawn the line, its characters are drawn again in their colours, each where it stands,
** and the cursor returns. Lines with newlines, tabs or wide characters, and such that do not fit the screen, stay as they are.
*/
static void paint_line(NsiTerminal *t) {
  const LineInfo *line = el_line(t->edit);
  int width = nsi_terminal_width(), first = (int)strlen(t->place->prompt), cursor, end;
  bool pasting = t->taken < t->held && t->pasted[t->taken] != '\n';
  if (!t->owner.colours || pasting || line->lastchar == line->buffer) return;
  if (!text_columns(line->buffer, line->cursor, &cursor) || !text_columns(line->buffer, line->lastchar, &end)) return;
  if ((first + end) / width >= nsi_terminal_height()) return;
  char *text = strndup(line->buffer, (size_t)(line->lastchar - line->buffer));
  const char *coloured = text ? t->owner.colours(t->context, text) : NULL;
  free(text);
  if (!coloured) return;
  int up = (first + cursor) / width;
  fputs("\0337", stdout);
  if (up > 0) printf("\033[%dA", up);
  printf("\r\033[%dC%s\0338", first, coloured);
  fflush(stdout);
}

/* ---- keys ---- */

/* Restores the terminal for the shell, stops the process, and sets up the terminal again when it continues. */
static void suspend(NsiTerminal *t) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ask_for_brackets(t, false);
  el_set(t->edit, EL_PREP_TERM, 0);
  terminal_set_handler(SIGTSTP, SIG_DFL, NULL);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, NULL);
  sigprocmask(SIG_BLOCK, &stop, NULL);
  terminal_set_handler(SIGTSTP, terminal_on_signal, NULL);
  el_set(t->edit, EL_PREP_TERM, 1);
  ask_for_brackets(t, true);
  el_set(t->edit, EL_REFRESH);
}

/* Waits for input and handles signals; false: a SIGINT came. */
static bool wait_for_key(NsiTerminal *t) {
  for (;;) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(STDIN_FILENO, &set);
    int ready = pselect(STDIN_FILENO + 1, &set, NULL, NULL, NULL, &t->outside);
    if (terminal_take(SIGINT)) return t->cancelled = true, false;
    if (terminal_take(SIGWINCH)) {
      el_resize(t->edit);
      fputs("\r", stdout);
      el_set(t->edit, EL_REFRESH);
      paint_line(t);
    }
    if (terminal_take(SIGTSTP)) suspend(t);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

/* Reads the next typed byte. Returns 1; 0 at the end of input, -1 after Ctrl-C or an error. */
static int read_byte(NsiTerminal *t, char *byte) {
  for (;;) {
    if (!wait_for_key(t)) return -1;
    ssize_t got = read(STDIN_FILENO, byte, 1);
    if (got < 0 && errno == EINTR) continue;
    return got > 0 ? 1 : (int)got;
  }
}

/* Reads the next byte of pasted text, or the next typed one if there is none. */
static int next_byte(NsiTerminal *t, char *byte) {
  t->from_paste = t->taken < t->held;
  if (!t->from_paste) return read_byte(t, byte);
  *byte = t->pasted[t->taken++];
  if (t->taken == t->held) t->taken = t->held = 0;
  return 1;
}

/* After PASTE_BEGINS: stores the text up to PASTE_ENDS, to be read like typed text. */
static unsigned char take_paste(EditLine *edit, wint_t key) {
  static const size_t tail = sizeof PASTE_ENDS - 1;
  NsiTerminal *t = terminal_of(edit);
  size_t from = t->held;
  char byte;
  (void)key;
  for (int got; (got = read_byte(t, &byte)) != 0;) {
    if (got < 0) return drop_paste(t), CC_EOF;
    if (!hold_byte(t, byte)) return drop_paste(t), CC_ERROR;
    if (t->held - from >= tail && memcmp(t->pasted + t->held - tail, PASTE_ENDS, tail) == 0) {
      clean_paste(t, from, tail);
      return CC_NORM;
    }
  }
  return CC_EOF;
}

/* Reads a character for libedit. Returns 1; 0 at the end of input, -1 after Ctrl-C. Invalid bytes are skipped. */
static int read_key(EditLine *edit, wchar_t *key) {
  NsiTerminal *t = terminal_of(edit);
  if (!t->idle_done && t->owner.idle) {
    t->idle_done = true;
    t->owner.idle(t->context);
  }
  if (!t->filled && t->place->text) {
    el_insertstr(edit, t->place->text);
    fputs("\r", stdout);
    el_set(edit, EL_REFRESH);
  }
  t->filled = true;
  paint_line(t);
  for (;;) {
    char byte;
    int got = next_byte(t, &byte);
    if (got <= 0) return got;
    size_t length = mbrtowc(key, &byte, 1, &t->decoding);
    if (length == (size_t)-1) memset(&t->decoding, 0, sizeof t->decoding);
    else if (length != (size_t)-2) return 1;
  }
}

#define PREVIOUS_ENTRY "\020" /* Ctrl-P */
#define NEXT_ENTRY     "\016" /* Ctrl-N */

static unsigned char complete_key(EditLine *edit, wint_t key) {
  NsiTerminal *t = terminal_of(edit);
  const LineInfo *line = el_line(edit);
  (void)key;
  if (t->from_paste) return el_insertstr(edit, "\t"), CC_REFRESH;
  size_t cursor = (size_t)(line->cursor - line->buffer), length = (size_t)(line->lastchar - line->buffer);
  char *text = malloc(length + 1);
  if (!text || !t->owner.complete) return free(text), CC_ERROR;
  memcpy(text, line->buffer, length);
  text[length] = '\0';
  bool done = t->owner.complete(t->context, t, text, cursor);
  free(text);
  return done ? CC_REFRESH : CC_ERROR;
}

/* The rows of the screen above the end of a text that begins in this column. */
static int rows_above(const char *from, const char *to, int column) {
  mbstate_t state = {0};
  int rows = 0, width = nsi_terminal_width();
  while (from < to) {
    wchar_t c = L'?';
    size_t length = mbrtowc(&c, from, (size_t)(to - from), &state);
    bool good = length > 0 && length <= (size_t)(to - from);
    from += good ? length : 1;
    if (c == L'\n') rows += column / width + 1, column = 0;
    else if (c == L'\t') column += 8 - column % 8;
    else column += wcwidth(c) > 0 ? wcwidth(c) : 0;
  }
  return rows + column / width;
}

/* Up: erases the line and goes to the line above; from the first line into the history. */
static unsigned char up_key(EditLine *edit, wint_t key) {
  NsiTerminal *t = terminal_of(edit);
  const LineInfo *line = el_line(edit);
  const char *above = t->place->above;
  (void)key;
  if (!above) return el_push(edit, PREVIOUS_ENTRY), CC_NORM;
  t->left = strndup(line->buffer, (size_t)(line->lastchar - line->buffer));
  if (!t->left) return CC_ERROR;
  int rows = rows_above(line->buffer, line->cursor, (int)strlen(t->place->prompt)) +
             rows_above(above, above + strlen(above), 0) + 1;
  printf("\033[%dA\r\033[J", rows);
  fflush(stdout);
  return CC_NEWLINE;
}

/* Down: as Enter, to the line below; from the last line into the history. */
static unsigned char down_key(EditLine *edit, wint_t key) {
  const NsiTerminal *t = terminal_of(edit);
  (void)key;
  el_push(edit, t->place->below ? "\n" : NEXT_ENTRY);
  return CC_NORM;
}

void nsi_terminal_insert(NsiTerminal *t, const char *text) {
  el_insertstr(t->edit, text);
}

void nsi_terminal_show(NsiTerminal *t, const char *text) {
  printf("\n%s\n", text);
  fflush(stdout);
  el_set(t->edit, EL_REFRESH);
}

/* ---- lines ---- */

static char *prompt_of(EditLine *edit) {
  return (char *)terminal_of(edit)->place->prompt;
}

/* Blocks our signals and installs their handlers; undone by terminal_leave. */
static void terminal_enter(NsiTerminal *t, struct sigaction *before) {
  sigset_t ours;
  sigemptyset(&ours);
  for (int i = 0; i < SIGNALS; i++) sigaddset(&ours, signals[i]), arrived[i] = 0;
  sigprocmask(SIG_BLOCK, &ours, &t->outside);
  for (int i = 0; i < SIGNALS; i++) terminal_set_handler(signals[i], terminal_on_signal, &before[i]);
}

static void terminal_leave(NsiTerminal *t, const struct sigaction *before) {
  sigprocmask(SIG_SETMASK, &t->outside, NULL);
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
}

NsiRead nsi_terminal_read(NsiTerminal *t, const NsiPlace *place, void *context, const char **line) {
  struct sigaction before[SIGNALS];
  int length = 0;
  fflush(stdout);
  t->place = place;
  t->context = context;
  t->cancelled = t->filled = false;
  free(t->left);
  t->left = NULL;
  memset(&t->decoding, 0, sizeof t->decoding);
  terminal_enter(t, before);
  el_set(t->edit, EL_PREP_TERM, 1); /* before the prompt appears, so that the shell's settings apply to no key */
  ask_for_brackets(t, true);
  const char *text = el_gets(t->edit, &length);
  ask_for_brackets(t, false);
  terminal_leave(t, before);
  if (t->cancelled) drop_paste(t);
  if (t->cancelled) return fputs("^C\n", stdout), fflush(stdout), NSI_CANCELLED;
  if (t->left) return *line = t->left, NSI_UP;
  if (!text || length <= 0) return NSI_END;
  char *kept = (char *)text; /* libedit's buffer; each el_gets overwrites it */
  if (kept[length - 1] == '\n') kept[length - 1] = '\0';
  *line = kept;
  return NSI_LINE;
}

void nsi_terminal_forget_paste(NsiTerminal *t) {
  drop_paste(t);
}

void nsi_terminal_remember(NsiTerminal *t, const char *entry) {
  HistEvent event;
  history(t->history, &event, H_ENTER, entry);
}

/* ---- making ---- */

static void bind_keys(EditLine *edit) {
  el_set(edit, EL_EDITOR, "emacs");
  el_wset(edit, EL_ADDFN, L"nslua-complete", L"completes a name", complete_key); /* el_set would leak the strings */
  el_set(edit, EL_BIND, "^I", "nslua-complete", NULL);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
  el_set(edit, EL_BIND, "^S", "em-inc-search-next", NULL);
  el_wset(edit, EL_ADDFN, L"nslua-up", L"goes to the line above", up_key);
  el_wset(edit, EL_ADDFN, L"nslua-down", L"goes to the line below", down_key);
  el_set(edit, EL_BIND, "\\e[A", "nslua-up", NULL);
  el_set(edit, EL_BIND, "\\e[B", "nslua-down", NULL);
  el_set(edit, EL_BIND, "\\e[1~", "ed-move-to-beg", NULL);
  el_set(edit, EL_BIND, "\\e[4~", "ed-move-to-end", NULL);
  el_set(edit, EL_BIND, "\\e[H", "ed-move-to-beg", NULL);
  el_set(edit, EL_BIND, "\\e[F", "ed-move-to-end", NULL);
  el_set(edit, EL_BIND, "\\e[3~", "ed-delete-next-char", NULL);
  el_set(edit, EL_BIND, "\\e[1;5C", "em-next-word", NULL);
  el_wset(edit, EL_ADDFN, L"nslua-paste", L"takes what is pasted as text", take_paste);
  el_set(edit, EL_BIND, PASTE_BEGINS, "nslua-paste", NULL);
  el_set(edit, EL_BIND, "\\e[1;5D", "ed-prev-word", NULL);
}

NsiTerminal *nsi_terminal_new(const NsiTerminalOwner *owner, int lines) {
  HistEvent event;
  NsiTerminal *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->owner = *owner;
  t->edit = el_init("nslua", stdin, stdout, stderr);
  t->history = history_init();
  if (!t->edit || !t->history) return nsi_terminal_free(t), NULL;
  history(t->history, &event, H_SETSIZE, lines);
  history(t->history, &event, H_SETUNIQUE, 1);
  el_set(t->edit, EL_CLIENTDATA, t);
  el_set(t->edit, EL_PROMPT, prompt_of);
  el_set(t->edit, EL_HIST, history, t->history);
  el_set(t->edit, EL_SIGNAL, 0);
  el_set(t->edit, EL_GETCFN, read_key);
  const char *kind = getenv("TERM");
  t->brackets = kind && *kind && strcmp(kind, "dumb") != 0;
  bind_keys(t->edit);
  el_source(t->edit, NULL);
  return t;
}

void nsi_terminal_free(NsiTerminal *t) {
  if (!t) return;
  if (t->edit) el_end(t->edit);
  if (t->history) history_end(t->history);
  free(t->pasted);
  free(t->left);
  free(t);
}

int nsi_terminal_height(void) {
  struct winsize size;
  bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
}

int nsi_terminal_width(void) {
  struct winsize size;
  bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}
