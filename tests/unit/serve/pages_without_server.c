/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom report` and `fathom check` alone. */
#include <string.h>

#include "cli/cli.h"

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "check") == 0)
        return fm_cmd_check(argc - 1, argv + 1);
    return fm_cmd_report(argc - 1, argv + 1);
}
