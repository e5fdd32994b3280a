/* SPDX-License-Identifier: Apache-2.0 */
/* Heat on a rod, shared by the ranks of an MPI program: each has a piece and exchanges its ends
 * with its neighbours. The last rank has three times the work of the others, a mistake in sharing
 * the rod, and all others wait for it. Which rank it is, and what it does more often, is what its
 * profile tells: build it with `OMPI_CC="fathom cc" mpicc -O1`, run it with `mpirun -n 4 fathom
 * record -q -o prof -- ./stencil`, compare two ranks with `fathom diff`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 2000, STEPS = 40, TOO_MUCH = 3 };

struct piece {
    int cells;
    double *now, *next; /* cells + 2: a neighbour's at each end */
};

__attribute__((noinline)) static double relaxed(double left, double here, double right)
{
    return here + 0.25 * (left - 2 * here + right);
}

__attribute__((noinline)) static void relax(struct piece *p)
{
    for (int i = 1; i <= p->cells; i++)
        p->next[i] = relaxed(p->now[i - 1], p->now[i], p->now[i + 1]);
    double *old = p->now;
    p->now = p->next;
    p->next = old;
}

__attribute__((noinline)) static void exchange(struct piece *p, int rank, int count)
{
    int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
    int right = rank == count - 1 ? MPI_PROC_NULL : rank + 1;
    MPI_Sendrecv(&p->now[1], 1, MPI_DOUBLE, left, 0, &p->now[p->cells + 1], 1, MPI_DOUBLE, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p->now[p->cells], 1, MPI_DOUBLE, right, 1, &p->now[0], 1, MPI_DOUBLE, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    struct piece piece = {.cells = rank == count - 1 ? TOO_MUCH * CELLS : CELLS};
    piece.now = calloc((size_t)piece.cells + 2, sizeof *piece.now);
    piece.next = calloc((size_t)piece.cells + 2, sizeof *piece.next);
    if (piece.now == NULL || piece.next == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        piece.now[1] = 100 * CELLS;
    for (int step = 0; step < STEPS; step++) {
        exchange(&piece, rank, count);
        relax(&piece);
    }
    double heat = 0, all = 0;
    for (int i = 1; i <= piece.cells; i++)
        heat += piece.now[i];
    MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("heat: %.0f\n", all);
    free(piece.now);
    free(piece.next);
    MPI_Finalize();
    return 0;
}
