/* SPDX-License-Identifier: Apache-2.0 */
/* As in simdjson (Langdale, Lemire: Parsing Gigabytes of JSON per Second, 2019): a bit for each
 * byte of a block, and what is within strings by the parity of the quotes before it. */
#include "base/text/json_scan.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK_BYTES 64u

/* Bit n: byte n of the block. */
struct marks {
    uint64_t quotes, escapes, opening, closing;
};

#ifdef __SSE2__
#define PART_BYTES 16u

static uint64_t equal(__m128i bytes, char to, unsigned shift)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(to))) << shift;
}

static struct marks marks_of(const char *block)
{
    struct marks marks = {0};
    for (unsigned at = 0; at < BLOCK_BYTES; at += PART_BYTES) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + at));
        __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* [ is { and ] is } */
        marks.quotes |= equal(bytes, '"', at);
        marks.escapes |= equal(bytes, '\\', at);
        marks.opening |= equal(folded, '{', at);
        marks.closing |= equal(folded, '}', at);
    }
    return marks;
}
#else
static struct marks marks_of(const char *block)
{
    struct marks marks = {0};
    for (unsigned at = 0; at < BLOCK_BYTES; at++) {
        char c = block[at], folded = (char)(c | 0x20);
        marks.quotes |= (uint64_t)(c == '"') << at;
        marks.escapes |= (uint64_t)(c == '\\') << at;
        marks.opening |= (uint64_t)(folded == '{') << at;
        marks.closing |= (uint64_t)(folded == '}') << at;
    }
    return marks;
}
#endif

/* What goes on in the next block. */
struct state {
    uint64_t within;     /* all bits: a string is open */
    uint64_t is_escaped; /* 1: a backslash stands in front of the next byte */
    uint64_t depth;      /* open brackets */
};

/* Removes quotes behind a backslash. */
static void drop_escaped(struct marks *marks, struct state *state)
{
    uint64_t escapes = marks->escapes & ~state->is_escaped;
    marks->quotes &= ~state->is_escaped;
    state->is_escaped = 0;
    while (escapes != 0) {
        uint64_t escape = escapes & -escapes;
        state->is_escaped = escape >> (BLOCK_BYTES - 1);
        marks->quotes &= ~(escape << 1);
        escapes &= ~(escape | escape << 1);
    }
}

/* Bit n: the number of bits up to n is odd. */
static uint64_t parity_up_to(uint64_t bits)
{
    for (unsigned shift = 1; shift < BLOCK_BYTES; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The place after the bracket in this block that closes the outermost; 0: it is not in it. */
static unsigned close_in(const char *block, struct state *state)
{
    struct marks marks = marks_of(block);
    if ((marks.escapes | state->is_escaped) != 0)
        drop_escaped(&marks, state);
    uint64_t within = parity_up_to(marks.quotes) ^ state->within;
    uint64_t opening = marks.opening & ~within, closing = marks.closing & ~within;
    state->within = -(within >> (BLOCK_BYTES - 1));
    uint64_t closed = (unsigned)__builtin_popcountll(closing);
    if (closed < state->depth) {
        state->depth += (unsigned)__builtin_popcountll(opening) - closed;
        return 0;
    }
    for (uint64_t left = opening | closing; left != 0; left &= left - 1) {
        if ((opening & left & -left) != 0)
            state->depth++;
        else if (--state->depth == 0)
            return (unsigned)__builtin_ctzll(left) + 1;
    }
    return 0;
}

const char *fm_json_close(const char *at, const char *end)
{
    struct state state = {.depth = 1};
    unsigned place;
    for (at++; (size_t)(end - at) >= BLOCK_BYTES; at += BLOCK_BYTES) {
        place = close_in(at, &state);
        if (place != 0)
            return at + place;
    }
    char rest[BLOCK_BYTES] = {0};
    memcpy(rest, at, (size_t)(end - at));
    place = close_in(rest, &state);
    return place != 0 ? at + place : end;
}

const char *fm_json_plain_end(const char *at, const char *end)
{
#ifdef __SSE2__
    for (; (size_t)(end - at) >= PART_BYTES; at += PART_BYTES) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        /* Bytes compare as signed, so the ones beyond ASCII are below a blank, too. */
        __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
        __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        int found = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quotes, escapes)));
        if (found != 0)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ' &&
           (unsigned char)*at < 0x80)
        at++;
    return at;
}
