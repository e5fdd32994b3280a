/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "eventlog/transport/transport.h"

static const char space[] = "fathom";

static void tell(uint8_t status, const char *name, GError **error)
{
    static const struct {
        uint8_t status;
        const char *text;
    } words[] = {
        {FM_REFUSAL_WRONG_TOKEN, "the token is wrong"},
        {FM_REFUSAL_TOKEN_NEEDED, "the program requires a token: give it with --token"},
        {FM_REFUSAL_FULL, "the program has its maximum of clients; try again later"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (words[i].status == status) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", name, words[i].text);
            return;
        }
    }
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: the program refused the connection (status %u)",
                name, status);
}

bool fm_refusal_passes(struct fm_refusal_watch *watch, const uint8_t *bytes, size_t length,
                       const char *name, GError **error)
{
    if (watch->over || length == 0)
        return true;
    if (watch->parser.held_length == 0 && bytes[0] != 0xF0) {
        watch->over = true;
        return true;
    }
    struct fm_control_message message;
    bool found;
    watch->parser.answers = true;
    fm_control_parse(&watch->parser, bytes, length, &message, &found);
    if (found)
        tell(message.status, name, error);
    else if (watch->parser.skipped > 0)
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset 0: expected an event log", name);
    return false;
}

bool fm_refusal_at_end(const struct fm_refusal_watch *watch, const char *name, GError **error)
{
    if (watch->over)
        return false;
    g_set_error(error, FM_ERROR, FM_ERROR_IO,
                "%s: the connection was closed before the log began; a token may be missing or "
                "wrong",
                name);
    return true;
}

void fm_refusal_append(GByteArray *out, uint8_t status)
{
    struct fm_control_message message = {
        .version = FM_CONTROL_ANSWERED, .space_length = sizeof space - 1, .status = status};
    memcpy(message.space, space, sizeof space);
    fm_control_append(out, &message, true);
}
