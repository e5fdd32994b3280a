/* SPDX-License-Identifier: Apache-2.0 */
/* The real profile with its bodies. */
#pragma once

#include "mercury/body/bodies.h"

/* NULL after g_test_skip() when it is not there. Belongs to the test program. */
struct fm_bodies *sample_bodies(void);
