/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of scripts, in place of the interpreter's code that runs them. */
#include "exchange/import/perfdata/reader.h"

#include <string.h>

#define FIXED (1 + 2 * sizeof(uint32_t))

/* A text with its end; NULL: it has none. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *begin = *at, *stop = memchr(begin, 0, (size_t)(end - begin));
    if (stop == NULL)
        return NULL;
    *at = stop + 1;
    return (const char *)begin;
}

void fm_perf_read_scripts(struct fm_perf_reader *in, const struct fm_perf_sample *sample)
{
    g_array_set_size(in->scripts, 0);
    if (in->script_high == 0 || sample->raw == NULL)
        return;
    const uint8_t *at = sample->raw, *end = at + sample->raw_size;
    while ((size_t)(end - at) > FIXED) {
        struct fm_perf_script script = {.entry = at[0] != 0};
        memcpy(&script.line, at + 1, sizeof script.line);
        memcpy(&script.current, at + 1 + sizeof script.line, sizeof script.current);
        at += FIXED;
        script.name = take_text(&at, end);
        script.file = script.name == NULL ? NULL : take_text(&at, end);
        if (script.file == NULL)
            return;
        g_array_append_val(in->scripts, script);
    }
}

unsigned fm_perf_script_groups(const struct fm_perf_reader *in)
{
    unsigned groups = 0;
    bool open = false; /* functions whose call by C was not told */
    for (guint i = 0; i < in->scripts->len; i++) {
        open = !g_array_index(in->scripts, struct fm_perf_script, i).entry;
        groups += !open;
    }
    return groups + open;
}

bool fm_perf_push_script(struct fm_perf_reader *in)
{
    bool any = false;
    while (in->scripts->len > 0) {
        const struct fm_perf_script script =
            g_array_index(in->scripts, struct fm_perf_script, in->scripts->len - 1);
        if (any && script.entry)
            break;
        const struct fm_stacks_name name = {.name = script.name,
                                            .size = strlen(script.name),
                                            .unit = script.file,
                                            .unit_size = strlen(script.file),
                                            .file = script.file,
                                            .file_size = strlen(script.file),
                                            .line = script.line};
        uint32_t function = fm_stacks_function(in->stacks, &name);
        fm_stacks_push(in->stacks, function, in->inner.line);
        in->inner = (struct fm_perf_inner){function, script.current};
        g_array_set_size(in->scripts, in->scripts->len - 1);
        any = true;
    }
    return any;
}
