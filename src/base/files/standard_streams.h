/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams that are closed when a program starts. */
#pragma once

/* If a standard stream is closed, the next file or socket that is opened gets its number, and
 * messages would be written into it. So /dev/null is opened in its place, read-only: output to a
 * closed stream then remains an error. Child programs find the stream closed, as it was. Call this
 * first in main(). */
void fm_fill_standard_streams(void);
