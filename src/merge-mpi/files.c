/* SPDX-License-Identifier: Apache-2.0 */
/* What shares must know of each other: files that are given twice may be in two of them, and what
 * is of another program than most must not be the first of one. Each process looks at its own
 * files; what they found goes up the tree, and what is to be left out or added last comes down. */
#include <mpi.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/mapped.h"
#include "base/files/reader.h"
#include "deep/profile.h"
#include "merge-mpi/internal.h"

/* Not of files of several machines alone: device and inode count only beside equal bytes. */
struct record {
    uint8_t hash[FM_CONTENT_HASH_BYTES];
    uint64_t device, inode;
    uint32_t number;  /* of the path */
    uint32_t program; /* a hash of its name */
    uint32_t known;   /* equal bytes are the same run: it tells its process, or is a Mercury's */
    uint32_t rank;    /* + 1, of an MPI program's process or of all in a sum; 0 = none */
};

#define MERCURY "Mercury deep profiler data version "

/* Files of Mercury's tools do not name a process; made twice, equal ones would be copies. */
static bool names_its_run(const struct fm_mapped_file *file, uint32_t *ret_rank)
{
    struct fm_process_fact process = {0};
    g_autoptr(FmProfile) sum = NULL;
    if (file->size >= strlen(MERCURY) && memcmp(file->bytes, MERCURY, strlen(MERCURY)) == 0)
        return true;
    if (fm_profile_peek_process(file->bytes, file->size, &process)) {
        g_free((char *)(uintptr_t)process.command);
        g_free((char *)(uintptr_t)process.folder);
        *ret_rank = process.rank;
        return true;
    }
    /* A sum does not tell so at its end. */
    if (fm_profile_read_bytes("", file->bytes, file->size, NULL, &sum, NULL))
        *ret_rank = fm_profile_rank(sum);
    return false;
}

/* Of the line before and the name, with which files begin; 0: neither is there. */
static uint32_t program_of(const struct fm_mapped_file *file)
{
    const uint8_t *line = file->size == 0 ? NULL : memchr(file->bytes, '\n', MIN(file->size, 64));
    const char *name;
    size_t size;
    if (line == NULL)
        return 0;
    struct fm_reader in = {
        .start = file->bytes, .at = line + 1, .end = file->bytes + file->size, .name = ""};
    if (!fm_reader_string(&in, "program name", &name, &size, NULL))
        return 0;
    uint32_t hash = (uint32_t)file->bytes[0] + 1;
    for (size_t i = 0; i < size; i++)
        hash = hash * 16777619u ^ (uint8_t)name[i];
    return hash == 0 ? 1 : hash;
}

/* hashed: where repeats are wanted it does not matter what is equal, and hashing takes a tenth of
 * all.
 */
static bool look_at(const char *path, uint32_t number, bool hashed, struct record *ret)
{
    struct stat status;
    g_autoptr(FmMappedFile) file = NULL;
    memset(ret, 0, sizeof *ret);
    if (stat(path, &status) != 0 || !fm_mapped_file_open(path, &file, NULL))
        return false; /* merging it says why */
    if (hashed)
        fm_content_hash_of_bytes(file->bytes, file->size, ret->hash);
    ret->device = (uint64_t)status.st_dev;
    ret->inode = (uint64_t)status.st_ino;
    ret->number = number;
    ret->known = names_its_run(file, &ret->rank) && hashed;
    ret->program = program_of(file);
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct record *one = a, *other = b;
    int order = memcmp(one->hash, other->hash, sizeof one->hash);
    return order != 0 ? order : one->number < other->number ? -1 : one->number > other->number;
}

