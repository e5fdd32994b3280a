/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/growing/delta.h"

#include <string.h>

#include "base/text/json.h"

#define NEAR 64u
#define STEPS_MAX 256u
#define SHORT 6u /* cost of describing a part, in characters */

/* A page is divided at the beginnings of rows and lines, so that changes in a table affect few
 * pieces. */
struct piece {
    const char *text;
    size_t size;
};

static GArray *cut(const char *text)
{
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
    while (*text != '\0') {
        const char *line = strchr(text, '\n');
        const char *end = line != NULL ? line + 1 : text + strlen(text);
        const char *row = memmem(text + 1, (size_t)(end - text) - 1, "<tr", strlen("<tr"));
        end = row != NULL ? row : end;
        struct piece piece = {text, (size_t)(end - text)};
        g_array_append_val(pieces, piece);
        text = end;
    }
    return pieces;
}

static guint hash_piece(gconstpointer of)
{
    const struct piece *piece = of;
    guint hash = 5381;
    for (size_t i = 0; i < piece->size; i++)
        hash = hash * 33 + (guchar)piece->text[i];
    return hash;
}

static gboolean same_piece(gconstpointer a, gconstpointer b)
{
    const struct piece *p = a, *q = b;
    return p->size == q->size && memcmp(p->text, q->text, p->size) == 0;
}

static const struct piece *piece_at(const GArray *pieces, guint at)
{
    return &g_array_index(pieces, struct piece, at);
}

/* Length in UTF-16 of valid UTF-8. */
static int64_t length_of(const struct piece *piece)
{
    int64_t length = 0;
    for (size_t i = 0; i < piece->size; i++) {
        guchar byte = (guchar)piece->text[i];
        length += (byte & 0xc0) != 0x80;
        length += byte >= 0xf0;
    }
    return length;
}

struct delta {
    struct fm_json json;
    int64_t taken; /* characters copied from the old text but not yet written; negative for a
                      skipped part */
    GString *put;  /* inserted text not yet written */
};

static void flush(struct delta *delta)
{
    if (delta->taken != 0)
        fm_json_int(&delta->json, NULL, delta->taken);
    delta->taken = 0;
    if (delta->put->len > 0)
        fm_json_text(&delta->json, NULL, delta->put->str);
    g_string_truncate(delta->put, 0);
}

static void move(struct delta *delta, int64_t length)
{
    if ((length > 0) != (delta->taken > 0) || delta->put->len > 0)
        flush(delta);
    delta->taken += length;
}

/* First place of each piece, as place + 1; *ret_next: for each place, the next one with an equal
 * piece; the number of pieces = none. */
static GHashTable *index_of(const GArray *pieces, guint **ret_next)
{
    GHashTable *first = g_hash_table_new(hash_piece, same_piece);
    guint *next = g_new0(guint, pieces->len + 1);
    for (guint i = pieces->len; i-- > 0;) {
        void *known = g_hash_table_lookup(first, piece_at(pieces, i));
        next[i] = known == NULL ? pieces->len : GPOINTER_TO_UINT(known) - 1;
        g_hash_table_replace(first, (void *)(uintptr_t)piece_at(pieces, i),
                             GUINT_TO_POINTER(i + 1));
    }
    *ret_next = next;
    return first;
}

/* Finds a piece of the new text in the old one, from a place on; the old one's length = not found.
 * A frequent piece (an empty line) is searched only nearby, since everything up to the match is
 * dropped. */
static guint place_of(const GArray *old, GHashTable *first, const guint *next,
                      const struct piece *piece, guint at)
{
    if (at < old->len && same_piece(piece_at(old, at), piece))
        return at;
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(first, piece)), steps = 0;
    guint place = found == 0 ? old->len : found - 1;
    bool often = place < old->len && next[place] < old->len;
    while (place < at && steps++ < STEPS_MAX)
        place = next[place];
    return place < at || (often && place - at > NEAR) ? old->len : place;
}

