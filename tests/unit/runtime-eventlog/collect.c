/* SPDX-License-Identifier: Apache-2.0 */
#include "collect.h"

#include <string.h>

struct cursor {
    const uint8_t *p, *end;
};

static uint64_t head(struct cursor *c, unsigned major)
{
    g_assert_true(c->p < c->end);
    unsigned low = *c->p & 31;
    g_assert_cmpuint(*c->p >> 5, ==, major);
    c->p++;
    if (low < 24)
        return low;
    g_assert_cmpuint(low, <=, 27);
    unsigned n = 1u << (low - 24);
    g_assert_cmpuint((size_t)(c->end - c->p), >=, n);
    uint64_t v = 0;
    while (n--)
        v = v << 8 | *c->p++;
    return v;
}

static uint64_t form(struct cursor *c, uint64_t *fields)
{
    *fields = head(c, 4) - 1;
    return head(c, 0);
}

static const uint8_t *bytes_value(struct cursor *c, size_t *n)
{
    *n = (size_t)head(c, 2);
    g_assert_cmpuint(*n, <=, (size_t)(c->end - c->p));
    const uint8_t *data = c->p;
    c->p += *n;
    return data;
}

/* Any value, to its end; depth is bounded by the shape of a state. */
static void skip(struct cursor *c, int depth)
{
    g_assert_cmpint(depth, <, 12);
    g_assert_true(c->p < c->end);
    unsigned major = *c->p >> 5;
    if (*c->p == 0x9F) {
        for (c->p++; *c->p != 0xFF;)
            skip(c, depth + 1);
        c->p++;
        return;
    }
    if (major == 7) {
        g_assert_true(*c->p == 0xF4 || *c->p == 0xF5);
        c->p++;
        return;
    }
    uint64_t n = head(c, major);
    if (major == 2 || major == 3) {
        g_assert_cmpuint(n, <=, (size_t)(c->end - c->p));
        c->p += n;
    }
    if (major == 5)
        n *= 2;
    if (major == 4 || major == 5)
        while (n--)
            skip(c, depth + 1);
}

static void whole_event(struct collect *c, const uint8_t *p, size_t n)
{
    g_assert_cmpuint(n, >=, 10);
    unsigned type = (unsigned)(p[0] << 8 | p[1]);
    if (type == 522) {
        uint64_t v = 0;
        g_assert_cmpuint(n, ==, 18);
        for (int i = 14; i < 18; i++)
            v = v << 8 | p[i];
        g_assert_cmpuint(v, >=, c->numbers);
        c->numbers++;
    }
    c->messages += type == 19;
}

static void whole_state(const uint8_t *p, size_t n)
{
    struct cursor c = {p, p + n};
    g_assert_cmpuint(p[0], ==, 0x87);
    g_assert_cmpuint(p[1], ==, 0);
    skip(&c, 0);
    g_assert_true(c.p == c.end);
}

static void whole(struct collect *c, bool state, const uint8_t *p, size_t n)
{
    if (state) {
        c->states++;
        whole_state(p, n);
    } else {
        whole_event(c, p, n);
    }
}

static void partial(struct collect *c, struct cursor *at, bool state)
{
    uint64_t fields, what = form(at, &fields);
    size_t n;
    if (what == 0) {
        const uint8_t *p = bytes_value(at, &n);
        c->largest_payload = MAX(c->largest_payload, n);
        whole(c, state, p, n);
    } else if (what == 1) {
        g_assert_cmpuint(fields, ==, 1);
        g_assert_cmpuint(form(at, &fields), ==, 0);
        c->piece_id = head(at, 0);
        c->pieces_left = head(at, 0);
        c->piece_next = 0;
        g_assert_cmpuint(c->pieces_left, >, 1);
        g_byte_array_set_size(c->pieces, 0);
        c->incomplete++;
    } else {
        g_assert_cmpuint(what, ==, 2);
        g_assert_cmpuint(head(at, 0), ==, c->piece_id);
        g_assert_cmpuint(head(at, 0), ==, c->piece_next++);
        const uint8_t *p = bytes_value(at, &n);
        c->largest_payload = MAX(c->largest_payload, n);
        g_byte_array_append(c->pieces, p, (guint)n);
        if (--c->pieces_left == 0) {
            c->incomplete--;
            whole(c, state, c->pieces->data, c->pieces->len);
        }
    }
}

static void block_message(struct collect *c, struct cursor *at)
{
    uint64_t fields;
    if (form(at, &fields) == 0) {
        g_assert_cmpuint(form(at, &fields), ==, 0);
        g_assert_cmpuint(fields, ==, 5);
        c->heads++;
        head(at, 0);
        uint64_t begin = head(at, 0), done = head(at, 0);
        g_assert_cmpuint(begin, <=, done);
        head(at, 0);
        c->announced_parts += head(at, 0);
        return;
    }
    g_assert_cmpuint(head(at, 0), ==, c->heads - 1); /* ids count from 0 */
    uint64_t left = c->pieces_left;
    partial(c, at, false);
    c->parts += c->pieces_left == 0 && (left <= 1);
}

void collect_message(struct collect *c, const uint8_t *data, size_t bytes)
{
    struct cursor at = {data, data + bytes};
    uint64_t fields, what = form(&at, &fields);
    size_t n;
    if (what == 1) {
        if (form(&at, &fields) == 0) {
            c->types_announced = head(&at, 0);
        } else {
            const uint8_t *p = bytes_value(&at, &n);
            g_assert_cmpmem(p, 4, "etb", 4);
            g_assert_cmpmem(p + n - 4, 4, "ete", 4);
            c->types++;
        }
    } else if (what == 2) {
        if (form(&at, &fields) == 0) {
            block_message(c, &at);
        } else {
            c->singles++;
            partial(c, &at, false);
        }
    } else {
        g_assert_cmpuint(what, ==, 3);
        partial(c, &at, true);
    }
    g_assert_true(at.p == at.end);
}

struct collect *collect_new(void)
{
    struct collect *c = g_new0(struct collect, 1);
    c->pieces = g_byte_array_new();
    return c;
}

struct collect *collect_frames(const uint8_t *data, size_t bytes, bool whole_frames)
{
    struct collect *c = collect_new();
    for (size_t at = 0; at < bytes;) {
        uint64_t n = 0;
        for (int i = 0; i < 4 && at + 4 <= bytes; i++)
            n = n << 8 | data[at + (size_t)i];
        if (at + 4 + n > bytes) {
            g_assert_false(whole_frames);
            break;
        }
        collect_message(c, data + at + 4, (size_t)n);
        at += 4 + (size_t)n;
    }
    return c;
}

void collect_free(struct collect *c)
{
    g_byte_array_unref(c->pieces);
    g_free(c);
}