/* Those of another program than the first. */
static void mark_others(const GArray *records, uint32_t *firsts, uint32_t count)
{
    uint32_t first = UINT32_MAX, program = 0;
    for (guint i = 0; i < records->len; i++) {
        const struct record *record = &g_array_index(records, struct record, i);
        if (record->program != 0 && record->number < first) {
            first = record->number;
            program = record->program;
        }
    }
    for (guint i = 0; i < records->len; i++) {
        const struct record *record = &g_array_index(records, struct record, i);
        if (record->program != program && record->number < count &&
            firsts[record->number] == FM_MPI_ADD)
            firsts[record->number] = FM_MPI_ADD_LAST;
    }
}

/* firsts: FM_MPI_ADD each. */
static void compare_all(GArray *records, uint32_t *firsts, uint32_t count)
{
    g_array_sort(records, compare);
    for (guint i = 0; i < records->len; i++) {
        const struct record *one = &g_array_index(records, struct record, i);
        for (guint j = i + 1; j < records->len; j++) {
            const struct record *other = &g_array_index(records, struct record, j);
            if (memcmp(one->hash, other->hash, sizeof one->hash) != 0)
                break;
            if (other->number < count && firsts[other->number] == FM_MPI_ADD &&
                (one->known || (one->device == other->device && one->inode == other->inode)))
                firsts[other->number] = one->number;
        }
    }
}

static bool gather(GArray *records, int rank, int count)
{
    bool ok = true;
    for (unsigned i = 0; fm_mpi_below(rank, count, i) >= 0; i++) {
        uint64_t more = 0;
        int from = fm_mpi_below(rank, count, i);
        guint had = records->len;
        ok = fm_mpi_receive(from, &more, sizeof more) && ok;
        g_array_set_size(records, had + (guint)more);
        ok = fm_mpi_receive(from, &g_array_index(records, struct record, had),
                            more * sizeof(struct record)) &&
             ok;
    }
    const uint64_t all = records->len;
    return ok && (rank == 0 ||
                  (fm_mpi_send(fm_mpi_above(rank), &all, sizeof all) &&
                   fm_mpi_send(fm_mpi_above(rank), records->data, all * sizeof(struct record))));
}

/* By process 0: what, then ranks. */
static void decide(GArray *records, bool repeats_wanted, uint32_t count, uint32_t *what)
{
    for (uint32_t i = 0; i < count; i++)
        what[i] = FM_MPI_ADD;
    if (!repeats_wanted)
        compare_all(records, what, count);
    mark_others(records, what, count);
    for (guint i = 0; i < records->len; i++) {
        const struct record *record = &g_array_index(records, struct record, i);
        if (record->number < count)
            what[count + record->number] = record->rank;
    }
}

bool fm_mpi_look_at_files(char **paths, uint32_t count, bool repeats_wanted,
                          struct fm_mpi_files *ret)
{
    int rank, processes;
    const size_t size = 2 * (size_t)count * sizeof(uint32_t);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    g_autoptr(GArray) records = g_array_new(FALSE, TRUE, sizeof(struct record));
    *ret = (struct fm_mpi_files){.bytes = g_byte_array_new()};
    for (uint32_t i = (uint32_t)rank; i < count; i += (uint32_t)processes) {
        struct record record;
        if (look_at(paths[i], i, !repeats_wanted, &record))
            g_array_append_val(records, record);
    }
    bool ok = gather(records, rank, processes);
    if (rank == 0) {
        g_byte_array_set_size(ret->bytes, (guint)size);
        memset(ret->bytes->data, 0, size);
        decide(records, repeats_wanted, count, (uint32_t *)(void *)ret->bytes->data);
    }
    ok = fm_mpi_spread(ret->bytes) && ok && ret->bytes->len == size;
    if (!ok) {
        fm_mpi_files_clear(ret);
        return false;
    }
    ret->what = (uint32_t *)(void *)ret->bytes->data;
    ret->ranks = ret->what + count;
    for (uint32_t i = 0; i < count; i++)
        ret->ranked = ret->ranked || ret->ranks[i] != 0;
    return true;
}

void fm_mpi_files_clear(struct fm_mpi_files *files)
{
    g_clear_pointer(&files->bytes, g_byte_array_unref);
    *files = (struct fm_mpi_files){0};
}