/* --- pieces that differ only in figures --- */

static bool is_figure(char c)
{
    return g_ascii_isdigit(c) || c == '.' || c == ',';
}

/* The part from a place on that consists of figures only, or contains none. */
static struct piece part_at(const struct piece *piece, size_t at)
{
    size_t end = at;
    while (end < piece->size && is_figure(piece->text[end]) == is_figure(piece->text[at]))
        end++;
    return (struct piece){piece->text + at, end - at};
}

static bool is_alike(const struct piece *old, const struct piece *new)
{
    size_t i = 0, j = 0;
    while (i < old->size && j < new->size) {
        struct piece one = part_at(old, i), other = part_at(new, j);
        bool figures = is_figure(one.text[0]) && is_figure(other.text[0]);
        if (!figures && !same_piece(&one, &other))
            return false;
        i += one.size;
        j += other.size;
    }
    return i == old->size && j == new->size;
}

static void put_figures(struct delta *delta, const struct piece *old, const struct piece *new)
{
    for (size_t i = 0, j = 0; j < new->size;) {
        struct piece one = part_at(old, i), other = part_at(new, j);
        bool changing = delta->put->len > 0 && delta->taken <= 0;
        i += one.size;
        j += other.size;
        if (same_piece(&one, &other) && (!changing || one.size > SHORT)) {
            move(delta, length_of(&one));
            continue;
        }
        if (changing)
            delta->taken -= length_of(&one);
        else
            move(delta, -length_of(&one));
        g_string_append_len(delta->put, other.text, (gssize)other.size);
    }
}

/* A range of old pieces, and the new ones that replace it. */
struct gap {
    guint old, old_end, new, new_end;
};

/* The first old piece that differs from a new one only in figures. */
static guint alike_in(const GArray *old, const struct gap *gap, const struct piece *piece)
{
    guint end = MIN(gap->old_end, gap->old + NEAR);
    for (guint i = gap->old; i < end; i++)
        if (is_alike(piece_at(old, i), piece))
            return i;
    return gap->old_end;
}

static void close_gap(struct delta *delta, const GArray *old, const GArray *new, struct gap gap)
{
    for (; gap.new < gap.new_end; gap.new ++) {
        const struct piece *piece = piece_at(new, gap.new);
        guint like = alike_in(old, &gap, piece);
        if (like == gap.old_end) {
            g_string_append_len(delta->put, piece->text, (gssize)piece->size);
            continue;
        }
        for (; gap.old < like; gap.old++)
            move(delta, -length_of(piece_at(old, gap.old)));
        put_figures(delta, piece_at(old, gap.old++), piece);
    }
    for (; gap.old < gap.old_end && gap.new_end < new->len; gap.old++)
        move(delta, -length_of(piece_at(old, gap.old)));
}

char *fm_delta(const char *before, const char *after)
{
    g_return_val_if_fail(before != NULL && after != NULL, NULL);
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GArray) old = cut(before);
    g_autoptr(GArray) new = cut(after);
    struct delta delta = {.put = g_string_new(NULL)};
    g_autofree guint *next = NULL;
    g_autoptr(GHashTable) first = index_of(old, &next);
    fm_json_init(&delta.json, out);
    fm_json_array(&delta.json, NULL);
    struct gap gap = {0};
    for (; gap.new_end < new->len; gap.new_end++) {
        const struct piece *piece = piece_at(new, gap.new_end);
        gap.old_end = place_of(old, first, next, piece, gap.old);
        if (gap.old_end == old->len)
            continue;
        close_gap(&delta, old, new, gap);
        move(&delta, length_of(piece));
        gap.old = gap.old_end + 1;
        gap.new = gap.new_end + 1;
    }
    gap.old_end = old->len;
    close_gap(&delta, old, new, gap);
    flush(&delta);
    fm_json_end(&delta.json);
    g_string_free(delta.put, TRUE);
    return g_strdup(out->str);
}
