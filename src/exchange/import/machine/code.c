/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/machine/code.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fm_import_code {
    char *path;
    Dwfl_Callbacks callbacks; /* libdwfl keeps a pointer to them */
    char *debug_path;
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr bias;   /* difference between libdwfl's addresses and the file's */
    GArray *segments; /* GElf_Phdr */
    GArray *bodies;   /* struct fm_import_code_body: the last answer */
};

/* Nothing but an ordinary file: the path comes from a file, and may name a device or a pipe. */
static int open_ordinary(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void read_segments(struct fm_import_code *code)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(code->module, &bias);
    size_t count = 0;
    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return;
    code->bias = bias;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) != NULL && segment.p_type == PT_LOAD)
            g_array_append_val(code->segments, segment);
    }
}

static bool has_build_id(const struct fm_import_code *code, const uint8_t *build_id, size_t size)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int own = dwfl_module_build_id(code->module, &bits, &address);
    /* A short one is filled up with zeros in the recording. */
    return size == 0 || (own > 0 && memcmp(bits, build_id, MIN((size_t)own, size)) == 0);
}

static struct fm_import_code *try_open(const char *path, const uint8_t *build_id, size_t size,
                                       bool *ret_other)
{
    int fd = open_ordinary(path);
    if (fd < 0)
        return NULL;
    struct fm_import_code *code = g_new0(struct fm_import_code, 1);
    code->path = g_strdup(path);
    code->segments = g_array_new(FALSE, FALSE, sizeof(GElf_Phdr));
    code->bodies = g_array_new(FALSE, FALSE, sizeof(struct fm_import_code_body));
    code->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                       .find_debuginfo = dwfl_standard_find_debuginfo,
                                       .section_address = dwfl_offline_section_address,
                                       .debuginfo_path = &code->debug_path};
    code->dwfl = dwfl_begin(&code->callbacks);
    if (code->dwfl != NULL) {
        dwfl_report_begin(code->dwfl);
        code->module = dwfl_report_offline(code->dwfl, path, path, fd);
        dwfl_report_end(code->dwfl, NULL, NULL);
    }
    if (code->module == NULL)
        close(fd); /* else it is libdwfl's */
    else
        read_segments(code);
    bool other = code->module != NULL && !has_build_id(code, build_id, size);
    *ret_other |= other;
    if (code->module != NULL && code->segments->len > 0 && !other)
        return code;
    fm_import_code_free(code);
    return NULL;
}

/* perf's own cache. */
static struct fm_import_code *try_cache(const uint8_t *build_id, size_t size)
{
    g_autoptr(GString) digits = g_string_new(NULL);
    bool other = false;
    for (size_t i = 0; i < size; i++)
        g_string_append_printf(digits, "%s%02x", i == 1 ? "/" : "", build_id[i]);
    const char *home = g_getenv("HOME");
    if (home == NULL || size < 2)
        return NULL;
    g_autofree char *path = g_strdup_printf("%s/.debug/.build-id/%s/elf", home, digits->str);
    return try_open(path, build_id, size, &other);
}

struct fm_import_code *fm_import_code_open(const char *path, const uint8_t *build_id,
                                           size_t build_id_size, bool *ret_other)
{
    *ret_other = false;
    struct fm_import_code *code = try_open(path, build_id, build_id_size, ret_other);
    return code != NULL ? code : try_cache(build_id, build_id_size);
}

void fm_import_code_free(struct fm_import_code *code)
{
    if (code == NULL)
        return;
    if (code->dwfl != NULL)
        dwfl_end(code->dwfl);
    g_array_unref(code->segments);
    g_array_unref(code->bodies);
    g_free(code->path);
    g_free(code);
}

const char *fm_import_code_path(const struct fm_import_code *code)
{
    return code->path;
}

/* --- bodies --- */

static uint32_t line_number(int line)
{
    return line > 0 ? (uint32_t)line : 0;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) == NULL &&
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) == NULL &&
        dwarf_attr_integrate(die, DW_AT_name, &attribute) == NULL)
        return NULL;
    return dwarf_formstring(&attribute);
}

static uint32_t call_line(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0 ||
        line > INT32_MAX)
        return 0;
    return (uint32_t)line;
}

/* The body of a die, in front of those that are inlined into it. */
static void add_body(struct fm_import_code *code, Dwarf_Die *die, uint32_t line)
{
    int begins = 0;
    struct fm_import_code_body body = {.name = name_of(die), .line = line};
    body.file = dwarf_decl_file(die);
    if (dwarf_decl_line(die, &begins) == 0)
        body.begins = line_number(begins);
    body.inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
    if (body.name != NULL)
        g_array_prepend_val(code->bodies, body);
}

/* The scopes around the innermost one, as they lie in the code: an inlined body is within the one
 * that it was inlined into. */
static void add_scopes(struct fm_import_code *code, Dwarf_Die *unit, Dwarf_Addr address,
                       uint32_t line)
{
    Dwarf_Die *innermost = NULL, *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &innermost);
    if (count <= 0)
        return;
    Dwarf_Die die = innermost[0];
    free(innermost);
    count = dwarf_getscopes_die(&die, &scopes);
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        add_body(code, &scopes[i], line);
        line = call_line(&scopes[i]);
        if (tag == DW_TAG_subprogram)
            break;
    }
    if (count > 0)
        free(scopes);
}

bool fm_import_code_address(const struct fm_import_code *code, uint64_t offset, uint64_t *ret)
{
    for (guint i = 0; i < code->segments->len; i++) {
        const GElf_Phdr *segment = &g_array_index(code->segments, GElf_Phdr, i);
        if (offset >= segment->p_offset && offset - segment->p_offset < segment->p_filesz) {
            *ret = offset - segment->p_offset + segment->p_vaddr;
            return true;
        }
    }
    return false;
}

const GArray *fm_import_code_at(struct fm_import_code *code, uint64_t offset)
{
    uint64_t address;
    Dwarf_Addr bias = 0;
    int line = 0;
    g_array_set_size(code->bodies, 0);
    if (!fm_import_code_address(code, offset, &address))
        return code->bodies;
    address += code->bias;
    Dwarf_Die *unit = dwfl_module_addrdie(code->module, address, &bias);
    if (unit != NULL) {
        Dwfl_Line *row = dwfl_module_getsrc(code->module, address);
        if (row != NULL)
            (void)dwfl_lineinfo(row, NULL, &line, NULL, NULL, NULL);
        add_scopes(code, unit, address - bias, line_number(line));
    }
    if (code->bodies->len > 0)
        return code->bodies;
    const char *symbol = dwfl_module_addrname(code->module, address);
    struct fm_import_code_body body = {.name = symbol};
    if (symbol != NULL && symbol[0] != '\0')
        g_array_append_val(code->bodies, body);
    return code->bodies;
}
