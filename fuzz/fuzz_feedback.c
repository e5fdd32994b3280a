/* SPDX-License-Identifier: Apache-2.0 */
/* Feedback files: what is accepted can be reported, and reads back the same after writing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mercury/feedback/feedback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_feedback *feedback = NULL, *again = NULL;
    if (!fm_feedback_read_text("input", (const char *)data, size, NULL, &feedback, NULL))
        return 0;
    g_autoptr(GString) report = g_string_new(NULL), file = g_string_new(NULL);
    g_autoptr(GString) second = g_string_new(NULL);
    fm_feedback_report(feedback, report);
    fm_feedback_write(feedback, file);
    if (strchr(feedback->program, '\n') == NULL &&
        fm_feedback_read_text("written", file->str, file->len, NULL, &again, NULL)) {
        fm_feedback_report(again, second);
        if (strcmp(report->str, second->str) != 0)
            abort();
    }
    fm_feedback_free(again);
    fm_feedback_free(feedback);
    return 0;
}
