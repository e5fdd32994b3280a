/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

G_DEFINE_QUARK(fm - error - quark, fm_error)
