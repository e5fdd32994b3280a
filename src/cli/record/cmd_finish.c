/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/record/finishing.h"
#include "record/known/known.h"

int fm_cmd_finish(int argc, char **argv)
{
    g_autofree char *output = NULL, *debug_path = NULL;
    gboolean keep = FALSE, quiet = FALSE, keep_sources = FALSE;
    const GOptionEntry options[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write NAME.data (of one recording only; default: beside the recording)", "NAME"},
        {"keep", 'k', 0, G_OPTION_ARG_NONE, &keep, "Keep the raw recording", NULL},
        {"keep-sources", 0, 0, G_OPTION_ARG_NONE, &keep_sources,
         "Store the source files beside the profile (NAME.sources)", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Print no summary", NULL},
        {"debug-path", 0, 0, G_OPTION_ARG_FILENAME, &debug_path,
         "Look for separate debug files in these folders too, separated by ':'", "FOLDERS"},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "NAME.rec...",
                              "Makes profiles (NAME.data) from raw recordings: of programs that "
                              "were run by hand, that were killed, or that still run.",
                              "fathom finish Deep.rec");
    if (status >= 0)
        return status;
    if (argc < 2)
        return fm_cli_usage("finish", "which recording? `fathom finish NAME.rec`");
    if (output != NULL && argc > 2)
        return fm_cli_usage("finish", "--output is for one recording, not %d", argc - 1);
    struct fm_known *known = fm_known_new();
    struct fm_finishing how = {.command = "finish",
                               .debug_path = debug_path,
                               .keep = keep,
                               .keep_sources = keep_sources,
                               .quiet = quiet,
                               .known = known};
    status = FM_EXIT_DONE;
    for (int i = 1; i < argc; i++) {
        if (!fm_cli_finish(&how, argv[i], output, NULL))
            status = FM_EXIT_FAILED;
    }
    fm_known_free(known);
    return status;
}
