/* SPDX-License-Identifier: Apache-2.0 */
#include "live/token.h"

#include <string.h>

#include "base/error.h"

bool fm_live_token_find(char **token, const char *file, GError **error)
{
    g_autofree char *text = NULL;
    if (*token != NULL && file != NULL) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_USAGE,
                            "give --token or --token-file, not both");
        return false;
    }
    if (*token != NULL)
        return true;
    const char *given = g_getenv("FATHOM_TOKEN");
    if (file == NULL) {
        *token = given != NULL && given[0] != '\0' ? g_strdup(given) : NULL;
        return true;
    }
    GError *of_file = NULL;
    if (!g_file_get_contents(file, &text, NULL, &of_file)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "--token-file: %s", of_file->message);
        g_error_free(of_file);
        return false;
    }
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0') {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "--token-file: %s: line 1: expected the token, found an empty line", file);
        return false;
    }
    *token = g_steal_pointer(&text);
    return true;
}
