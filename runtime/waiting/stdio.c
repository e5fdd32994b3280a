/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: waits inside libc are not visible, so the functions themselves are interposed. Input
 * from the buffer, and output that fits into it, need no clock. */
#include "streams.h"

extern char *__fgets_chk(char *restrict line, size_t room, int bytes, FILE *restrict stream);
extern size_t __fread_chk(void *restrict to, size_t room, size_t size, size_t count,
                          FILE *restrict stream);
extern int __vfprintf_chk(FILE *restrict stream, int flag, const char *restrict format,
                          va_list arguments);
extern int __vprintf_chk(int flag, const char *restrict format, va_list arguments);
extern int __isoc99_vscanf(const char *restrict format, va_list arguments);
extern int __isoc99_vfscanf(FILE *restrict stream, const char *restrict format, va_list arguments);
extern int __isoc23_vscanf(const char *restrict format, va_list arguments);
extern int __isoc23_vfscanf(FILE *restrict stream, const char *restrict format, va_list arguments);
extern int __printf_chk(int flag, const char *restrict format, ...);
extern int __fprintf_chk(FILE *restrict stream, int flag, const char *restrict format, ...);
extern int __isoc99_scanf(const char *restrict format, ...);
extern int __isoc99_fscanf(FILE *restrict stream, const char *restrict format, ...);
extern int __isoc23_scanf(const char *restrict format, ...);
extern int __isoc23_fscanf(FILE *restrict stream, const char *restrict format, ...);
extern ssize_t __getdelim(char **restrict line, size_t *restrict room, int end,
                          FILE *restrict stream);

#define CALLS(X)        \
    X(fgets)            \
    X(__fgets_chk)      \
    X(fgetc)            \
    X(getc)             \
    X(getchar)          \
    X(fread)            \
    X(__fread_chk)      \
    X(getline)          \
    X(getdelim)         \
    X(__getdelim)       \
    X(__uflow)          \
    X(__isoc99_vscanf)  \
    X(__isoc99_vfscanf) \
    X(__isoc23_vscanf)  \
    X(__isoc23_vfscanf) \
    X(fputc)            \
    X(putc)             \
    X(putchar)          \
    X(fputs)            \
    X(puts)             \
    X(fwrite)           \
    X(__overflow)       \
    X(fflush)           \
    X(fclose)           \
    X(vprintf)          \
    X(vfprintf)         \
    X(__vprintf_chk)    \
    X(__vfprintf_chk)   \
    X(printf)           \
    X(fprintf)          \
    X(__printf_chk)     \
    X(__fprintf_chk)    \
    X(__isoc99_scanf)   \
    X(__isoc99_fscanf)  \
    X(__isoc23_scanf)   \
    X(__isoc23_fscanf)  \
    X(scanf)            \
    X(fscanf)           \
    X(vscanf)           \
    X(vfscanf)
FM_WAIT_NEXT(CALLS)

INPUT_UNLESS(has_line(stream, '\n', bytes > 0 ? (size_t)bytes : 0), char *, fgets,
             (char *restrict line, int bytes, FILE *restrict stream), (line, bytes, stream))
INPUT_UNLESS(has_line(stream, '\n', bytes > 0 ? (size_t)bytes : 0), char *, __fgets_chk,
             (char *restrict line, size_t room, int bytes, FILE *restrict stream),
             (line, room, bytes, stream))
INPUT_UNLESS(has_input(stream, 1), int, fgetc, (FILE * stream), (stream))
INPUT_UNLESS(has_input(stream, 1), int, getc, (FILE * stream), (stream))
INPUT_UNLESS(has_input(stdin, 1), int, getchar, (void), ())
INPUT_UNLESS(has_input(stream, size *count), size_t, fread,
             (void *restrict to, size_t size, size_t count, FILE *restrict stream),
             (to, size, count, stream))
INPUT_UNLESS(has_input(stream, size *count), size_t, __fread_chk,
             (void *restrict to, size_t room, size_t size, size_t count, FILE *restrict stream),
             (to, room, size, count, stream))
INPUT_UNLESS(has_line(stream, '\n', SIZE_MAX), ssize_t, getline,
             (char **restrict line, size_t *restrict room, FILE *restrict stream),
             (line, room, stream))
