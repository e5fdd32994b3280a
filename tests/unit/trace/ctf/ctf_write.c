/* SPDX-License-Identifier: Apache-2.0 */
/* ctf_write FOLDER <TEXT: for tests that are no C programs. */
#include <stdio.h>

#include "ctf_text.h"

int main(int argc, char **argv)
{
    GString *text = g_string_new(NULL);
    char line[8192];
    if (argc != 2)
        return 2;
    while (fgets(line, sizeof line, stdin) != NULL)
        g_string_append(text, line);
    ctf_write(argv[1], text->str);
    g_string_free(text, TRUE);
    return 0;
}
