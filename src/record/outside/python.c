/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/python.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "record/outside/sample.h"

#define FRAMES_MAX 512u
#define THREADS_MAX 4096u
#define TEXT_MAX 256u    /* characters of a name */
#define BYTES_MAX 16000u /* all frames take: records are shorter than 64 KiB */
#define TRIES_MAX 100u   /* looks for a library that is loaded later */
#define ON_C_STACK 3     /* owner of a frame that stands for a call from C (from 3.12 on) */

/* Offsets in CPython's structures for x86-64, as the debug information of its builds has them. */
struct layout {
    uint32_t version; /* Py_Version >> 16 */
    uint16_t interpreters, interpreter_next, threads;
    uint16_t thread_next, thread_number, thread_frame; /* in PyThreadState */
    bool has_cframe; /* thread_frame leads to a _PyCFrame, which leads to the frame: */
    uint16_t cframe_frame;
    uint16_t code, previous, entry, owner; /* in _PyInterpreterFrame; entry 0: there is none */
    uint16_t instruction;                  /* there, too */
    uint16_t file, name, first_line;       /* in PyCodeObject */
    uint16_t lines, instructions;          /* there, too */
    uint16_t ascii, wide;                  /* begin of a text's characters */
};

static const struct layout layouts[] = {
    {0x030b, 40, 0, 16, 8, 160, 56, true, 8, 32, 48, 68, 69, 56, 112, 128, 72, 136, 184, 48, 72},
    {0x030c, 40, 0, 72, 8, 144, 56, true, 0, 0, 8, 0, 70, 56, 112, 128, 68, 136, 192, 40, 56},
    {0x030d, 632, 7264, 7344, 8,   160, 72,  false, 0,  0, 8,
     0,      70,  56,   112,  128, 68,  136, 200,   40, 56},
};

#define FRAME_BYTES 72u
#define CODE_BYTES 144u
#define TABLE_MAX 16384u /* bytes of a table of lines; functions that have more have no lines */

/* Bytes objects: their length, and begin. */
#define BYTES_LENGTH 16u
#define BYTES_BEGIN 32u

/* Text objects: their length, and bits that tell how characters are stored. */
#define TEXT_LENGTH 16u
#define TEXT_STATE 32u

struct fm_python {
    const struct fm_target *target;
    const struct layout *layout; /* NULL: not found */
    unsigned tries;
    uint64_t runtime, eval, eval_size;
};

/* --- the interpreter --- */

struct symbols {
    uint64_t runtime, version, eval, eval_size;
};

static void take_symbol(const char *name, const GElf_Sym *symbol, struct symbols *ret)
{
    if (name == NULL || symbol->st_shndx == SHN_UNDEF)
        return;
    if (strcmp(name, "_PyRuntime") == 0)
        ret->runtime = symbol->st_value;
    else if (strcmp(name, "Py_Version") == 0)
        ret->version = symbol->st_value;
    else if (strcmp(name, "_PyEval_EvalFrameDefault") == 0) {
        ret->eval = symbol->st_value;
        ret->eval_size = symbol->st_size;
    }
}

static void read_symbols(Elf *elf, struct symbols *ret)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNSYM ||
            header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data != NULL && i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) != NULL)
                take_symbol(elf_strptr(elf, header.sh_link, symbol.st_name), &symbol, ret);
        }
    }
}

/* The first address that the file is linked for. */
static uint64_t linked_start(Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (gelf_getphdr(elf, (int)i, &part) != NULL && part.p_type == PT_LOAD)
            return part.p_vaddr - part.p_offset;
    }
    return 0;
}

static bool read_file(const struct fm_target *target, const char *path, struct symbols *ret,
                      uint64_t *ret_linked)
{
    g_autofree char *whole = g_strconcat(target->root == NULL ? "" : target->root, path, NULL);
    int file = open(whole, O_RDONLY | O_CLOEXEC);
    if (file < 0) /* from before it changed its root */
        file = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = file >= 0 ? elf_begin(file, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf != NULL) {
        read_symbols(elf, ret);
        *ret_linked = linked_start(elf);
        elf_end(elf);
    }
    if (file >= 0)
        close(file);
    return ret->runtime != 0 && ret->version != 0 && ret->eval != 0;
}

