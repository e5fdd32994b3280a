/* SPDX-License-Identifier: Apache-2.0 */
/* The fragments of CTF 2 metadata: JSON texts, each behind a record separator (RFC 7464). */
#include <string.h>

#include "base/error.h"
#include "trace/format/ctf.h"

#define SEPARATOR '\x1e'

bool fm_ctf_is_2(const char *metadata, size_t size)
{
    return size > 0 && metadata[0] == SEPARATOR;
}

bool fm_ctf_fragment_next(struct fm_ctf_fragments *fragments, struct fm_json_value *ret,
                          GError **error)
{
    const char *expected;
    size_t offset;
    while (fragments->at < fragments->size && fragments->text[fragments->at] == SEPARATOR)
        fragments->at++;
    if (fragments->at >= fragments->size)
        return false;
    const char *begin = fragments->text + fragments->at;
    size_t left = fragments->size - fragments->at;
    const char *end = memchr(begin, SEPARATOR, left);
    size_t size = end == NULL ? left : (size_t)(end - begin);
    size_t at = fragments->at;
    fragments->at += size;
    if (fm_json_check(begin, size, ret, &offset, &expected) && fm_json_is_object(*ret))
        return true;
    if (expected == NULL) {
        offset = 0;
        expected = "a fragment, a JSON object";
    }
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "offset %zu: expected %s", at + offset, expected);
    return false;
}

/* Two clocks compare when both count from 1970, when their origin is the same, or when they are
 * one by their identity. */
static char *kind_of(struct fm_json_value clock)
{
    struct fm_json_value origin = fm_json_member(clock, "origin");
    if (fm_json_equals(origin, "unix-epoch"))
        return g_strdup("time since 1970");
    bool custom = fm_json_is_object(origin);
    struct fm_json_value of = custom ? origin : clock;
    g_autofree char *name = fm_json_string(fm_json_member(of, "name"));
    g_autofree char *uid = fm_json_string(fm_json_member(of, "uid"));
    if (custom)
        return g_strdup_printf("origin \"%s\" %s", name, uid);
    return uid[0] != '\0' ? g_strdup_printf("clock %s", uid)
                          : g_strdup_printf("clock \"%s\" without a UUID", name);
}

char *fm_ctf_clock_2(const char *text, size_t size)
{
    struct fm_ctf_fragments fragments = {.text = text, .size = size};
    struct fm_json_value fragment;
    while (fm_ctf_fragment_next(&fragments, &fragment, NULL)) {
        if (fm_json_equals(fm_json_member(fragment, "type"), "clock-class"))
            return kind_of(fragment);
    }
    return NULL;
}
