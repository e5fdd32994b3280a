/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `fathom merge --tell FILE` on each given file, for fathom-merge-mpi, whose
 * processes decide by it what the merge of all files in one process would leave out: a line a file,
 * in their order. Fields stand between tabs:
 *
 *   state    FM_TOLD_ADDED, FM_TOLD_REFUSED or FM_TOLD_UNREAD; of the last all but why are empty
 *   kind     hash: files of one kind fit the same others (fm_merge_kind())
 *   content  hash of the file, or of what is in a sum
 *   rank     + 1, of its process or of all in it; 0 = none, or several
 *   parts    hashes of the processes in it that are known, one behind the other
 *   copies   1: a file of equal content is a copy of it
 *   bodies   hash of the .procrep beside it; empty = none
 *   why      the message, where it was not added */
#pragma once

#define FM_TOLD_ADDED 'A'
#define FM_TOLD_REFUSED 'R'
#define FM_TOLD_UNREAD 'U'
enum fm_told_field {
    FM_TOLD_STATE,
    FM_TOLD_KIND,
    FM_TOLD_CONTENT,
    FM_TOLD_RANK,
    FM_TOLD_PARTS,
    FM_TOLD_COPIES,
    FM_TOLD_BODIES,
    FM_TOLD_WHY,
    FM_TOLD_FIELDS
};

/* Why a file is left out that would fit: its name, of the last also that of the other. */
#define FM_TOLD_TWICE "%s: given twice (--allow-repeats adds it twice)"
#define FM_TOLD_PART "%s: a profile that is in it was added before (--allow-repeats adds it twice)"
#define FM_TOLD_COPY "%s: a copy of %s, which was added before (--allow-repeats adds it twice)"
#define FM_TOLD_BODIES_DIFFER \
    "note: the bodies (.procrep) of the profiles differ: none is carried on"
#define FM_TOLD_LEFT_OUT "%u of %u files are left out"
