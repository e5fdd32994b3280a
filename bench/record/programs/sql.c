/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a file of SQL statements a number of times, on a database in memory, or in a file, which is
 * written without fsync. */
#include "sqlite3.h"
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;

static int row(void *data, int count, char **values, char **names)
{
    (void)data;
    (void)names;
    for (int i = 0; i < count; i++)
        for (const char *c = values[i] != NULL ? values[i] : ""; *c != '\0'; c++)
            sum = sum * 31 + (unsigned char)*c;
    return 0;
}

int main(int argc, char **argv)
{
    static char script[1 << 16];
    if (argc < 2)
        return 2;
    FILE *file = fopen(argv[1], "r");
    if (file == NULL || fread(script, 1, sizeof script - 1, file) == 0)
        return 1;
    fclose(file);
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < rounds; i++) {
        sqlite3 *db;
        char *message = NULL;
        if (argc > 3)
            remove(argv[3]);
        if (sqlite3_open(argc > 3 ? argv[3] : ":memory:", &db) != SQLITE_OK ||
            sqlite3_exec(db, "PRAGMA synchronous=OFF", NULL, NULL, &message) != SQLITE_OK ||
            sqlite3_exec(db, script, row, NULL, &message) != SQLITE_OK) {
            fprintf(stderr, "%s\n", message != NULL ? message : "cannot open");
            return 1;
        }
        sqlite3_close(db);
    }
    printf("%lu\n", sum);
    return 0;
}
