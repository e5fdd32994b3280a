/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/finish.h"

/* One more sentence for the user. */
void fm_notes_add(struct fm_finish_notes *notes, const char *format, ...) G_GNUC_PRINTF(2, 3);
