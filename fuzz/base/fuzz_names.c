/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text as the names of a page: texts are never empty, and no two are equal. The first byte
 * is the language. */
#include <glib.h>
#include <string.h>

#include "base/names/names.h"

#define NAMES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    g_auto(GStrv) lines = g_strsplit(text, "\n", NAMES_MAX);
    struct fm_name_source sources[NAMES_MAX] = {0};
    size_t count = 0;
    for (char **line = lines; *line != NULL; line++) {
        if (**line == '\0')
            continue;
        sources[count] = (struct fm_name_source){
            .text = *line, .language = data[0] % (FM_NAME_PYTHON + 1), .line = (uint32_t)count % 3};
        count++;
    }
    g_auto(GStrv) texts = fm_names_apart(sources, count);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < count; i++) {
        if (texts[i][0] == '\0' || !g_hash_table_add(known, texts[i]))
            g_error("'%s' is '%s'", sources[i].text, texts[i]);
        for (size_t width = 1; width < 60; width += 13) {
            g_autofree char *cut = fm_name_elide(texts[i], width);
            if (cut[0] == '\0')
                g_error("'%s' is elided to nothing", texts[i]);
        }
    }
    return 0;
}
