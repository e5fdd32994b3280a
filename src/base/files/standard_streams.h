/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams that a program was started without. */
#pragma once

/* A standard stream that is closed would become the next file or socket that is opened: errors
 * would be written into it. So the system's empty file takes its place, to be read only, as what
 * nobody reads cannot be printed: that stays an error. Programs that are started find it closed as
 * it was. To be called first of all. */
void fm_fill_standard_streams(void);
