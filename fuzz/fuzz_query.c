/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: an accepted query can be printed, and its printed form is accepted and means the
 * same. */
#include <string.h>

#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct fm_query *query)
{
    struct fm_query back;
    char *text = fm_query_print(query);
    char *url = fm_query_to_url(query);

    if (!fm_query_parse(text, &back, NULL) || !fm_query_equal(query, &back))
        g_error("plain form: %s", text);
    fm_query_done(&back);
    if (!fm_query_from_url(url, &back, NULL) || !fm_query_equal(query, &back))
        g_error("URL form: %s", url);
    fm_query_done(&back);
    g_free(text);
    g_free(url);
}

static void check_encoding(const char *text)
{
    char *encoded = fm_query_percent_encode(text);
    char *decoded = fm_query_percent_decode(encoded, NULL);

    if (g_strcmp0(text, decoded) != 0)
        g_error("percent-encoding: %s", encoded);
    g_free(encoded);
    g_free(decoded);
}

static void check_error(GError *error)
{
    if (!error || !g_utf8_validate(error->message, -1, NULL))
        g_error("refused without a clean message");
    g_error_free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size);
    struct fm_query query;
    GError *error = NULL;

    check_encoding(text);
    if (fm_query_parse(text, &query, &error)) {
        check_round_trip(&query);
        fm_query_done(&query);
    } else {
        check_error(error);
    }
    error = NULL;
    if (fm_query_from_url(text, &query, &error)) {
        check_round_trip(&query);
        fm_query_done(&query);
    } else {
        check_error(error);
    }
    g_free(text);
    return 0;
}
