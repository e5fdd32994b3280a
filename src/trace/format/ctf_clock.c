/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a CTF trace, from its metadata (CTF 1.8, sections 7.3 and 8). Times of two traces
 * compare when both clocks count from 1970, or when both are one clock by its UUID: the rule of
 * babeltrace2's muxer. */
#include <string.h>
#include <unistd.h>

#include "trace/format/ctf.h"

/* Tracers declare the clock before streams and events, in the first few KiB. */
#define METADATA_BYTES_MAX (64u << 10)
#define PACKET_MAGIC 0x75d11d57u
#define PACKET_HEADER_BYTES 37u
#define CONTENT_BITS_AT 24u
#define PACKET_BITS_AT 28u

static GString *read_begin(int fd)
{
    GString *bytes = g_string_sized_new(METADATA_BYTES_MAX);
    ssize_t got = 1;
    while (got > 0 && bytes->len < METADATA_BYTES_MAX) {
        got =
            pread(fd, bytes->str + bytes->len, METADATA_BYTES_MAX - bytes->len, (off_t)bytes->len);
        g_string_set_size(bytes, bytes->len + (gsize)MAX(got, 0));
    }
    return bytes;
}

static uint32_t number_at(const GString *bytes, gsize at, bool swapped)
{
    uint32_t number;
    memcpy(&number, bytes->str + at, sizeof number);
    return swapped ? GUINT32_SWAP_LE_BE(number) : number;
}

/* The text of all whole packets; of metadata without packets, all of it. */
static GString *text_of(const GString *bytes)
{
    GString *text = g_string_new(NULL);
    bool straight = bytes->len >= 4 && number_at(bytes, 0, false) == PACKET_MAGIC;
    bool swapped = bytes->len >= 4 && number_at(bytes, 0, true) == PACKET_MAGIC;
    if (!straight && !swapped)
        return g_string_append_len(text, bytes->str, (gssize)bytes->len);
    for (gsize at = 0; bytes->len - at >= PACKET_HEADER_BYTES;) {
        gsize content = number_at(bytes, at + CONTENT_BITS_AT, swapped) / 8;
        gsize packet = number_at(bytes, at + PACKET_BITS_AT, swapped) / 8;
        if (number_at(bytes, at, swapped) != PACKET_MAGIC || content < PACKET_HEADER_BYTES ||
            packet < content || packet > bytes->len - at)
            break;
        g_string_append_len(text, bytes->str + at + PACKET_HEADER_BYTES,
                            (gssize)(content - PACKET_HEADER_BYTES));
        at += packet;
    }
    return text;
}

/* One word, text or sign of the metadata from *at on; comments and spaces are passed over. Empty at
 * the end. Quotes are left out. Caller frees. */
static char *next_token(const char **at)
{
    const char *c = *at;
    for (bool more = true; more;) {
        const char *from = c;
        while (g_ascii_isspace(*c))
            c++;
        if (c[0] == '/' && c[1] == '*') {
            const char *end = strstr(c + 2, "*/");
            c = end != NULL ? end + 2 : c + strlen(c);
        } else if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
        }
        more = c != from;
    }
    const char *begin = c;
    if (*c == '"') {
        begin = ++c;
        while (*c != '\0' && *c != '"')
            c += c[0] == '\\' && c[1] != '\0' ? 2 : 1;
        *at = *c == '"' ? c + 1 : c;
        return g_strndup(begin, (gsize)(c - begin));
    }
    while (g_ascii_isalnum(*c) || *c == '_' || *c == '.')
        c++;
    if (c == begin && *c != '\0')
        c++;
    *at = c;
    return g_strndup(begin, (gsize)(c - begin));
}

struct clock_words {
    char *name, *uuid, *description, *absolute;
};

/* From behind "clock {" to "}". */
static void read_clock(const char **at, struct clock_words *ret)
{
    struct {
        const char *key;
        char **value;
    } wanted[] = {{"name", &ret->name},
                  {"uuid", &ret->uuid},
                  {"description", &ret->description},
                  {"absolute", &ret->absolute}};
    for (;;) {
        g_autofree char *key = next_token(at);
        if (key[0] == '\0' || strcmp(key, "}") == 0)
            return;
        const char *after = *at;
        g_autofree char *sign = next_token(&after);
        if (strcmp(sign, "=") != 0)
            continue;
        g_autofree char *value = next_token(&after);
        *at = after;
        for (unsigned i = 0; i < G_N_ELEMENTS(wanted); i++) {
            if (strcmp(key, wanted[i].key) == 0 && *wanted[i].value == NULL)
                *wanted[i].value = g_steal_pointer(&value);
            if (value == NULL)
                break;
        }
    }
}

static bool is_true(const char *word)
{
    return word != NULL && (g_ascii_strcasecmp(word, "true") == 0 || strcmp(word, "1") == 0);
}

/* LTTng does not say "absolute": its clock counts from 1970 all the same. */
static char *kind_of(const struct clock_words *words)
{
    bool lttng = g_strcmp0(words->name, "monotonic") == 0 && words->description != NULL &&
                 g_str_has_prefix(words->description, "Monotonic Clock");
    if (lttng || is_true(words->absolute))
        return g_strdup("time since 1970");
    if (words->uuid != NULL)
        return g_strdup_printf("clock %s", words->uuid);
    return g_strdup_printf("clock \"%s\" without a UUID", words->name != NULL ? words->name : "");
}

char *fm_ctf_clock(int metadata)
{
    g_autoptr(GString) bytes = read_begin(metadata);
    if (fm_ctf_is_2(bytes->str, bytes->len))
        return fm_ctf_clock_2(bytes->str, bytes->len);
    g_autoptr(GString) text = text_of(bytes);
    const char *at = text->str;
    for (;;) {
        g_autofree char *token = next_token(&at);
        if (token[0] == '\0' && *at == '\0')
            return NULL;
        const char *after = at;
        g_autofree char *sign = next_token(&after);
        if (strcmp(token, "clock") != 0 || strcmp(sign, "{") != 0)
            continue;
        struct clock_words words = {0};
        read_clock(&after, &words);
        char *kind = kind_of(&words);
        g_free(words.name);
        g_free(words.uuid);
        g_free(words.description);
        g_free(words.absolute);
        return kind;
    }
}
