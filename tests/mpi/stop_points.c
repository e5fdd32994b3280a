/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into the processes of `fathom merge --mpi`: named points at their sends, receives,
 * renames and removes. Each is written to the file POINTS_PASSED. At the point POINTS_STOP a
 * process creates the file POINTS_STOPPED, and continues when that is removed. A point:
 * RANK.CALL.N, the process's Nth, or RANK.CALL.NAME around the rename that gives the result its
 * NAME (POINTS_RESULT). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void passed(const char *point)
{
    const char *path = getenv("POINTS_PASSED"), *stop = getenv("POINTS_STOP");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        dprintf(file, "%s\n", point);
        close(file);
    }
    const char *stopped = getenv("POINTS_STOPPED");
    if (stop == NULL || strcmp(stop, point) != 0)
        return;
    close(open(stopped, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (access(stopped, F_OK) == 0)
        usleep(1000);
}

static void count(const char *call, unsigned *calls)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char point[64];
    if (rank == NULL || strcmp(program_invocation_short_name, "fathom-merge-mpi") != 0)
        return;
    snprintf(point, sizeof point, "%s.%s.%u", rank, call, ++*calls);
    passed(point);
}

int MPI_Isend(const void *bytes, int size, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static unsigned calls;
    count("send", &calls);
    return PMPI_Isend(bytes, size, type, to, tag, comm, request);
}

int MPI_Recv(void *bytes, int size, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    static unsigned calls;
    count("receive", &calls);
    return PMPI_Recv(bytes, size, type, from, tag, comm, status);
}

int unlinkat(int folder, const char *path, int flags)
{
    static unsigned calls;
    count("remove", &calls);
    int (*real)(int, const char *, int) = dlsym(RTLD_NEXT, "unlinkat");
    return real(folder, path, flags);
}

static void around(const char *call, const char *path)
{
    const char *result = getenv("POINTS_RESULT"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *name = strrchr(path, '/');
    char point[512];
    name = name != NULL ? name + 1 : path;
    if (result == NULL || rank == NULL || strcmp(result, name) != 0)
        return;
    snprintf(point, sizeof point, "%s.%s.%s", rank, call, name);
    passed(point);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    around("rename", to);
    int status = real(from, to);
    around("renamed", to);
    return status;
}
