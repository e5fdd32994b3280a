/* SPDX-License-Identifier: Apache-2.0 */
/* Losses that the runtime reports, and other facts for readers of the profile. */
#pragma once

#include "record/finish/images.h"

void fm_findings_of_recording(const struct fm_raw_recording *recording, const char *again,
                              struct fm_finish_notes *notes);
/* lost: recordings of its other processes that are gone. */
void fm_findings_of_run(unsigned lost, struct fm_finish_notes *notes);
/* Source files that were not compiled with hooks. */
void fm_findings_of_images(const struct fm_images *images, struct fm_finish_notes *notes);
