/* SPDX-License-Identifier: Apache-2.0 */
/* The real profile that the tests compare with known figures, opened once a program. */
#pragma once

#include "profile/analysis/analysis.h"

/* NULL, and the test skipped with a message, when the file is not there. */
const struct fm_analysis *sample_analysis(void);
/* SHA-256 of what was appended, as text; the string belongs to the caller. */
char *sample_sha256(const GString *text);
