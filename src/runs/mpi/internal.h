/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: adds up profiles with many processes (README.md). */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/files/content_hash.h"

/* --- transfer.c: bytes between processes, in pieces. A waiting process sleeps, because others may
 * need its CPU. All return false when MPI reports that the other process is lost. --- */

#define FM_MPI_PIECE_BYTES ((size_t)16 << 20)

FM_MUST_USE bool fm_mpi_send(int to, const void *bytes, size_t size);
FM_MUST_USE bool fm_mpi_receive(int from, void *bytes, size_t size);
/* Sends a file, or that there is none, with its hash; receiving creates the file. */
FM_MUST_USE bool fm_mpi_send_file(int to, const char *path);
FM_MUST_USE bool fm_mpi_receive_file(int from, const char *path, GError **error);
/* Sends the bytes of process 0 to all others, which get a new array. */
FM_MUST_USE bool fm_mpi_spread(GByteArray *bytes);

/* A tree of processes: the one to which a rank sends, and those from which it receives. below(0),
 * below(1), ... ascend until -1. */
int fm_mpi_above(int rank);
int fm_mpi_below(int rank, int count, unsigned i);

/* --- share.c: runs `fathom merge` as a separate process, so that one that fails, or is killed when
 * memory runs out, does not end this one. --- */

struct fm_mpi_share {
    const char *fathom;
    char **options; /* for `fathom merge` */
    char *folder;   /* folder for files of this process; NULL: it could not be made; the report says
                       so */
    int lock;       /* held while the folder is in use; -1 = none */
    char *path;     /* path of the sum; NULL = it is empty */
    char *told; /* facts about each file of the share, runs/merge/told.h; NULL = none are known */
    uint32_t merged, left_out; /* numbers of files, except those with facts */
    GString *report;           /* lines: files that are left out, with reasons */
};

void fm_mpi_share_init(struct fm_mpi_share *share, const char *fathom, char **options, int rank);
/* Adds up the files of a share as far as they fit each other, and gets the facts about each. */
void fm_mpi_share_look(struct fm_mpi_share *share, char **paths, uint32_t count);
/* Facts about these files, found by adding them up only for that; g_free(), NULL: none. */
char *fm_mpi_share_try(struct fm_mpi_share *share, char **paths, uint32_t count);
/* Adds up paths, also repeated ones: into output, or into a file in the folder (NULL). counts:
 * number of files in each sum; names: names for the report. NULL: paths are files. */
void fm_mpi_share_add(struct fm_mpi_share *share, char **paths, uint32_t count,
                      const uint32_t *counts, char **names, const char *output);
/* Adds up all files in one process, which reports itself what is left out. Returns its exit
 * status. */
int fm_mpi_share_alone(struct fm_mpi_share *share, char **paths, uint32_t count,
                       const char *output);
/* Runs `fathom merge` with more words (NULL at the end) and the options; its messages go to the
 * report. Returns its status as of waitpid(), -1: it could not be started, or its output not
 * read. */
int fm_mpi_share_run(struct fm_mpi_share *share, const char *const *words);
void fm_mpi_remove_sum(const char *path); /* with the files beside it */
void fm_mpi_share_done(struct fm_mpi_share *share);

/* --- files.c --- */

/* The decision about a file. LOST: its process did not report. */
enum { FM_MPI_LOST, FM_MPI_ADD, FM_MPI_LEAVE_OUT }; /* LOST: its process did not report */
/* By path, equal in each process. */
struct fm_mpi_files {
    uint32_t count;
    uint32_t *what;  /* [count] */
    uint32_t *ranks; /* [count]: for added files, rank + 1 of its process, or of all in a sum; 0 =
                        none, or several */
    bool ranked;     /* some files have a rank */
    bool bodies_differ; /* the files beside them (.procrep) differ */
    GByteArray *bytes;  /* bytes of all these fields */
    /* In process 0: lines about the files that are left out, their number, hash of the first
     * bodies. */
    GString *why;
    uint32_t left_out;
    char *body;
};
struct fm_mpi_share;
/* Decides about the files when each share has been added up. False: a process is lost, and nothing
 * is known. fm_mpi_files_done(). */
bool fm_mpi_look_at_files(struct fm_mpi_share *share, char **paths, uint32_t count,
                          bool repeats_wanted, struct fm_mpi_files *ret);
void fm_mpi_files_done(struct fm_mpi_files *files);

/* --- ranks.c --- */

/* Computes statistics over ranks, in all processes: each handles some files with the sum, whose
 * path in process 0 is share->path, and the results are joined in the tree. Process 0 then writes
 * the sum with them to output. paths: files of this process, grouped by rank. */
FM_MUST_USE bool fm_mpi_add_ranks(struct fm_mpi_share *share, char **paths, uint32_t count,
                                  const char *output);
