/* SPDX-License-Identifier: Apache-2.0 */
/* The values of `fathom record --tick`. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

/* Whether EVENT[:PERIOD] is known, and counted on this machine for this user. FM_ERROR_USAGE,
 * FM_ERROR_UNAVAILABLE with the setting to change. */
FM_MUST_USE bool fm_tick_event_check(const char *text, GError **error);
