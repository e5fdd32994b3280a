/* SPDX-License-Identifier: Apache-2.0 */
/* fathom.cgi: `fathom cgi` as a program of its own. A web server starts it for every page, and the
 * libraries that only recording and the HTTP door need would take longer to load than the page. */
#include <locale.h>

#include "cli/cli.h"

int main(int argc, char **argv)
{
    static char name[] = "cgi";
    setlocale(LC_ALL, "");
    if (argc > 0)
        argv[0] = name; /* the command's name, as in help and errors */
    return fm_cmd_cgi(argc, argv);
}
