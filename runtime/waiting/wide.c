/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of wide characters. Their buffers are not examined: each call reads the clock. */
#include "streams.h"

extern wchar_t *__fgetws_chk(wchar_t *restrict line, size_t room, int count, FILE *restrict stream);
extern wchar_t *__fgetws_unlocked_chk(wchar_t *restrict line, size_t room, int count,
                                      FILE *restrict stream);
extern wint_t __wuflow(FILE *stream);
extern wint_t __woverflow(FILE *stream, wint_t character);
extern int __vwprintf_chk(int flag, const wchar_t *restrict format, va_list list);
extern int __vfwprintf_chk(FILE *restrict stream, int flag, const wchar_t *restrict format,
                           va_list list);
extern int __wprintf_chk(int flag, const wchar_t *restrict format, ...);
extern int __fwprintf_chk(FILE *restrict stream, int flag, const wchar_t *restrict format, ...);
#define DECLARE_SCAN(standard)                                                                     \
    extern int __##standard##_wscanf(const wchar_t *restrict format, ...);                         \
    extern int __##standard##_fwscanf(FILE *restrict stream, const wchar_t *restrict format, ...); \
    extern int __##standard##_vwscanf(const wchar_t *restrict format, va_list list);               \
    extern int __##standard##_vfwscanf(FILE *restrict stream, const wchar_t *restrict format,      \
                                       va_list list);
DECLARE_SCAN(isoc99)
DECLARE_SCAN(isoc23)

#define CALLS(X)             \
    X(fgetwc)                \
    X(getwc)                 \
    X(getwchar)              \
    X(fgetwc_unlocked)       \
    X(getwc_unlocked)        \
    X(getwchar_unlocked)     \
    X(fgetws)                \
    X(fgetws_unlocked)       \
    X(__fgetws_chk)          \
    X(__fgetws_unlocked_chk) \
    X(__wuflow)              \
    X(vwscanf)               \
    X(vfwscanf)              \
    X(__isoc99_vwscanf)      \
    X(__isoc99_vfwscanf)     \
    X(__isoc23_vwscanf)      \
    X(__isoc23_vfwscanf)     \
    X(fputwc)                \
    X(putwc)                 \
    X(putwchar)              \
    X(fputwc_unlocked)       \
    X(putwc_unlocked)        \
    X(putwchar_unlocked)     \
    X(fputws)                \
    X(fputws_unlocked)       \
    X(__woverflow)           \
    X(vwprintf)              \
    X(vfwprintf)             \
    X(__vwprintf_chk)        \
    X(__vfwprintf_chk)       \
    X(wprintf)               \
    X(fwprintf)              \
    X(__wprintf_chk)         \
    X(__fwprintf_chk)        \
    X(wscanf)                \
    X(fwscanf)               \
    X(__isoc99_wscanf)       \
    X(__isoc99_fwscanf)      \
    X(__isoc23_wscanf)       \
    X(__isoc23_fwscanf)
FM_WAIT_NEXT(CALLS)

INPUT_UNLESS(false, wint_t, fgetwc, (FILE * stream), (stream))
INPUT_UNLESS(false, wint_t, getwc, (FILE * stream), (stream))
INPUT_UNLESS(false, wint_t, fgetwc_unlocked, (FILE * stream), (stream))
INPUT_UNLESS(false, wint_t, getwc_unlocked, (FILE * stream), (stream))
INPUT_UNLESS(false, wint_t, __wuflow, (FILE * stream), (stream))
INPUT_UNLESS(false, wint_t, getwchar, (void), ())
INPUT_UNLESS(false, wint_t, getwchar_unlocked, (void), ())
INPUT_UNLESS(false, wchar_t *, fgetws, (wchar_t *restrict line, int count, FILE *restrict stream),
             (line, count, stream))
INPUT_UNLESS(false, wchar_t *, fgetws_unlocked,
             (wchar_t *restrict line, int count, FILE *restrict stream), (line, count, stream))
