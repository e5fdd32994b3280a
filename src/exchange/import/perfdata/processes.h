/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a perf.data file, as they were at the time of a sample: the names of their threads,
 * and the files that they had in memory. */
#pragma once

#include "exchange/import/perfdata/file.h"
#include "exchange/import/perfdata/jit.h"

/* A file that was mapped, or what stands for one: [vdso], //anon. */
struct fm_perf_image {
    char *path;
    uint8_t build_id[FM_PERF_ID_BYTES];
    uint8_t build_id_size; /* 0: not recorded */
    bool kernel;           /* the kernel itself */
    bool module;           /* a module of the kernel's */
    bool by_path;          /* nothing but its path says that the file is the recorded one */
    bool other;            /* the file at its path has another build id */
    struct fm_import_code *code;
    bool opened;
};

struct fm_perf_mapping {
    uint64_t low, high, offset; /* offset in the file of low */
    uint32_t image;
};

struct fm_perf_process {
    GArray *mappings;  /* struct fm_perf_mapping, ascending, disjoint */
    uint64_t versions; /* goes up with each change of files */
    int32_t pid;
    struct fm_perf_jit *jit; /* names of code in no file; NULL = none yet */
    unsigned jit_asks;
    void *unwinder; /* unwind.c */
    GDestroyNotify unwinder_free;
    uint64_t unwinder_version;
};

struct fm_perf_processes {
    const struct fm_perf_file *file;
    GArray *images;        /* struct fm_perf_image */
    GHashTable *numbers;   /* path and build id -> number of the image + 1 */
    GHashTable *processes; /* pid -> struct fm_perf_process * */
    GHashTable *names;     /* tid -> char *, of strings */
    GStringChunk *strings;
    const char *symfs; /* in front of all paths */
    bool changes_root; /* a path may be from before the process had that root: one of ours */
    int32_t inner_pid; /* number that the one process has where it runs; 0 = the recorded one */
    bool by_path;      /* files without a recorded build id count as the recorded ones */
    struct fm_perf_process kernel;
    uint64_t guessed;       /* stacks that were followed with a guess of the frame pointer */
    uint64_t kernel_symbol; /* address of kernel_symbol_name in the recorded kernel; 0: not known */
    char *kernel_symbol_name;
};

void fm_perf_processes_init(struct fm_perf_processes *processes, const struct fm_perf_file *file);
void fm_perf_processes_clear(struct fm_perf_processes *processes);
/* Whether the file says that it was recorded here: then files and the kernel without a recorded
 * build id may give names. */
bool fm_perf_is_this_machine(const struct fm_perf_file *file);
/* A record that is no sample. */
void fm_perf_processes_apply(struct fm_perf_processes *processes, const struct fm_perf_body *body);

/* NULL: nothing was ever mapped there. */
struct fm_perf_process *fm_perf_process_of(struct fm_perf_processes *processes, int32_t pid);
const struct fm_perf_mapping *fm_perf_mapping_at(const struct fm_perf_process *process,
                                                 uint64_t address);
struct fm_perf_image *fm_perf_image_of(struct fm_perf_processes *processes, uint32_t number);
/* The image's file on this machine, NULL: it is not there, or is another one. */
struct fm_import_code *fm_perf_code_of(const struct fm_perf_processes *processes,
                                       struct fm_perf_image *image);
/* The name of code that the process made itself, NULL: not known. */
const char *fm_perf_made_name(const struct fm_perf_processes *processes,
                              struct fm_perf_process *process, uint64_t address,
                              uint32_t *ret_number);
/* The name of a thread; valid as long as processes. */
const char *fm_perf_thread_name(struct fm_perf_processes *processes, int32_t tid);

/* --- stacks --- */

enum fm_perf_mode { FM_PERF_IN_USER, FM_PERF_IN_KERNEL, FM_PERF_IN_HYPERVISOR, FM_PERF_IN_GUEST };

struct fm_perf_frame {
    uint64_t address;
    enum fm_perf_mode mode;
    bool exact; /* an instruction that was interrupted; else what a call returns to */
};

/* unwind.c: appends the frames (struct fm_perf_frame) of the copied stack. False: its registers are
 * not there, or of a machine that is not known here. ret_cut: it ended before a thread's begin. */
bool fm_perf_unwind(struct fm_perf_processes *processes, struct fm_perf_process *process,
                    const struct fm_perf_sample *sample, GArray *frames, bool *ret_cut);
