/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates the shares: a file that is given twice may be in two shares, and a file that fits one
 * share may not fit the others. Each process adds up its share, and then knows of its files the
 * facts of runs/merge/told.h. These go up the tree; the decision which files are in the sum of all
 * comes down. The result is the same as if one process had added all files in order. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runs/mpi/internal.h"
#include "runs/merge/told.h"

#define ROUNDS_MAX 8 /* changing which file is the first of its kind may need further rounds */

struct record {
    uint32_t number; /* number of the path */
    bool known;      /* its kind and place are known: */
    uint64_t device, inode;
    char **told; /* [FM_TOLD_FIELDS], pointing into its process's text */
};

struct deciding {
    struct fm_mpi_share *share;
    char **paths;
    bool repeats_wanted;
    GArray *records;     /* struct record, ascending */
    GHashTable *refused; /* kind -> why such files do not fit, without the name of the file */
    GHashTable *places, *contents, *parts; /* strings of earlier files */
    GPtrArray *firsts; /* struct record: the first of each kind, without repeats */
    GHashTable *kinds; /* kinds of earlier files */
    struct fm_mpi_files *ret;
};

static void append_own(GString *text, char **paths, uint32_t count, const char *told)
{
    int rank, processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    const char *line = told;
    for (uint32_t i = (uint32_t)rank; line != NULL && i < count; i += (uint32_t)processes) {
        struct stat status;
        const char *end = strchr(line, '\n');
        bool known = stat(paths[i], &status) == 0;
        if (end == NULL)
            break;
        g_string_append_printf(text, "%u\t%d\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t", i,
                               known, known ? (guint64)status.st_dev : 0,
                               known ? (guint64)status.st_ino : 0);
        g_string_append_len(text, line, end - line + 1);
        line = end + 1;
    }
}

static bool gather(GString *text)
{
    int rank, processes;
    bool ok = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (unsigned i = 0; fm_mpi_below(rank, processes, i) >= 0; i++) {
        uint64_t more = 0;
        int from = fm_mpi_below(rank, processes, i);
        gsize had = text->len;
        if (!fm_mpi_receive(from, &more, sizeof more)) {
            ok = false;
            continue;
        }
        g_string_set_size(text, had + (gsize)more);
        ok = fm_mpi_receive(from, text->str + had, (size_t)more) && ok;
    }
    const uint64_t all = text->len;
    return ok && (rank == 0 || (fm_mpi_send(fm_mpi_above(rank), &all, sizeof all) &&
                                fm_mpi_send(fm_mpi_above(rank), text->str, text->len)));
}

static int compare(const void *a, const void *b)
{
    const struct record *one = a, *other = b;
    return one->number < other->number ? -1 : one->number > other->number;
}

static GArray *records_of(const char *text, uint32_t count)
{
    enum { OWN = 4 }; /* fields before those of runs/merge/told.h */
    GArray *records = g_array_new(FALSE, FALSE, sizeof(struct record));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, "\t", OWN + FM_TOLD_FIELDS);
        if (g_strv_length(fields) != OWN + FM_TOLD_FIELDS)
            continue;
        struct record record = {.number = (uint32_t)strtoul(fields[0], NULL, 10),
                                .known = *fields[1] == '1',
                                .device = g_ascii_strtoull(fields[2], NULL, 10),
                                .inode = g_ascii_strtoull(fields[3], NULL, 10),
                                .told = g_strdupv(fields + OWN)};
        if (record.number < count)
            g_array_append_val(records, record);
        else
            g_strfreev(record.told);
    }
    g_array_sort(records, compare);
    return records;
}

/* Whether it is the same file again, by the same name or another. Files of several machines: device
 * and inode count only together with equal bytes. */
static bool is_twice(struct deciding *d, const struct record *record)
{
    bool by_name = !g_hash_table_add(d->places, g_strdup(d->paths[record->number]));
    bool by_place = record->known &&
                    !g_hash_table_add(
                        d->places, g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ":%s",
                                                   (guint64)record->device, (guint64)record->inode,
                                                   record->told[FM_TOLD_CONTENT]));
    return record->known && (by_name || by_place);
}

#define HASH_DIGITS (2 * (size_t)FM_CONTENT_HASH_BYTES)

