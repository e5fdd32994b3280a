/* SPDX-License-Identifier: Apache-2.0 */
/* What a program was started with: its signals, one by one as the kernel tells. Not recorded. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "ShdPnd", 6) == 0)
            if (strncmp(line, "SigQ", 4) != 0)
                fputs(line, stdout);
    return 0;
}
