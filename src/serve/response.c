/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/response.h"

#include "base/error.h"
#include "base/text/utf8.h"

#include <string.h>

#include "pages/render.h"
#include "serve/stream.h"

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {204, "No Content"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
};

const char *fm_response_reason(unsigned status)
{
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
        if (reasons[i].status == status)
            return reasons[i].reason;
    }
    return "Error";
}

/* Relative path to assets/, since an error page may be at any depth. */
static char *way_up(const char *path)
{
    GString *way = g_string_new(NULL);
    for (const char *at = path == NULL || path[0] == '\0' ? "" : path + 1; *at != '\0'; at++) {
        if (*at == '/' && way->len < 300)
            g_string_append(way, "../");
    }
    return g_string_free(way, FALSE);
}

bool fm_request_format(const struct fm_request *request, size_t *ret_stem, enum fm_format *ret)
{
    const char *path = request->path == NULL ? "" : request->path;
    const char *dot = strrchr(path, '.');
    bool ends = dot != NULL && fm_format_from_name(dot + 1, ret);
    *ret_stem = ends ? (size_t)(dot - path) : strlen(path);
    if (!ends)
        *ret = fm_format_from_accept(request->accept);
    return ends;
}

enum message_format { MESSAGE_HTML, MESSAGE_TEXT, MESSAGE_JSON };

/* Pictures have no form for messages: of those Accept decides, too. */
static enum message_format format_of(const struct fm_request *request)
{
    size_t stem;
    enum fm_format format;
    if (fm_request_format(request, &stem, &format) &&
        (format == FM_FORMAT_SVG || format == FM_FORMAT_DOT))
        format = fm_format_from_accept(request->accept);
    return format == FM_FORMAT_JSON   ? MESSAGE_JSON
           : format == FM_FORMAT_HTML ? MESSAGE_HTML
                                      : MESSAGE_TEXT;
}

void fm_response_message(const struct fm_request *request, unsigned status, const char *text,
                         struct fm_response *ret)
{
    g_assert(status >= 200 && status < 600 && text != NULL);
    static const char *const types[] = {"text/html; charset=utf-8", "text/plain; charset=utf-8",
                                        "application/json"};
    enum message_format format = format_of(request);
    g_autofree char *title =
        status == 200 ? g_strdup("fathom") : g_strdup(fm_response_reason(status));
    struct fm_display *display = fm_display_new(title);
    fm_display_set_name(display, status == 200 ? "message" : "error");
    fm_display_fact_int(display, "status", status);
    fm_display_fact_string(display, "message", text);
    fm_add_text(fm_display_body(display), text);
    struct fm_preferences preferences;
    fm_preferences_default(&preferences, true, false);
    GString *body = g_string_new(NULL);
    if (format == MESSAGE_JSON) {
        fm_json_write(display, &preferences, body);
    } else if (format == MESSAGE_TEXT) {
        fm_utf8_append_clean(body, text);
        g_string_append_c(body, '\n');
    } else {
        g_autofree char *up = way_up(request->path);
        g_autofree char *assets = g_strconcat(up, "assets/", NULL);
        g_autofree char *home = g_strconcat(up, "./", NULL);
        struct fm_html_options options = {.url_prefix = "deep?",
                                          .url_suffix = "",
                                          .asset_prefix = assets,
                                          .no_navigation = true,
                                          .home_url = home};
        fm_html_write(display, &preferences, &options, body);
    }
    fm_display_free(display);
    *ret = (struct fm_response){
        .status = status,
        .content_type = types[format],
        .body = g_string_free_to_bytes(body),
    };
}

static unsigned status_of(const GError *error)
{
    if (error->domain != FM_ERROR)
        return 500;
    switch ((enum fm_error)error->code) {
    case FM_ERROR_USAGE:
        return 400;
    case FM_ERROR_NOT_FOUND:
    case FM_ERROR_UNAVAILABLE:
        return 404;
    case FM_ERROR_FORMAT:
    case FM_ERROR_TRUNCATED:
    case FM_ERROR_VERSION:
    case FM_ERROR_LIMIT:
        return 422;
    case FM_ERROR_CANCELLED:
        return 503;
    case FM_ERROR_IO:
        return 500;
    }
    return 500;
}

void fm_response_error(const struct fm_request *request, GError *error, struct fm_response *ret)
{
    g_assert(error != NULL);
    fm_response_message(request, status_of(error), error->message, ret);
    g_error_free(error);
}

void fm_response_done(struct fm_response *response)
{
    g_clear_pointer(&response->etag, g_free);
    g_clear_pointer(&response->location, g_free);
    g_clear_pointer(&response->body, g_bytes_unref);
    g_clear_pointer(&response->stream, fm_stream_gone); /* no server took it */
    if (response->later != NULL)
        response->later->drop(response->later); /* as above */
    response->later = NULL;
}

/* A value from outside must not start another header. */
static bool is_safe_value(const char *value)
{
    return strpbrk(value, "\r\n") == NULL;
}

void fm_response_each_header(const struct fm_response *response, fm_response_header_visitor *visit,
                             void *user)
{
    g_assert(visit != NULL);
    static const struct {
        const char *name, *value;
    } always[] = {
        {"Content-Security-Policy",
         "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
         "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "same-origin"},
        {"Vary", "Accept"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    if (response->content_type != NULL)
        visit("Content-Type", response->content_type, user);
    if (response->etag != NULL && is_safe_value(response->etag))
        visit("ETag", response->etag, user);
    if (response->location != NULL && is_safe_value(response->location))
        visit("Location", response->location, user);
    visit("Cache-Control", response->etag != NULL ? "no-cache" : "no-store", user);
    if (response->status == 503)
        visit("Retry-After", "1", user);
    for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
        visit(always[i].name, always[i].value, user);
}

static void append_header(const char *name, const char *value, void *user)
{
    g_string_append_printf(user, "%s: %s\r\n", name, value);
}

void fm_response_headers(const struct fm_response *response, GString *out)
{
    g_string_append_printf(out, "Status: %u %s\r\n", response->status,
                           fm_response_reason(response->status));
    fm_response_each_header(response, append_header, out);
}