INPUT_UNLESS(has_line(stream, end, SIZE_MAX), ssize_t, getdelim,
             (char **restrict line, size_t *restrict room, int end, FILE *restrict stream),
             (line, room, end, stream))
INPUT_UNLESS(has_line(stream, end, SIZE_MAX), ssize_t, __getdelim,
             (char **restrict line, size_t *restrict room, int end, FILE *restrict stream),
             (line, room, end, stream))
INPUT_UNLESS(false, int, __uflow, (FILE * stream), (stream))
INPUT_UNLESS(false, int, __isoc99_vscanf, (const char *restrict format, va_list list),
             (format, list))
INPUT_UNLESS(false, int, __isoc99_vfscanf,
             (FILE *restrict stream, const char *restrict format, va_list list),
             (stream, format, list))

INPUT_UNLESS(false, int, __isoc23_vscanf, (const char *restrict format, va_list list),
             (format, list))
INPUT_UNLESS(false, int, __isoc23_vfscanf,
             (FILE *restrict stream, const char *restrict format, va_list list),
             (stream, format, list))

OUTPUT_UNLESS(has_room(stream, 1), int, fputc, (int byte, FILE *stream), (byte, stream))
OUTPUT_UNLESS(has_room(stream, 1), int, putc, (int byte, FILE *stream), (byte, stream))
OUTPUT_UNLESS(has_room(stdout, 1), int, putchar, (int byte), (byte))
OUTPUT_UNLESS(has_room(stream, size *count), size_t, fwrite,
              (const void *restrict from, size_t size, size_t count, FILE *restrict stream),
              (from, size, count, stream))
OUTPUT_UNLESS(false, int, fputs, (const char *restrict text, FILE *restrict stream), (text, stream))
OUTPUT_UNLESS(false, int, puts, (const char *text), (text))
OUTPUT_UNLESS(false, int, __overflow, (FILE * stream, int byte), (stream, byte))
OUTPUT_UNLESS(false, int, fflush, (FILE * stream), (stream))
OUTPUT_UNLESS(false, int, fclose, (FILE * stream), (stream))
OUTPUT_UNLESS(false, int, vprintf, (const char *restrict format, va_list list), (format, list))
OUTPUT_UNLESS(false, int, vfprintf,
              (FILE *restrict stream, const char *restrict format, va_list list),
              (stream, format, list))
OUTPUT_UNLESS(false, int, __vprintf_chk, (int flag, const char *restrict format, va_list list),
              (flag, format, list))
OUTPUT_UNLESS(false, int, __vfprintf_chk,
              (FILE *restrict stream, int flag, const char *restrict format, va_list list),
              (stream, flag, format, list))

FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, printf, vprintf, format, (const char *restrict format, ...),
                 (format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, fprintf, vfprintf, format,
                 (FILE *restrict stream, const char *restrict format, ...), (stream, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, __printf_chk, __vprintf_chk, format,
                 (int flag, const char *restrict format, ...), (flag, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, __fprintf_chk, __vfprintf_chk, format,
                 (FILE *restrict stream, int flag, const char *restrict format, ...),
                 (stream, flag, format, list))
#define SCAN(standard)                                                                           \
    FM_WAIT_VARIADIC(FM_REC_WAIT_READ, 0, __##standard##_scanf, __##standard##_vscanf, format,   \
                     (const char *restrict format, ...), (format, list))                         \
    FM_WAIT_VARIADIC(FM_REC_WAIT_READ, 0, __##standard##_fscanf, __##standard##_vfscanf, format, \
                     (FILE *restrict stream, const char *restrict format, ...),                  \
                     (stream, format, list))
SCAN(isoc99)
SCAN(isoc23)
INPUT_UNLESS(false, int, vscanf, (const char *restrict format, va_list list), (format, list))
INPUT_UNLESS(false, int, vfscanf,
             (FILE *restrict stream, const char *restrict format, va_list list),
             (stream, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_READ, 0, scanf, vscanf, format, (const char *restrict format, ...),
                 (format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_READ, 0, fscanf, vfscanf, format,
                 (FILE *restrict stream, const char *restrict format, ...), (stream, format, list))
