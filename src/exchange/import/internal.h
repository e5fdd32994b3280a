/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of formats. */
#pragma once

#include "base/text/json_read.h"
#include "exchange/import/import.h"
#include "exchange/import/stacks.h"
#include "exchange/import/unpack.h"

struct fm_import_input {
    const char *name;
    const char *program; /* the name without folder and suffix */
    const uint8_t *bytes;
    size_t size;
    size_t skipped;                          /* bytes before them: a mark of the byte order */
    size_t file_size;                        /* before it was unpacked */
    const struct fm_import_packing *packing; /* what it was compressed by; NULL = it was not */
    const struct fm_import_options *options;
};

typedef bool fm_import_read(const struct fm_import_input *input, struct fm_profile **ret,
                            GError **error);
fm_import_read fm_import_callgrind, fm_import_chrome, fm_import_cpuprofile, fm_import_dhat,
    fm_import_firefox, fm_import_heapprofile, fm_import_folded, fm_import_gmon,
    fm_import_gperftools, fm_import_heaptrack, fm_import_legacy, fm_import_massif, fm_import_otlp,
    fm_import_perfetto, fm_import_perf, fm_import_perfdata, fm_import_pprof, fm_import_speedscope;
typedef bool fm_import_is(const struct fm_import_input *input);
fm_import_is fm_import_is_callgrind, fm_import_is_chrome, fm_import_is_cpuprofile,
    fm_import_is_dhat, fm_import_is_firefox, fm_import_is_heapprofile, fm_import_is_folded,
    fm_import_is_gmon, fm_import_is_gperftools, fm_import_is_heaptrack, fm_import_is_legacy,
    fm_import_is_massif, fm_import_is_otlp, fm_import_is_perfetto, fm_import_is_perf,
    fm_import_is_perfdata, fm_import_is_pprof, fm_import_is_speedscope;

/* --- errors --- */

/* FM_ERROR_FORMAT with "NAME: " + the text. Returns false. */
bool fm_import_fail(const struct fm_import_input *input, GError **error, const char *format, ...)
    FM_PRINTF(3, 4);
/* "NAME: offset N: " + the text. */
bool fm_import_fail_at(const struct fm_import_input *input, uint64_t offset, int code,
                       GError **error, const char *format, ...) FM_PRINTF(5, 6);

/* --- lines of text --- */

struct fm_import_text {
    const char *name;
    const char *at, *end;
    uint64_t line; /* number of the one that was read last, from 1 */
};

void fm_import_text_begin(struct fm_import_text *text, const struct fm_import_input *input);
/* The next line without its end ("\n", "\r\n"); false at the end. */
bool fm_import_text_next(struct fm_import_text *text, const char **ret, size_t *ret_size);
/* "NAME: line N: " + the text. */
void fm_import_text_set_error(const struct fm_import_text *text, int code, GError **error,
                              const char *format, ...) FM_PRINTF(4, 5);
#define fm_import_text_fail(...) (fm_import_text_set_error(__VA_ARGS__), false)
/* All of the text is digits, and fits. */
bool fm_import_number(const char *text, size_t size, uint64_t *ret);

/* --- what it is --- */

#define FM_IMPORT_HEAD ((size_t)64 << 10)
/* Whether the first byte that is no blank is one of these, and stands in the first head bytes. */
bool fm_import_begins(const struct fm_import_input *input, size_t head, const char *one_of);
/* Whether the text stands in the first head bytes. */
bool fm_import_holds(const struct fm_import_input *input, size_t head, const char *text);

/* --- JSON --- */

/* The one value that the input is. */
bool fm_import_json(const struct fm_import_input *input, struct fm_json_value *ret, GError **error);
/* "NAME: offset N: " + the text; without offset if at is not in the input. */
bool fm_import_json_fail(const struct fm_import_input *input, struct fm_json_value at,
                         GError **error, const char *format, ...) FM_PRINTF(4, 5);
/* A number or a string as text; "0" of no value. g_free. */
char *fm_import_json_text(struct fm_json_value value);

/* --- measures --- */

/* The name of a measure for one of another tool: [a-z][a-z0-9_]*, at most 32 characters; g_free. */
char *fm_import_measure_name(const char *text, size_t size);
/* Adds to a sum that must fit 63 bits: false when it does not. */
bool fm_import_sum(uint64_t *sum, uint64_t value);
/* Marks measures among the first eight that are not in the mask as not known. No file says how
 * calls ended: all count as exits, and readers see only the number of calls. */
void fm_import_only_knows(struct fm_build *build, uint32_t known);
#define FM_IMPORT_CALLS (1u << FM_EXITS | 1u << FM_CALLSEQS)

/* --- times of samples --- */

/* Whether all samples have one time; zeroed at first. */
struct fm_import_times {
    uint64_t samples, first;
    bool differ;
};
/* time: any number that is equal for equal times alone, as a rule. */
void fm_import_times_add(struct fm_import_times *times, uint64_t time);
/* Warns that all samples have one time, unless they are too few to tell. */
void fm_import_times_tell(const struct fm_import_times *times, struct fm_build *build);

/* Time, whose unit is a power of ten of seconds: sets ticks. False: it is none. */
bool fm_import_time_unit(const char *unit, uint64_t *ret_per_second);
