/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

void fm_fill_standard_streams(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
        ;
    if (fd >= 0)
        close(fd);
}
