/* SPDX-License-Identifier: Apache-2.0 */
/* Streams without their locks, and functions of stdio that are seldom used. */
#include "streams.h"

extern char *__fgets_unlocked_chk(char *restrict line, size_t room, int bytes,
                                  FILE *restrict stream);
extern size_t __fread_unlocked_chk(void *restrict to, size_t room, size_t size, size_t count,
                                   FILE *restrict stream);
extern char *gets(char *line);
extern char *__gets_chk(char *line, size_t room);
/* The functions that getc, putc and puts were in programs compiled for glibc before 2.28. */
extern int _IO_getc(FILE *stream);
extern int _IO_putc(int byte, FILE *stream);
extern int _IO_puts(const char *text);

#undef fgetc_unlocked
#undef getc_unlocked
#undef getchar_unlocked
#undef fputc_unlocked
#undef putc_unlocked
#undef putchar_unlocked
#undef fread_unlocked
#undef fwrite_unlocked

#define CALLS(X)            \
    X(getw)                 \
    X(putw)                 \
    X(perror)               \
    X(rewind)               \
    X(fseek)                \
    X(fseeko)               \
    X(fseeko64)             \
    X(gets)                 \
    X(__gets_chk)           \
    X(_IO_getc)             \
    X(_IO_putc)             \
    X(_IO_puts)             \
    X(fgetc_unlocked)       \
    X(getc_unlocked)        \
    X(getchar_unlocked)     \
    X(fgets_unlocked)       \
    X(__fgets_unlocked_chk) \
    X(fread_unlocked)       \
    X(__fread_unlocked_chk) \
    X(fputc_unlocked)       \
    X(putc_unlocked)        \
    X(putchar_unlocked)     \
    X(fputs_unlocked)       \
    X(fwrite_unlocked)      \
    X(fflush_unlocked)
FM_WAIT_NEXT(CALLS)

INPUT_UNLESS(has_input(stream, 1), int, fgetc_unlocked, (FILE * stream), (stream))
INPUT_UNLESS(has_input(stream, 1), int, getc_unlocked, (FILE * stream), (stream))
INPUT_UNLESS(has_input(stdin, 1), int, getchar_unlocked, (void), ())
INPUT_UNLESS(has_input(stream, 1), int, _IO_getc, (FILE * stream), (stream))
INPUT_UNLESS(has_input(stream, sizeof(int)), int, getw, (FILE * stream), (stream))
INPUT_UNLESS(has_line(stdin, '\n', SIZE_MAX), char *, gets, (char *line), (line))
INPUT_UNLESS(has_line(stdin, '\n', SIZE_MAX), char *, __gets_chk, (char *line, size_t room),
             (line, room))
INPUT_UNLESS(has_line(stream, '\n', bytes > 0 ? (size_t)bytes : 0), char *, fgets_unlocked,
             (char *restrict line, int bytes, FILE *restrict stream), (line, bytes, stream))
INPUT_UNLESS(has_line(stream, '\n', bytes > 0 ? (size_t)bytes : 0), char *, __fgets_unlocked_chk,
             (char *restrict line, size_t room, int bytes, FILE *restrict stream),
             (line, room, bytes, stream))
INPUT_UNLESS(has_input(stream, size *count), size_t, fread_unlocked,
             (void *restrict to, size_t size, size_t count, FILE *restrict stream),
             (to, size, count, stream))
INPUT_UNLESS(has_input(stream, size *count), size_t, __fread_unlocked_chk,
             (void *restrict to, size_t room, size_t size, size_t count, FILE *restrict stream),
             (to, room, size, count, stream))

OUTPUT_UNLESS(has_room(stream, 1), int, fputc_unlocked, (int byte, FILE *stream), (byte, stream))
OUTPUT_UNLESS(has_room(stream, 1), int, putc_unlocked, (int byte, FILE *stream), (byte, stream))
OUTPUT_UNLESS(has_room(stdout, 1), int, putchar_unlocked, (int byte), (byte))
OUTPUT_UNLESS(has_room(stream, 1), int, _IO_putc, (int byte, FILE *stream), (byte, stream))
OUTPUT_UNLESS(has_room(stream, sizeof(int)), int, putw, (int word, FILE *stream), (word, stream))
OUTPUT_UNLESS(false, int, _IO_puts, (const char *text), (text))
OUTPUT_UNLESS(has_room(stream, size *count), size_t, fwrite_unlocked,
              (const void *restrict from, size_t size, size_t count, FILE *restrict stream),
              (from, size, count, stream))
OUTPUT_UNLESS(false, int, fputs_unlocked, (const char *restrict text, FILE *restrict stream),
              (text, stream))
OUTPUT_UNLESS(false, int, fflush_unlocked, (FILE * stream), (stream))

/* These functions first write the buffer's contents. */
OUTPUT_UNLESS(false, int, fseek, (FILE * stream, long to, int from), (stream, to, from))
OUTPUT_UNLESS(false, int, fseeko, (FILE * stream, off_t to, int from), (stream, to, from))
OUTPUT_UNLESS(false, int, fseeko64, (FILE * stream, off64_t to, int from), (stream, to, from))
#define OUTPUT_OF_NOTHING(name, parameters, arguments)            \
    FM_WAIT_SEES(void, name, name, parameters)                    \
    {                                                             \
        bool counted = fm_wait_begin(FM_REC_WAIT_WRITE, 0, HERE); \
        next.name arguments;                                      \
        fm_wait_over(counted, HERE);                              \
    }
OUTPUT_OF_NOTHING(rewind, (FILE * stream), (stream))
OUTPUT_OF_NOTHING(perror, (const char *text), (text))
