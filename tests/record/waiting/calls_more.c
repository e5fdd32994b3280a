/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that can wait of which there is another form (unlocked, wide, of standard streams, with
 * numbers of 64 bits), each with what it gives back: the same whether it is recorded or not.
 * Compiled as C and as C++. */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>
#include <wchar.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* readdir64_r */
#define OWN __attribute__((noinline))
#define SHOW(call)                                                    \
    do {                                                              \
        errno = 0;                                                    \
        long shown = (long)(call);                                    \
        int error = errno;                                            \
        fprintf(out, "%s: %ld, %s\n", #call, shown, strerror(error)); \
    } while (0)

static FILE *out; /* the standard output, as those here are of their own */

static OWN int vfwscanf_of(FILE *stream, const wchar_t *how, ...)
{
    va_list list;
    va_start(list, how);
    int got = stream == stdin ? vwscanf(how, list) : vfwscanf(stream, how, list);
    va_end(list);
    return got;
}

static OWN int vfwprintf_of(FILE *stream, const wchar_t *how, ...)
{
    va_list list;
    va_start(list, how);
    int done = stream == stdout ? vwprintf(how, list) : vfwprintf(stream, how, list);
    va_end(list);
    return done;
}

static void put(const char *name, const char *text)
{
    FILE *stream = fopen(name, "w");
    if (stream == NULL || fputs(text, stream) < 0 || fclose(stream) != 0)
        exit(1);
}

/* What others have written there. */
static void show_file(const char *name)
{
    char text[200];
    int fd = open(name, O_RDONLY);
    ssize_t got = read(fd, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    fprintf(out, "%s: %s\n", name, text);
    close(fd);
}

static OWN void narrow(void)
{
    put("text", "abcdef");
    if (freopen("text", "r", stdin) == NULL || freopen("sink", "w", stdout) == NULL)
        exit(1);
    SHOW(getchar_unlocked());
    SHOW(getchar());
    SHOW(fputc('x', stdin)); /* EBADF */
    SHOW(fseeko64(stdin, 5, SEEK_SET));
    SHOW(getchar_unlocked());
    SHOW(getchar_unlocked()); /* the end */
    SHOW(fseeko64(stdin, -1, SEEK_SET));
    SHOW(putchar('a'));
    SHOW(putchar_unlocked('b'));
    SHOW(fputc('c', stdout));
    SHOW(fflush(stdout));
    show_file("sink");
}

static OWN void wide(void)
{
    wchar_t line[20] = L"";
    int one = 0, two = 0;
    put("text", "abcdline\n12 34 56 78 end");
    if (freopen("text", "r", stdin) == NULL || freopen("sink", "w", stdout) == NULL)
        exit(1);
    SHOW(getwchar());
    SHOW(getwchar_unlocked());
    SHOW(getwc_unlocked(stdin));
    SHOW(fgetwc_unlocked(stdin));
    SHOW(fgetws_unlocked(line, 20, stdin) == line);
    SHOW(wcslen(line));
    SHOW(wscanf(L"%d", &one));
    SHOW(vfwscanf_of(stdin, L"%d", &two));
    SHOW(one * 100 + two);
    FILE *other = fopen("text", "r");
    SHOW(vfwscanf_of(other, L"abcdline %d %d", &two, &one));
    SHOW(one * 100 + two);
    SHOW(fclose(other));
    SHOW(putwchar(L'a'));
    SHOW(putwchar_unlocked(L'b'));
    SHOW(putwc_unlocked(L'c', stdout));
    SHOW(fputwc_unlocked(L'd', stdout));
    SHOW(fputws_unlocked(L"line ", stdout));
    SHOW(vfwprintf_of(stdout, L"%d ", 5));
    SHOW(fflush(stdout));
    show_file("sink");
    other = fopen("sink", "w");
    SHOW(vfwprintf_of(other, L"%d and %ls", 7, L"wide"));
    SHOW(fclose(other));
    show_file("sink");
}

static OWN void descriptors(void)
{
    char text[20] = "0123456789";
    struct iovec part = {text, 10};
    int from = open("text", O_RDWR), to = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0600);
    SHOW(copy_file_range(from, NULL, to, NULL, 5, 0));
    SHOW(copy_file_range(-1, NULL, to, NULL, 5, 0));
    SHOW(copy_file_range(from, NULL, to, NULL, 5, 99)); /* EINVAL */
    SHOW(pwritev64v2(to, &part, 1, 2, 0));
    SHOW(pwritev64v2(to, &part, 1, 2, ~0)); /* EOPNOTSUPP */
    SHOW(pwritev64v2(-1, &part, 1, 2, 0));
    show_file("copy");
    SHOW(ftruncate64(to, 3));
    SHOW(ftruncate64(to, -1));
    SHOW(ftruncate64(-1, 3));
    show_file("copy");
    SHOW(tcdrain(to)); /* ENOTTY */
    SHOW(tcdrain(-1));
    struct aiocb64 request;
    const struct aiocb64 *list[] = {&request};
    memset(&request, 0, sizeof request);
    request.aio_fildes = from;
    request.aio_buf = text;
    request.aio_nbytes = 4;
    SHOW(aio_read64(&request));
    SHOW(aio_suspend64(list, 1, NULL));
    SHOW(aio_error64(&request));
    SHOW(aio_return64(&request));
    close(from);
    close(to);
}

static OWN void folder(void)
{
    struct dirent64 room, *at;
    int count = 0;
    mkdir("few", 0700);
    put("few/one", "1");
    DIR *few = opendir("few");
    while (readdir64_r(few, &room, &at) == 0 && at != NULL)
        count++;
    SHOW(count);
    SHOW(closedir(few));
}

static int times;
static void count_times(void)
{
    errno = ERANGE; /* stays as it is left */
    times++;
}

static OWN void once(void)
{
    static once_flag flag = ONCE_FLAG_INIT;
    for (int i = 0; i < 3; i++) {
        errno = 0;
        call_once(&flag, count_times);
        fprintf(out, "call_once: %d, %d\n", times, errno);
    }
}

int main(void)
{
    out = fdopen(dup(1), "w");
    narrow();
    wide();
    descriptors();
    folder();
    once();
    return fclose(out);
}
