/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "base/files/writer.h"
#include "runs/mpi/internal.h"

enum { TAG = 7, NAP_US = 100, NAP_US_MAX = 5000 };

static useconds_t nap(useconds_t us)
{
    usleep(us);
    return MIN(2 * us, (useconds_t)NAP_US_MAX);
}

static bool send_piece(int to, const void *bytes, int size)
{
    MPI_Request request;
    int done = 0;
    if (MPI_Isend(bytes, size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return false;
    for (useconds_t us = NAP_US;; us = nap(us)) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            return true;
    }
}

static bool receive_piece(int from, void *bytes, int size)
{
    MPI_Status status;
    int there = 0, found = 0;
    for (useconds_t us = NAP_US; !there;) {
        if (MPI_Iprobe(from, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
            return false;
        if (!there)
            us = nap(us);
    }
    return MPI_Get_count(&status, MPI_BYTE, &found) == MPI_SUCCESS && found == size &&
           MPI_Recv(bytes, size, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS;
}

bool fm_mpi_send(int to, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t left = size; left > 0;) {
        size_t piece = MIN(left, FM_MPI_PIECE_BYTES);
        if (!send_piece(to, at, (int)piece))
            return false;
        at += piece;
        left -= piece;
    }
    return true;
}

bool fm_mpi_receive(int from, void *bytes, size_t size)
{
    uint8_t *at = bytes;
    for (size_t left = size; left > 0;) {
        size_t piece = MIN(left, FM_MPI_PIECE_BYTES);
        if (!receive_piece(from, at, (int)piece))
            return false;
        at += piece;
        left -= piece;
    }
    return true;
}

/* --- files --- */

#define MAGIC 0x666d6d7069303031u
struct file_header {
    uint64_t magic, there, size;
    uint8_t hash[FM_CONTENT_HASH_BYTES];
};

bool fm_mpi_send_file(int to, const char *path)
{
    struct file_header header = {.magic = MAGIC};
    g_autoptr(FmMappedFile) file = NULL;
    if (path != NULL && g_file_test(path, G_FILE_TEST_EXISTS) &&
        fm_mapped_file_open(path, &file, NULL)) {
        header.there = 1;
        header.size = file->size;
        fm_content_hash_of_bytes(file->bytes, file->size, header.hash);
    }
    return fm_mpi_send(to, &header, sizeof header) &&
           (file == NULL || fm_mpi_send(to, file->bytes, file->size));
}

static bool lost(int from, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "process %d is lost", from);
    return false;
}

/* A message is always received completely, even after an error here: the next one follows it. */
static bool take(int from, uint64_t size, struct fm_writer *writer)
{
    g_autofree uint8_t *piece = g_malloc(MIN(size, FM_MPI_PIECE_BYTES) + 1);
    for (uint64_t left = size; left > 0;) {
        size_t bytes = MIN(left, FM_MPI_PIECE_BYTES);
        if (!fm_mpi_receive(from, piece, bytes))
            return false;
        if (writer != NULL)
            fm_writer_bytes(writer, piece, bytes);
        left -= bytes;
    }
    return true;
}

bool fm_mpi_receive_file(int from, const char *path, GError **error)
{
    struct file_header header;
    struct fm_writer *writer = NULL;
    GError *failed = NULL;
    uint8_t hash[FM_CONTENT_HASH_BYTES];
    if (!fm_mpi_receive(from, &header, sizeof header) || header.magic != MAGIC)
        return lost(from, error);
    if (header.there == 0)
        return true;
    if (path != NULL && !fm_writer_new(path, &writer, &failed))
        writer = NULL;
    if (!take(from, header.size, writer)) {
        fm_writer_discard(writer);
        g_clear_error(&failed);
        return lost(from, error);
    }
    if (writer != NULL && fm_writer_finish(writer, &failed) &&
        fm_content_hash(path, hash, &failed) && memcmp(hash, header.hash, sizeof hash) != 0)
        g_set_error(&failed, FM_ERROR, FM_ERROR_FORMAT,
                    "checksum mismatch in the data of process %d", from);
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL && (writer != NULL || path == NULL);
}

/* --- the tree --- */

int fm_mpi_above(int rank)
{
    return rank & (rank - 1);
}

int fm_mpi_below(int rank, int count, unsigned i)
{
    int64_t step = (int64_t)1 << i;
    return (rank != 0 && step >= (rank & -rank)) || rank + step >= count ? -1 : (int)(rank + step);
}

bool fm_mpi_spread(GByteArray *bytes)
{
    int rank, count;
    uint64_t size = bytes->len;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    bool ok = true;
    if (rank != 0) {
        ok = fm_mpi_receive(fm_mpi_above(rank), &size, sizeof size);
        g_byte_array_set_size(bytes, ok ? (guint)size : 0);
        ok = ok && fm_mpi_receive(fm_mpi_above(rank), bytes->data, (size_t)size);
    }
    for (unsigned i = 0; fm_mpi_below(rank, count, i) >= 0; i++) {
        int to = fm_mpi_below(rank, count, i);
        ok =
            fm_mpi_send(to, &size, sizeof size) && fm_mpi_send(to, bytes->data, (size_t)size) && ok;
    }
    return ok;
}
