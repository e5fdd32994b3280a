/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: profiles added up by many processes (README.md). */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/files/content_hash.h"

/* --- transfer.c: bytes between processes, in pieces. A process that waits sleeps, for others may
 * need its processor. All return false when MPI says that the other is lost. --- */

#define FM_MPI_PIECE_BYTES ((size_t)16 << 20)

FM_MUST_USE bool fm_mpi_send(int to, const void *bytes, size_t size);
FM_MUST_USE bool fm_mpi_receive(int from, void *bytes, size_t size);
/* A file, or that there is none, with its hash; receiving makes the file. */
FM_MUST_USE bool fm_mpi_send_file(int to, const char *path);
FM_MUST_USE bool fm_mpi_receive_file(int from, const char *path, GError **error);
/* The bytes of process 0, which every other gets as a new array. */
FM_MUST_USE bool fm_mpi_spread(GByteArray *bytes);

/* A tree: what process rank sends to and gets from. below(0), below(1), ... ascend until -1. */
int fm_mpi_above(int rank);
int fm_mpi_below(int rank, int count, unsigned i);

/* --- share.c: `fathom merge` as a process of its own, so that one that fails, or is killed as
 * memory runs out, takes nobody along. --- */

struct fm_mpi_share {
    const char *fathom;
    char **options; /* for `fathom merge` */
    char *folder;   /* of files of this process; NULL: none could be made, which is in the report */
    int lock;       /* held while the folder is in use; -1 = none */
    char *path;     /* of the sum; NULL = nothing is in it */
    char *told;     /* of each file of the share, merge/told.h; NULL = nothing is known of them */
    uint32_t merged, left_out; /* files; not those that are told of */
    GString *report;           /* lines: what is left out and why */
};

void fm_mpi_share_init(struct fm_mpi_share *share, const char *fathom, char **options, int rank);
/* Adds the files of a share up as far as they fit each other, and is told of each. */
void fm_mpi_share_look(struct fm_mpi_share *share, char **paths, uint32_t count);
/* What is told of these files, added up for that alone; g_free(), NULL: nothing. */
char *fm_mpi_share_try(struct fm_mpi_share *share, char **paths, uint32_t count);
/* Adds paths up, repeats too: to output, or to a file in the folder (NULL). counts: of how many
 * files each is the sum; names: what they are called in the report. NULL: they are files. */
void fm_mpi_share_add(struct fm_mpi_share *share, char **paths, uint32_t count,
                      const uint32_t *counts, char **names, const char *output);
/* All files by one process, which says itself what is left out. Its exit status. */
int fm_mpi_share_alone(struct fm_mpi_share *share, char **paths, uint32_t count,
                       const char *output);
/* `fathom merge` with more words (NULL at the end) and the options; lines that it says go to the
 * report. Its status as of waitpid(), -1: it could not be started or heard. */
int fm_mpi_share_run(struct fm_mpi_share *share, const char *const *words);
void fm_mpi_remove_sum(const char *path); /* with what is beside it */
void fm_mpi_share_done(struct fm_mpi_share *share);

/* --- files.c --- */

/* What is to be done with a file. */
enum { FM_MPI_LOST, FM_MPI_ADD, FM_MPI_LEAVE_OUT }; /* lost: nothing was heard of it */
/* Of each of the paths, the same in each process. */
struct fm_mpi_files {
    uint32_t count;
    uint32_t *what;     /* [count] */
    uint32_t *ranks;    /* [count] of those that are added, rank + 1 of its process, or of all in a
                           sum; 0 = none, or several */
    bool ranked;        /* some have one */
    bool bodies_differ; /* what stands beside them (.procrep) */
    GByteArray *bytes;  /* of all these */
    /* Of process 0: lines about the files that are left out, how many, hash of the first bodies. */
    GString *why;
    uint32_t left_out;
    char *body;
};
struct fm_mpi_share;
/* When each share was looked at. False: a process is lost, and nothing is known.
 * fm_mpi_files_clear(). */
bool fm_mpi_look_at_files(struct fm_mpi_share *share, char **paths, uint32_t count,
                          bool repeats_wanted, struct fm_mpi_files *ret);
void fm_mpi_files_clear(struct fm_mpi_files *files);

/* --- ranks.c --- */

/* Statistics over ranks, by every process: each computes those of some files by the sum, whose path
 * in process 0 is share->path, and they meet in the tree. Process 0 then writes the sum with them
 * to output. paths: the files whose ranks this process has, those of a rank one after another. */
FM_MUST_USE bool fm_mpi_add_ranks(struct fm_mpi_share *share, char **paths, uint32_t count,
                                  const char *output);
