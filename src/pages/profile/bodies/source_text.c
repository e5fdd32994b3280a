/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of functions. Only files that look like source are opened, since a recording
 * may name any file. */
#include "pages/profile/bodies/source_text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (32L * 1024 * 1024)

/* --- reading the file --- */

static bool looks_like_source(const char *path)
{
    static const char *const endings[] = {
        ".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx", ".hxx", ".c++", ".h++",   ".C",
        ".H",   ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def", ".y",   ".l",   ".m",     ".mm",
        ".M",   ".f",   ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".F",     ".FOR",
        ".F77", ".F90", ".F95", ".F03", ".F08", ".adb", ".ads", ".d",   ".di",  ".rs",    ".go",
        ".zig", ".nim", ".hs",  ".ml",  ".S",   ".s",   ".asm", ".py",  ".js",  ".swift", ".vala"};
    for (unsigned i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(path, endings[i]))
            return true;
    return false;
}

/* The name may be that of a link, so the content is checked, too. */
static bool is_source(int fd)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autofree char *real = g_file_read_link(link, NULL);
    return real != NULL && looks_like_source(real);
}

/* The whole of a regular file, NUL-terminated; NULL with the reason otherwise. */
static char *read_all(const char *path, struct stat *ret_stat, const char **ret_reason)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *ret_reason = g_strerror(errno);
        return NULL;
    }
    char *text = NULL;
    if (fstat(fd, ret_stat) < 0) {
        *ret_reason = g_strerror(errno);
    } else if (!S_ISREG(ret_stat->st_mode)) {
        *ret_reason = "not a regular file";
    } else if (!is_source(fd)) {
        *ret_reason = "it is a link to something that does not look like source";
    } else if (ret_stat->st_size > FILE_BYTES_MAX) {
        *ret_reason = "the file is too large";
    } else {
        size_t size = (size_t)ret_stat->st_size, have = 0;
        text = g_malloc(size + 1);
        while (have < size) {
            ssize_t got = read(fd, text + have, size - have);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                break; /* it shrank */
            have += (size_t)got;
        }
        text[have] = '\0';
    }
    close(fd);
    return text;
}

char *fm_source_text_read(const struct fm_page *page, const char *file, char **ret_note)
{
    g_return_val_if_fail(page != NULL && file != NULL && ret_note != NULL, NULL);
    const char *reason = "it does not look like source";
    const struct fm_source_texts *kept = page->recording->source_texts;
    struct stat status, recording;
    char *text = kept ? fm_source_texts_get(kept, file, NULL) : NULL;
    if (text)
        return text;
    g_autofree char *folder = g_path_get_dirname(page->recording->path);
    g_autofree char *beside = g_build_filename(folder, file, NULL);
    bool absolute = g_path_is_absolute(file), opened = looks_like_source(file);
    if (opened) {
        text = read_all(absolute ? file : beside, &status, &reason);
        if (!text && !absolute)
            text = read_all(file, &status, &reason);
    }
    if (!text && opened && !absolute)
        *ret_note = g_strdup_printf(
            "The source file %s cannot be shown: %s. Looked for: %s, and %s "
            "from the folder that fathom was started in; fathom record --keep-sources stores "
            "it with the profile.",
            file, reason, beside, file);
    else if (!text)
        *ret_note = g_strdup_printf("The source file %s cannot be shown: %s.%s", file, reason,
                                    opened ? " fathom record --keep-sources stores it with the "
                                             "profile."
                                           : "");
    else if (stat(page->recording->path, &recording) == 0 && status.st_mtime > recording.st_mtime)
        *ret_note = g_strdup_printf("%s was changed after the recording was made: lines may not "
                                    "match.",
                                    file);
    return text;
}

/* --- where the function ends --- */

static const char *skip_quoted(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

static const char *skip_comment(const char *p)
{
    const char *end = p[1] == '*' ? strstr(p + 2, "*/") : strchr(p, '\n');
    if (!end)
        return p + strlen(p);
    return p[1] == '*' ? end + 2 : end;
}

const char *fm_source_text_end(const char *text)
{
    unsigned depth = 0;
    for (const char *p = text; *p;) {
        if (*p == '"' || *p == '\'') {
            p = skip_quoted(p);
        } else if (*p == '/' && (p[1] == '*' || p[1] == '/')) {
            p = skip_comment(p);
        } else {
            if (*p == ';' && depth == 0)
                return NULL; /* a declaration: the line was not where the body is */
            depth += *p == '{';
            if (*p == '}' && depth > 0 && --depth == 0)
                return p + 1;
            p++;
        }
    }
    return NULL;
}

const char *fm_source_text_line(const char *text, uint32_t lines)
{
    for (; lines > 0; lines--) {
        const char *end = strchr(text, '\n');
        if (!end)
            return NULL;
        text = end + 1;
    }
    return *text ? text : NULL;
}

uint32_t fm_source_text_count(const char *from, const char *to)
{
    uint32_t lines = 1;
    for (; (from = memchr(from, '\n', (size_t)(to - from))); from++)
        lines++;
    return lines;
}
