/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and preferences, as in URLs and on the command line. Printed queries are accepted:
 * parse(print(q)) == q for every query whose numbers are within the limits below. Printing
 * limits larger numbers.
 *
 *   QUERY ::= CMD | CMD & | CMD & PREFS   (the URL's third part is the file)
 *
 * There are two written forms; they differ only for names with special characters:
 *   plain text   fm_query_parse, fm_query_print      for the command line and JSON. The last "&"
 *                separates if a letter or nothing follows it. So a module named "a&b" is
 *                "module/a&b&", and "proc/total(int const&)" is complete.
 *   in a URL     fm_query_from_url, fm_query_to_url  each part is percent-encoded by itself, so
 *                parts contain no "&", and a server may split at "&" before decoding. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "profile/measures/measures.h"

#define FM_QUERY_TIMEOUT_MAX 525600u    /* minutes; at least 1 */
#define FM_QUERY_PERCENT_MAX 100u       /* ROOT */
#define FM_QUERY_BUNCH_SIZE_MAX 100000u /* rows of a page of callers; at least 1 */
#define FM_QUERY_ANCESTORS_MAX 1000000u
#define FM_QUERY_PROCS_MAX 1000000u /* procedures per recursion type */
#define FM_QUERY_DEPTH_MAX 50u      /* levels of a tree; at least 1 */
#define FM_QUERY_ROWS_MAX 100000u   /* rows of FUNCTIONS and LINES; at least 1 */
#define FM_QUERY_WIDTH_MAX 8000u    /* device pixels of a flame graph; at least 100, 0 = any */
#define FM_QUERY_WIDTH_MIN 100u

enum fm_command_id {
    FM_CMD_QUIT,
    FM_CMD_RESTART,
    FM_CMD_TIMEOUT,
    FM_CMD_MENU,
    FM_CMD_ROOT,
    FM_CMD_CLIQUE,
    FM_CMD_CLIQUE_RC,
    FM_CMD_RECURSION_TYPE_FREQ,
    FM_CMD_PROC,
    FM_CMD_PROC_CALLERS,
    FM_CMD_PROGRAM_MODULES,
    FM_CMD_MODULE,
    FM_CMD_MODULE_GETTER_SETTERS,
    FM_CMD_MODULE_REP,
    FM_CMD_TOP_PROCS,
    FM_CMD_PROC_STATIC_COVERAGE,
    FM_CMD_PROC_DYNAMIC_COVERAGE,
    FM_CMD_CALL_SITE_DYNAMIC_VAR_USE,
    FM_CMD_DUMP_PROC_STATIC,
    FM_CMD_DUMP_PROC_DYNAMIC,
    FM_CMD_DUMP_CALL_SITE_STATIC,
    FM_CMD_DUMP_CALL_SITE_DYNAMIC,
    FM_CMD_DUMP_RAW_CLIQUE,
    FM_CMD_FIND,
    FM_CMD_TREE,
    FM_CMD_FLAME,
    FM_CMD_RECURSIONS,
    FM_CMD_ABOUT,
    FM_CMD_HELP,
    FM_CMD_CONTEXTS,
    FM_CMD_GRAPH,
    FM_CMD_MEMORY,
    FM_CMD_WAITS,
    FM_CMD_LEAKS,
    FM_CMD_DURATIONS,
    FM_CMD_RANKS,
    FM_CMD_SOURCE,
    FM_CMD_ASM,
    FM_CMD_FUNCTIONS,
    FM_CMD_LINES,
    FM_CMD_COUNT,
};

/* The kind of memory shown. */
enum fm_query_memory { FM_QUERY_ALLOCATED, FM_QUERY_HELD, FM_QUERY_FREED, FM_QUERY_AT_PEAK };
/* Bits of fm_command.flags. */
enum fm_flame_flags {
    /* all recursions show their functions; neither OPEN nor SHUT: where they are wide */
    FM_FLAME_OPEN = 1,
    FM_FLAME_SHUT = 2,
    FM_FLAME_OWN = 4, /* coloured by the box's self share */
};

struct fm_cost_order {
    enum fm_cost_kind kind;
    bool with_descendants;
    bool per_call;
};

struct fm_command {
    enum fm_command_id id;
    uint32_t number;               /* clique, ps, pd, css, csd id; minutes for TIMEOUT */
    bool has_percent;              /* ROOT: "root/PCT" against "root/no" */
    uint32_t percent;              /* ROOT */
    char *module;                  /* MODULE commands; owned */
    char *name;                    /* owned. Instead of number, where it is not NULL: a procedure's
                                      name, a context's path "main/f/g". FIND, HELP: the text;
                                      SOURCE: the file; TREE, FLAME, GRAPH, RANKS: the focus: "all",
                                      "clique/N", "proc/N", a name, "clique/" and a path */
    enum fm_query_measure measure; /* TREE, FLAME, GRAPH, RANKS, RECURSIONS, FUNCTIONS, LINES */
    enum fm_query_memory memory;   /* MEMORY */
    bool up;                       /* TREE, FLAME: callers instead of callees */
    uint32_t depth;                /* TREE: levels below the focus; threshold: the least share
                                      of a row in percent, 0 = the page's choice */
    unsigned flags;                /* FLAME */
    uint32_t width;                /* FLAME; 0 = the page's choice */
    enum fm_callers_group group;   /* PROC_CALLERS */
    uint32_t bunch;                /* page number from 1; PROC, CLIQUE, DUMP_PROC_DYNAMIC: of what
                                      calls lead to, with number alone; 0 = 1 */
    uint32_t bunch_size;           /* 1 .. FM_QUERY_BUNCH_SIZE_MAX */
    bool contour;
    enum fm_limit_kind limit; /* TOP_PROCS */
    uint32_t first, last;     /* LIMIT_RANK: 1 <= first <= last. FUNCTIONS, LINES: last rows */
    double threshold;         /* LIMIT_PERCENT, LIMIT_VALUE: finite, not negative */
    struct fm_cost_order top;
};

enum fm_time_columns {
    FM_TIME_NONE,
    FM_TIME_TICKS,
    FM_TIME_TIME,
    FM_TIME_BOTH,
    FM_TIME_TIME_PER_CALL,
    FM_TIME_BOTH_PER_CALL
};
enum fm_count_columns { FM_COUNT_NONE, FM_COUNT_OVERALL, FM_COUNT_PER_CALL };
enum fm_memory_columns {
    FM_MEMORY_NONE,
    FM_MEMORY_BYTES,
    FM_MEMORY_WORDS,
    FM_MEMORY_BYTES_PER_CALL,
    FM_MEMORY_WORDS_PER_CALL
};
enum fm_order { FM_ORDER_CONTEXT, FM_ORDER_NAME, FM_ORDER_COST };
enum fm_time_format { FM_TIME_FORMAT_NO_SCALE, FM_TIME_FORMAT_MICRO, FM_TIME_FORMAT_MILLI };
enum fm_qualify { FM_QUALIFY_ALWAYS, FM_QUALIFY_WHEN_DIFFERENT, FM_QUALIFY_NEVER };

struct fm_preferences {
    bool ports;
    enum fm_time_columns time;
    enum fm_count_columns callseqs, allocs;
    enum fm_memory_columns memory;
    bool box, colour;
    bool ancestors_limited;
    uint32_t ancestors;
    uint32_t procs_per_recursion_type;
    bool summarize;
    enum fm_order order;
    struct fm_cost_order cost; /* FM_ORDER_COST */
    bool contour;
    enum fm_time_format time_format;
    enum fm_qualify qualify;
    bool show_inactive_call_sites, show_inactive_procs, show_inactive_modules;
    bool developer;
};

struct fm_query {
    struct fm_command command;
    bool has_preferences; /* false: the recording's defaults */
    struct fm_preferences preferences;
    uint32_t line; /* in links: source line at which the page is to be opened; 0 = its beginning.
                      Not part of the written form */
    bool compact;  /* for a window: without preferences, pages of C programs show the columns of one
                      measure. Not part of the written form. */
    bool full_names; /* functions have their whole names. Not part of the written form. */
    bool lasting; /* links use names, which stay valid, not the profile's numbers. Not part of the
                     written form. */
};

void fm_query_done(struct fm_query *query); /* frees what it owns, zeroes it */
void fm_command_done(struct fm_command *command);

/* Parses the plain text form (nothing is percent-decoded). Error: FM_ERROR_USAGE naming the part
 * and what was expected. *ret is untouched on failure; fm_query_done(). */
FM_MUST_USE bool fm_query_parse(const char *text, struct fm_query *ret, GError **error);
FM_MUST_USE bool fm_command_parse(const char *text, struct fm_command *ret, GError **error);
FM_MUST_USE bool fm_preferences_parse(const char *text, struct fm_preferences *ret, GError **error);

/* Returns the plain text form; the caller frees it. Not percent-encoded. */
char *fm_query_print(const struct fm_query *query);
char *fm_command_print(const struct fm_command *command);
char *fm_preferences_print(const struct fm_preferences *preferences);
/* As fm_command_print(), but appends to out. */
void fm_command_append(GString *out, const struct fm_command *command);
void fm_preferences_append(GString *out, const struct fm_preferences *preferences);

/* Returns the form after "?" in a URL: "CMD" or "CMD&PREFS", each part percent-encoded by itself.
 * It consists of unreserved characters, "/", "%" and at most one "&". The caller frees it. */
char *fm_query_to_url(const struct fm_query *query);
/* Splits at "&", decodes each part, parses. Errors as fm_query_parse(). */
FM_MUST_USE bool fm_query_from_url(const char *url, struct fm_query *ret, GError **error);
/* Appends one part of a URL's query (a command, preferences, a file name): all bytes but unreserved
 * characters and "/" become %XX. */
void fm_query_append_part(GString *out, const char *text);

/* Percent-encodes a whole text, all but unreserved characters and "/&=-". For queries use
 * fm_query_to_url(), which distinguishes an "&" within a name from an "&" between parts. */
char *fm_query_percent_encode(const char *text);
/* NULL and FM_ERROR_USAGE for a bad escape or an encoded NUL. */
char *fm_query_percent_decode(const char *text, GError **error);

/* Whether pages show source lines by it. */
bool fm_query_has_lines(enum fm_query_measure measure);
/* Whether the word is that of a command, or other tools' for it. */
bool fm_command_is_word(const char *word);

/* Compares only what the written form has: not, for example, the cost of an order by name. */
bool fm_query_equal(const struct fm_query *a, const struct fm_query *b);
bool fm_preferences_equal(const struct fm_preferences *a, const struct fm_preferences *b);

/* Time columns are shown only when the profile has more than 10 user quanta. C programs: times
 * instead of clock ticks, bytes instead of words. */
void fm_preferences_default(struct fm_preferences *ret, bool times_worth_showing, bool c_program);