INPUT_UNLESS(false, wchar_t *, __fgetws_chk,
             (wchar_t *restrict line, size_t room, int count, FILE *restrict stream),
             (line, room, count, stream))
INPUT_UNLESS(false, wchar_t *, __fgetws_unlocked_chk,
             (wchar_t *restrict line, size_t room, int count, FILE *restrict stream),
             (line, room, count, stream))

OUTPUT_UNLESS(false, wint_t, fputwc, (wchar_t character, FILE *stream), (character, stream))
OUTPUT_UNLESS(false, wint_t, putwc, (wchar_t character, FILE *stream), (character, stream))
OUTPUT_UNLESS(false, wint_t, fputwc_unlocked, (wchar_t character, FILE *stream),
              (character, stream))
OUTPUT_UNLESS(false, wint_t, putwc_unlocked, (wchar_t character, FILE *stream), (character, stream))
OUTPUT_UNLESS(false, wint_t, putwchar, (wchar_t character), (character))
OUTPUT_UNLESS(false, wint_t, putwchar_unlocked, (wchar_t character), (character))
OUTPUT_UNLESS(false, wint_t, __woverflow, (FILE * stream, wint_t character), (stream, character))
OUTPUT_UNLESS(false, int, fputws, (const wchar_t *restrict text, FILE *restrict stream),
              (text, stream))
OUTPUT_UNLESS(false, int, fputws_unlocked, (const wchar_t *restrict text, FILE *restrict stream),
              (text, stream))

OUTPUT_UNLESS(false, int, vwprintf, (const wchar_t *restrict format, va_list list), (format, list))
OUTPUT_UNLESS(false, int, vfwprintf,
              (FILE *restrict stream, const wchar_t *restrict format, va_list list),
              (stream, format, list))
OUTPUT_UNLESS(false, int, __vwprintf_chk, (int flag, const wchar_t *restrict format, va_list list),
              (flag, format, list))
OUTPUT_UNLESS(false, int, __vfwprintf_chk,
              (FILE *restrict stream, int flag, const wchar_t *restrict format, va_list list),
              (stream, flag, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, wprintf, vwprintf, format,
                 (const wchar_t *restrict format, ...), (format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, fwprintf, vfwprintf, format,
                 (FILE *restrict stream, const wchar_t *restrict format, ...),
                 (stream, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, __wprintf_chk, __vwprintf_chk, format,
                 (int flag, const wchar_t *restrict format, ...), (flag, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, 0, __fwprintf_chk, __vfwprintf_chk, format,
                 (FILE *restrict stream, int flag, const wchar_t *restrict format, ...),
                 (stream, flag, format, list))

#define SCAN(one, of_stream, listed, listed_of_stream)                                  \
    INPUT_UNLESS(false, int, listed, (const wchar_t *restrict format, va_list list),    \
                 (format, list))                                                        \
    INPUT_UNLESS(false, int, listed_of_stream,                                          \
                 (FILE *restrict stream, const wchar_t *restrict format, va_list list), \
                 (stream, format, list))                                                \
    FM_WAIT_VARIADIC(FM_REC_WAIT_READ, 0, one, listed, format,                          \
                     (const wchar_t *restrict format, ...), (format, list))             \
    FM_WAIT_VARIADIC(FM_REC_WAIT_READ, 0, of_stream, listed_of_stream, format,          \
                     (FILE *restrict stream, const wchar_t *restrict format, ...),      \
                     (stream, format, list))
SCAN(wscanf, fwscanf, vwscanf, vfwscanf)
SCAN(__isoc99_wscanf, __isoc99_fwscanf, __isoc99_vwscanf, __isoc99_vfwscanf)
SCAN(__isoc23_wscanf, __isoc23_fwscanf, __isoc23_vwscanf, __isoc23_vfwscanf)
