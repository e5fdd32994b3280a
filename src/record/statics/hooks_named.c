/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/hooks_named.h"

#include <glib.h>
#include <string.h>

bool fm_statics_is_hook(const char *symbol)
{
    static const char *const prefixes[] = {
        "__cyg_profile_func_", "fm_enter_slow_", "fm_leave_slow_",   "fm_enter_leaf_",
        "fm_slots_enter_v",    "fm_slots_leaf_", "fm_slots_late_",   "fm_slots_exit_v",
        "fm_enter_body_",      "fm_leave_body_", "fm_entry_hook_",   "__fentry__",
        "fm_enter_counted_",   "fm_counters_",   "__sanitizer_cov_", "__return__",
        "fm_exit_slow_",       "fm_exit_body_", /* in programs built by fathom 0.1 */
    };
    /* Asked for each edge of a recording, and hardly any name begins so. */
    if (strncmp(symbol, "__", 2) != 0 && strncmp(symbol, "fm_", 3) != 0)
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

bool fm_statics_is_coverage(const char *symbol)
{
    return strncmp(symbol, "__sanitizer_cov_", strlen("__sanitizer_cov_")) == 0;
}

bool fm_statics_is_helper(const char *symbol)
{
    static const char *const names[] = {"_Unwind_Resume", "__stack_chk_fail", "__cxa_begin_catch",
                                        "__cxa_end_catch", "__clang_call_terminate"};
    static const char *const prefixes[] = {"__asan_",      "__ubsan_", "__tsan_",
                                           "__sanitizer_", "__gcov_",  "__llvm_profile_"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(symbol, names[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}