static bool read_bytes(const struct fm_python *python, uint64_t address, void *to, size_t size)
{
    return address != 0 && fm_target_copy(python->target, address, to, size) == size;
}

static uint64_t read_word(const struct fm_python *python, uint64_t address)
{
    uint64_t value;
    return read_bytes(python, address, &value, sizeof value) ? value : 0;
}

struct fm_python *fm_python_new(const struct fm_target *target)
{
    struct fm_python *python = g_new0(struct fm_python, 1);
    python->target = target;
    return python;
}

bool fm_python_find(struct fm_python *python)
{
    struct symbols symbols = {0};
    uint64_t start, linked = 0;
    if (python->layout != NULL || !python->target->is_readable || python->tries >= TRIES_MAX)
        return false;
    python->tries++;
    g_autofree char *path = fm_outside_python(python->target, &start);
    if (path == NULL || !read_file(python->target, path, &symbols, &linked))
        return false;
    python->runtime = start - linked + symbols.runtime;
    python->eval = start - linked + symbols.eval;
    python->eval_size = symbols.eval_size;
    uint64_t version = read_word(python, start - linked + symbols.version);
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++)
        if (version >> 16 == layouts[i].version)
            python->layout = &layouts[i];
    return python->layout != NULL;
}

void fm_python_free(struct fm_python *python)
{
    g_free(python);
}

void fm_python_code(const struct fm_python *python, uint64_t *ret_low, uint64_t *ret_high)
{
    *ret_low = python->eval;
    *ret_high = python->eval + python->eval_size;
}

/* --- frames --- */

/* Appends a text object, with its end. */
static void put_text(const struct fm_python *python, uint64_t object, GByteArray *to)
{
    uint8_t head[TEXT_STATE + 4], bytes[TEXT_MAX * 4];
    uint64_t length;
    uint32_t state;
    g_autoptr(GString) text = g_string_new(NULL);
    if (read_bytes(python, object, head, sizeof head)) {
        memcpy(&length, head + TEXT_LENGTH, sizeof length);
        memcpy(&state, head + TEXT_STATE, sizeof state);
        unsigned kind = state >> 2 & 7; /* bytes a character */
        bool ascii = (state >> 6 & 1) != 0, compact = (state >> 5 & 1) != 0;
        uint64_t at = object + (ascii ? python->layout->ascii : python->layout->wide);
        size_t count = MIN(length, TEXT_MAX);
        if (compact && (kind == 1 || kind == 2 || kind == 4) &&
            read_bytes(python, at, bytes, count * kind))
            for (size_t i = 0; i < count; i++) {
                uint32_t character = 0;
                memcpy(&character, bytes + i * kind, kind);
                g_string_append_unichar(
                    text, g_unichar_validate(character) && character != 0 ? character : 0xFFFD);
            }
    }
    g_byte_array_append(to, (const guint8 *)text->str, (guint)text->len + 1);
}

static uint64_t word_at(const uint8_t *bytes, unsigned offset)
{
    uint64_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

/* --- lines --- */

/* Six bits a byte, the lowest first, while bit 6 is set. */
static uint32_t take_number(const uint8_t **at, const uint8_t *end)
{
    uint32_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 30; shift += 6) {
        uint8_t byte = *(*at)++;
        value |= (uint32_t)(byte & 63) << shift;
        if ((byte & 64) == 0)
            break;
    }
    return value;
}

/* What an entry adds to the line; what else it says is skipped. */
static int32_t take_step(unsigned kind, const uint8_t **at, const uint8_t *end)
{
    if (kind >= 10 && kind <= 12) /* so many lines further, with columns */
        return (int32_t)kind - 10;
    if (kind != 13 && kind != 14) /* the same line; none */
        return 0;
    uint32_t number = take_number(at, end);
    return (number & 1) != 0 ? -(int32_t)(number >> 1) : (int32_t)(number >> 1);
}

/* The line of an instruction by the table of CPython 3.11 and later (Objects/locations.md there).
 * Only first bytes of entries have bit 7. 0: it has none. */