static bool has_part(const struct deciding *d, const struct record *record)
{
    const char *parts = record->told[FM_TOLD_PARTS];
    for (size_t left = strlen(parts); left >= HASH_DIGITS;
         left -= HASH_DIGITS, parts += HASH_DIGITS) {
        g_autofree char *part = g_strndup(parts, HASH_DIGITS);
        if (g_hash_table_contains(d->parts, part))
            return true;
    }
    return false;
}

/* Why a file is left out, g_free(); NULL: it is added. */
static char *why_not(struct deciding *d, const struct record *record)
{
    const char *path = d->paths[record->number], *kind = record->told[FM_TOLD_KIND];
    const char *first = g_hash_table_lookup(d->contents, record->told[FM_TOLD_CONTENT]), *why;
    bool copies = *record->told[FM_TOLD_COPIES] == '1';
    if (!d->repeats_wanted && is_twice(d, record))
        return g_strdup_printf(FM_TOLD_TWICE, path);
    if (*record->told[FM_TOLD_STATE] == FM_TOLD_UNREAD)
        return g_strdup(record->told[FM_TOLD_WHY]);
    if (!d->repeats_wanted && has_part(d, record))
        return g_strdup_printf(FM_TOLD_PART, path);
    if (!d->repeats_wanted && copies && first != NULL)
        return g_strdup_printf(FM_TOLD_COPY, path, first);
    if (g_hash_table_add(d->kinds, g_strdup(kind)))
        g_ptr_array_add(d->firsts, (gpointer)(uintptr_t)record);
    why = g_hash_table_lookup(d->refused, kind);
    return why == NULL ? NULL : g_strdup_printf("%s%s", path, why);
}

static void see_added(struct deciding *d, const struct record *record)
{
    const char *parts = record->told[FM_TOLD_PARTS], *body = record->told[FM_TOLD_BODIES];
    for (size_t left = strlen(parts); left >= HASH_DIGITS;
         left -= HASH_DIGITS, parts += HASH_DIGITS)
        g_hash_table_add(d->parts, g_strndup(parts, HASH_DIGITS));
    if (*record->told[FM_TOLD_COPIES] == '1')
        g_hash_table_insert(d->contents, g_strdup(record->told[FM_TOLD_CONTENT]),
                            d->paths[record->number]);
    /* Unreadable bodies are all zeros, and different from any others. */
    if (*body != '\0' && d->ret->body == NULL)
        d->ret->body = g_strdup(body);
    if (*body != '\0' && (strcmp(body, d->ret->body) != 0 || strspn(body, "0") == HASH_DIGITS))
        d->ret->what[2 * (size_t)d->ret->count] = 1;
}

/* Decides about each file in turn, by what is known of the kinds. */
static void pass(struct deciding *d)
{
    struct fm_mpi_files *ret = d->ret;
    g_hash_table_remove_all(d->places);
    g_hash_table_remove_all(d->contents);
    g_hash_table_remove_all(d->parts);
    g_hash_table_remove_all(d->kinds);
    g_ptr_array_set_size(d->firsts, 0);
    g_string_truncate(ret->why, 0);
    g_clear_pointer(&ret->body, g_free);
    ret->left_out = 0;
    memset(ret->bytes->data, 0, ret->bytes->len);
    for (guint i = 0; i < d->records->len; i++) {
        const struct record *record = &g_array_index(d->records, struct record, i);
        g_autofree char *why = why_not(d, record);
        ret->what[record->number] = why == NULL ? FM_MPI_ADD : FM_MPI_LEAVE_OUT;
        if (why == NULL) {
            ret->what[ret->count + record->number] =
                (uint32_t)strtoul(record->told[FM_TOLD_RANK], NULL, 10);
            see_added(d, record);
            continue;
        }
        ret->left_out++;
        g_string_append_printf(ret->why, "%s\n", why);
    }
}

/* Whether some share added a file of its kind. */
static bool was_added(const struct deciding *d, const struct record *of)
{
    for (guint i = 0; i < d->records->len; i++) {
        const struct record *record = &g_array_index(d->records, struct record, i);
        if (*record->told[FM_TOLD_STATE] == FM_TOLD_ADDED &&
            strcmp(record->told[FM_TOLD_KIND], of->told[FM_TOLD_KIND]) == 0)
            return true;
    }
    return false;
}

/* Adds up the first files of all kinds, which shows the kinds that do not fit. False: not
 * necessary. */
