/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the sample page: print_sample html|text|json|csv [developer] [plain] [wide]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_page.h"

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], word) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct fm_html_options html = {.recording_name = "/data/<Deep>.data",
                                   .url_prefix = "/view?",
                                   .url_suffix = "&/data/%3CDeep%3E.data",
                                   .home_url = "/",
                                   .inline_assets = true};
    struct fm_text_options text = {.width = has_word(argc, argv, "wide") ? 0 : 100,
                                   .colour = has_word(argc, argv, "colour")};
    struct fm_preferences preferences;

    if (argc < 2)
        return EXIT_FAILURE;
    sample_preferences(&preferences);
    preferences.developer = has_word(argc, argv, "developer");
    preferences.box = preferences.colour = !has_word(argc, argv, "plain");
    g_autoptr(FmDisplay) display = sample_page(&preferences, 24);
    GString *out = g_string_new(NULL);
    if (strcmp(argv[1], "html") == 0)
        fm_html_write(display, &preferences, &html, out);
    else if (strcmp(argv[1], "text") == 0)
        fm_text_write(display, &preferences, &text, out);
    else if (strcmp(argv[1], "json") == 0)
        fm_json_write(display, &preferences, out);
    else
        fm_csv_write(display, &preferences, out);
    fwrite(out->str, 1, out->len, stdout);
    g_string_free(out, TRUE);
    return EXIT_SUCCESS;
}