static uint32_t line_in(const uint8_t *at, const uint8_t *end, uint32_t first_line, uint64_t unit)
{
    enum { NO_LINE = 15 };
    int64_t line = first_line;
    uint64_t covered = 0; /* instructions, in units of two bytes */
    while (at < end) {
        unsigned kind = *at >> 3 & 15;
        covered += (*at++ & 7) + 1u;
        line += take_step(kind, &at, end);
        if (unit < covered)
            return kind == NO_LINE || line <= 0 || line > INT32_MAX ? 0 : (uint32_t)line;
        while (at < end && (*at & 128) == 0)
            at++;
    }
    return 0;
}

/* The line that a frame runs. */
static uint32_t current_line(const struct fm_python *python, uint64_t code, const uint8_t *bytes,
                             uint64_t instruction, uint32_t first_line)
{
    uint64_t table = word_at(bytes, python->layout->lines);
    uint64_t begin = code + python->layout->instructions;
    uint64_t size = read_word(python, table + BYTES_LENGTH);
    if (table == 0 || size == 0 || size > TABLE_MAX || instruction < begin)
        return 0;
    g_autofree uint8_t *entries = g_malloc(size);
    if (!read_bytes(python, table + BYTES_BEGIN, entries, size))
        return 0;
    return line_in(entries, entries + size, first_line, (instruction - begin) / 2);
}

/* False: there is no such code. */
static bool put_frame(const struct fm_python *python, uint64_t code, bool entry,
                      uint64_t instruction, GByteArray *to)
{
    uint8_t bytes[CODE_BYTES], is_entry = entry;
    uint32_t lines[2];
    if (!read_bytes(python, code, bytes, sizeof bytes))
        return false;
    memcpy(&lines[0], bytes + python->layout->first_line, sizeof lines[0]);
    lines[1] = current_line(python, code, bytes, instruction, lines[0]);
    g_byte_array_append(to, &is_entry, 1);
    g_byte_array_append(to, (const guint8 *)lines, sizeof lines);
    put_text(python, word_at(bytes, python->layout->name), to);
    put_text(python, word_at(bytes, python->layout->file), to);
    return true;
}

/* PyThreadState of a thread, of any interpreter. 0: it runs no Python. */
static uint64_t state_of(const struct fm_python *python, pid_t tid)
{
    const struct layout *layout = python->layout;
    uint64_t number = (uint64_t)fm_process_inner(python->target->pid, tid);
    uint64_t of = number == 0 ? 0 : read_word(python, python->runtime + layout->interpreters);
    for (unsigned seen = 0; of != 0 && seen < THREADS_MAX; seen++) {
        uint64_t thread = read_word(python, of + layout->threads);
        for (; thread != 0 && seen < THREADS_MAX; seen++) {
            if (read_word(python, thread + layout->thread_number) == number)
                return thread;
            thread = read_word(python, thread + layout->thread_next);
        }
        of = read_word(python, of + layout->interpreter_next);
    }
    return 0;
}

void fm_python_frames(struct fm_python *python, pid_t tid, GByteArray *to)
{
    const struct layout *layout = python->layout;
    if (layout == NULL)
        return;
    uint64_t state = state_of(python, tid);
    uint64_t at = state == 0 ? 0 : read_word(python, state + layout->thread_frame);
    guint last = 0; /* place of the frame before, + 1 */
    if (layout->has_cframe && at != 0)
        at = read_word(python, at + layout->cframe_frame);
    for (unsigned i = 0; i < FRAMES_MAX && at != 0 && to->len < BYTES_MAX; i++) {
        uint8_t frame[FRAME_BYTES];
        if (!read_bytes(python, at, frame, sizeof frame))
            return;
        at = word_at(frame, layout->previous);
        if (layout->entry == 0 && frame[layout->owner] == ON_C_STACK) {
            if (last > 0) /* C called the function before */
                to->data[last - 1] = true;
            continue;
        }
        last = to->len + 1;
        bool entry = layout->entry != 0 && frame[layout->entry] != 0;
        if (!put_frame(python, word_at(frame, layout->code), entry,
                       word_at(frame, layout->instruction), to))
            return;
    }
}
