/*
** journal.h
** An append-only file of records. Each record is whole or absent: what a killed process leaves behind can be read.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A journal open for appending. One process at a time has it. */
typedef struct NsJournal NsJournal;

/*
** Opens the journal at path, or makes one. What a killed process left of a last, incomplete record is removed. NS_EBUSY
** ("another process writes 'PATH'"), NS_EARG ("'PATH' is not a journal"), NS_EIO, NS_ENOMEM. *journal is NULL on failure.
*/
NsStatus ns_journal_open(NsJournal **journal, const char *path, NsError *err);

/*
** The number of the process that has the journal at path open for appending; 0 when there is none, or it is this process. Of
** another machine's process the number may be any other than 0. A process asks for journals that it has not open itself: the
** question would end its hold on them.
*/
long ns_journal_holder(const char *path);

/* Adds a record of `size` bytes to those that the next sync writes. NS_ENOMEM. */
NsStatus ns_journal_append(NsJournal *journal, const void *bytes, size_t size);

/*
** Writes the records that were appended and waits until they are on the disk. NS_EIO: "cannot write 'PATH': reason", also when
** the file is no longer at its path. Then the file holds the records for which there was room, and the others still wait.
*/
NsStatus ns_journal_sync(NsJournal *journal, NsError *err);

/* Closes the journal; records that were not synced are lost. NULL is ignored. */
void ns_journal_close(NsJournal *journal);

/* A journal open for reading, also while another process appends. */
typedef struct NsJournalReader NsJournalReader;

/* NS_EARG ("'PATH' is not a journal"), NS_EIO, NS_ENOMEM. *reader is NULL on failure. */
NsStatus ns_journal_read(NsJournalReader **reader, const char *path, NsError *err);

/* The next record, valid until the next call; false after the last whole one. NS_ENOMEM arrives as *status. */
bool ns_journal_next(NsJournalReader *reader, const char **bytes, size_t *size, NsStatus *status);

/* NULL is ignored. */
void ns_journal_read_close(NsJournalReader *reader);
