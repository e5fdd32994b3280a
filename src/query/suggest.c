/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for an unknown command. */
#include <string.h>

#include "base/text/distance.h"
#include "query/query_internal.h"

#define NEAR_MAX 2u /* maximum edit distance */

/* Words that other tools, and pages of fathom, use. */
static const struct {
    const char *word, *meant;
} related[] = {
    {"lock", "waits"},
    {"locks", "waits"},
    {"mutex", "waits"},
    {"contention", "waits"},
    {"blocked", "waits"},
    {"sleep", "waits"},
    {"threads", "waits"},
    {"heap", "memory/allocated, memory/held or leaks"},
    {"malloc", "memory/allocated or leaks"},
    {"alloc", "memory/allocated"},
    {"allocs", "memory/allocated"},
    {"held", "memory/held or leaks"},
    {"live", "memory/held or leaks"},
    {"peak", "memory/peak"},
    {"top", "top_procs/1-100/time/self/oa"},
    {"functions", "top_procs/1-100/time/self/oa"},
    {"flamegraph", "flame/time/down/3/all"},
    {"callers", "proc_callers/NAME"},
    {"modules", "program_modules"},
    {"libraries", "program_modules"},
    {"files", "program_modules"},
    {"latency", "durations"},
    {"search", "find/TEXT"},
};

static const char *nearest(const char *word)
{
    const char *best = NULL;
    unsigned least = NEAR_MAX + 1;
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        unsigned changes = fm_text_distance(word, fm_command_forms[id].name);
        if (changes < least && changes < strlen(word)) {
            least = changes;
            best = fm_command_forms[id].name;
        }
    }
    return best;
}

static bool is_told(enum fm_command_id id)
{
    return id != FM_CMD_QUIT && id != FM_CMD_RESTART && id != FM_CMD_TIMEOUT &&
           !g_str_has_prefix(fm_command_forms[id].name, "dump_");
}

char *fm_command_suggestion(const char *word)
{
    g_return_val_if_fail(word != NULL, NULL);
    const char *meant = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(related) && meant == NULL; i++)
        if (g_ascii_strcasecmp(related[i].word, word) == 0)
            meant = related[i].meant;
    if (meant == NULL)
        meant = nearest(word);
    GString *out = g_string_new(NULL);
    if (meant != NULL)
        g_string_append_printf(out, "; perhaps %s is meant", meant);
    g_string_append(out, "; the commands are");
    const char *between = " ";
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        if (!is_told((enum fm_command_id)id))
            continue;
        g_string_append_printf(out, "%s%s", between, fm_command_forms[id].name);
        between = ", ";
    }
    return g_string_free(out, FALSE);
}