static bool try_kinds(struct deciding *d)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    if (d->firsts->len == 0 || (d->firsts->len == 1 && was_added(d, d->firsts->pdata[0])))
        return false;
    for (guint i = 0; i < d->firsts->len; i++) {
        const struct record *record = d->firsts->pdata[i];
        g_ptr_array_add(paths, d->paths[record->number]);
    }
    g_autofree char *told = fm_mpi_share_try(d->share, (char **)paths->pdata, paths->len);
    g_hash_table_remove_all(d->refused);
    g_auto(GStrv) lines = g_strsplit(told == NULL ? "" : told, "\n", -1);
    for (guint i = 0; i < paths->len && lines[i] != NULL; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], "\t", FM_TOLD_FIELDS);
        const struct record *record = d->firsts->pdata[i];
        const char *path = paths->pdata[i];
        if (g_strv_length(fields) != FM_TOLD_FIELDS || *fields[FM_TOLD_STATE] == FM_TOLD_ADDED)
            continue;
        const char *why = fields[FM_TOLD_WHY];
        if (g_str_has_prefix(why, path))
            why += strlen(path);
        g_hash_table_insert(d->refused, g_strdup(record->told[FM_TOLD_KIND]), g_strdup(why));
    }
    return true;
}

static GHashTable *new_texts(GDestroyNotify value)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value);
}

/* Done by process 0. */
static void decide(struct deciding *d)
{
    g_autoptr(GPtrArray) tried = g_ptr_array_new();
    d->refused = new_texts(g_free);
    d->places = new_texts(NULL);
    d->contents = new_texts(NULL);
    d->parts = new_texts(NULL);
    d->kinds = new_texts(NULL);
    d->firsts = g_ptr_array_new();
    pass(d);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (tried->len == d->firsts->len &&
            (tried->len == 0 ||
             memcmp(tried->pdata, d->firsts->pdata, tried->len * sizeof *tried->pdata) == 0))
            break;
        g_ptr_array_set_size(tried, 0);
        for (guint i = 0; i < d->firsts->len; i++)
            g_ptr_array_add(tried, d->firsts->pdata[i]);
        if (!try_kinds(d))
            break;
        pass(d);
    }
    GHashTable *const tables[] = {d->refused, d->places, d->contents, d->parts, d->kinds};
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
        g_hash_table_unref(tables[i]);
    g_ptr_array_unref(d->firsts);
}

bool fm_mpi_look_at_files(struct fm_mpi_share *share, char **paths, uint32_t count,
                          bool repeats_wanted, struct fm_mpi_files *ret)
{
    int rank;
    const size_t size = (2 * (size_t)count + 1) * sizeof(uint32_t);
    g_autoptr(GString) text = g_string_new(NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *ret = (struct fm_mpi_files){
        .bytes = g_byte_array_new(), .why = g_string_new(NULL), .count = count};
    append_own(text, paths, count, share->told);
    bool ok = gather(text);
    if (rank == 0) {
        struct deciding d = {.share = share,
                             .paths = paths,
                             .repeats_wanted = repeats_wanted,
                             .records = records_of(text->str, count),
                             .ret = ret};
        g_byte_array_set_size(ret->bytes, (guint)size);
        ret->what = (uint32_t *)(void *)ret->bytes->data;
        decide(&d);
        for (guint i = 0; i < d.records->len; i++)
            g_strfreev(g_array_index(d.records, struct record, i).told);
        g_array_unref(d.records);
    }
    ok = fm_mpi_spread(ret->bytes) && ok && ret->bytes->len == size;
    if (!ok) {
        fm_mpi_files_done(ret);
        return false;
    }
    ret->what = (uint32_t *)(void *)ret->bytes->data;
    ret->ranks = ret->what + count;
    ret->bodies_differ = ret->what[2 * (size_t)count] != 0;
    for (uint32_t i = 0; i < count; i++)
        ret->ranked = ret->ranked || ret->ranks[i] != 0;
    return true;
}

void fm_mpi_files_done(struct fm_mpi_files *files)
{
    g_clear_pointer(&files->bytes, g_byte_array_unref);
    g_clear_pointer(&files->body, g_free);
    if (files->why != NULL)
        g_string_free(files->why, TRUE);
    *files = (struct fm_mpi_files){0};
}
