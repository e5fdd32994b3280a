/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of other tools. What a format does not say is not known in the profile either
 * (fm_run_info.unknown), what was made of the file is its origin. */
#pragma once

#include "profile/file/profile.h"

struct fm_import_options {
    const char *format; /* a name of the table; NULL = by the file's content */
    /* name of the profiled program; NULL = from the file's name. gmon: its file */
    const char *program;
    const char *symfs; /* perf.data: folder that the recorded paths lie in; NULL = the root */
    bool compile_time; /* the path is a build's folder, with files of clang's -ftime-trace in it */
    const char *unit; /* folded: what a number counts: samples, ns, us, ms, bytes; NULL = samples */
};

struct fm_import_format {
    const char *name;    /* "pprof" */
    const char *summary; /* for --help */
};

/* Ends with a NULL name. */
extern const struct fm_import_format *const fm_import_formats;

/* Reads a file, gzipped or not, or standard input ("-"). The caller owns *ret. Memory: a small
 * multiple of the file; unpacked at most a hundred times its size and 64 MiB. Errors name file and
 * line or offset: FM_ERROR_IO, _FORMAT, _TRUNCATED, _LIMIT (sums beyond 63 bits, unpacked size),
 * _UNAVAILABLE (no stack is in it), _USAGE (no such format or unit, or no format is recognised). */
FM_MUST_USE bool fm_import(const char *path, const struct fm_import_options *options,
                           struct fm_profile **ret, GError **error);
/* As above, from bytes. name is used in messages and, without folder, as the program's name. */
FM_MUST_USE bool fm_import_bytes(const char *name, const uint8_t *bytes, size_t size,
                                 const struct fm_import_options *options, struct fm_profile **ret,
                                 GError **error);
/* Whether the file looks like one of another tool's profiles: by its first bytes; false also when
 * it cannot be read. */
bool fm_import_recognises(const char *path);

/* A known format that cannot be imported. */
struct fm_import_known {
    const char *what; /* "perf's own file" */
    const char *help; /* command that reads it or converts it; "%s" is the path */
};
/* By the first bytes; false: not known. */
bool fm_import_is_known(const uint8_t *bytes, size_t size, struct fm_import_known *ret);
/* Likewise of a folder, by the files in it. */
bool fm_import_is_known_folder(const char *folder, struct fm_import_known *ret);
/* Describes a file, gzipped or not, in a sentence, g_free(); NULL: it is unknown, or can be
 * imported. */
char *fm_import_describe(const char *path);
