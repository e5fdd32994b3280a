/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of the short forms of all names of a file as if on one page. argv: a file of linker's
 * names, one a line. Fails when a text is empty or two are equal. */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/names/names.h"
#include "base/text/demangle.h"

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    g_autofree char *text = NULL;
    if (argc < 2 || !g_file_get_contents(argv[1], &text, NULL, NULL)) {
        fprintf(stderr, "usage: bench_names FILE [--list]\n");
        return 2;
    }
    g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
    size_t count = g_strv_length(lines);
    g_autofree struct fm_name_source *sources = g_new0(struct fm_name_source, count + 1);
    for (size_t i = 0; i < count; i++)
        sources[i] = (struct fm_name_source){.text = fm_demangle(lines[i]), .raw = lines[i]};
    double start = now();
    g_auto(GStrv) texts = fm_names_apart(sources, count);
    double apart = now() - start;
    start = now();
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        g_autofree char *brief = fm_name_short(&sources[i]);
        bytes += strlen(brief);
    }
    double brief = now() - start;
    start = now();
    g_auto(GStrv) cut = fm_names_elide(texts, count, 48);
    double elided = now() - start;
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    size_t wrong = 0, longest = 0, wide = 0, apart_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += texts[i][0] == '\0' || cut[i][0] == '\0' || !g_hash_table_add(known, texts[i]);
        longest = MAX(longest, strlen(texts[i]));
        apart_bytes += strlen(texts[i]);
        wide += g_utf8_strlen(cut[i], -1) > 48;
        if (argc > 2)
            printf("%s\t%s\t%s\n", sources[i].text, texts[i], cut[i]);
    }
    fprintf(stderr,
            "%zu names: apart %.3f s, alone %.3f s, elided to 48 %.3f s; short %.1f, apart %.1f "
            "characters, longest %zu; %zu wider than 48; %zu empty or equal\n",
            count, apart, brief, elided, (double)bytes / (double)MAX(count, 1),
            (double)apart_bytes / (double)MAX(count, 1), longest, wide, wrong);
    return wrong > 0;
}
