/* SPDX-License-Identifier: Apache-2.0 */
/* The default path of a log of this process. */
#include "core/shared.h"
#include "sinks/stream.h"

#include <fathom/fathom.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

bool fm_el_path_beside_recording(char *path, size_t bytes)
{
    static const char ending[] = ".eventlog";
    if (bytes <= sizeof(ending) || fathom_output(path, bytes - (sizeof(ending) - 1)) != 0)
        return false;
    memcpy(path + strlen(path), ending, sizeof(ending));
    return true;
}

bool fm_el_path_of_child(char *path, size_t bytes)
{
    const char *pattern = fm_el.fork_path;
    if (pattern[0] == '\0' && fm_el_path_beside_recording(path, bytes))
        return true;
    int n;
    const char *mark = strchr(pattern, '%');
    if (pattern[0] == '\0')
        n = snprintf(path, bytes, "%s.%d.eventlog", program_invocation_short_name, (int)getpid());
    else if (mark)
        n = snprintf(path, bytes, "%.*s%d%s", (int)(mark - pattern), pattern, (int)getpid(),
                     mark + 1);
    else
        n = snprintf(path, bytes, "%s", pattern);
    return n > 0 && (size_t)n < bytes;
}
