/* SPDX-License-Identifier: Apache-2.0 */
/* Code of C procedures: accepted code lies within its part and can be disassembled. */
#include <stdint.h>
#include <stdlib.h>

#include "profile/file/build.h"
#include "profile/file/machine/instructions.h"
#include "profile/file/machine/machine_code.h"

#define INSTRUCTIONS_MAX 10000u

/* The profile that the seeds belong to: two procedures. */
static struct fm_profile *make_profile(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    struct fm_ps ps = {.name = "f", .decl_module = "a.c", .def_module = "a.c", .file = "/a.c"};
    uint32_t first = fm_build_ps(build, &ps);
    fm_build_ps(build, &ps);
    fm_build_pd(build, first);
    struct fm_profile *profile;
    if (!fm_build_finish(build, &profile, NULL))
        abort();
    return profile;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fm_profile *profile;
    if (profile == NULL)
        profile = make_profile();
    struct fm_machine_code *code = NULL;
    if (!fm_machine_code_read_bytes("input", data, size, profile, &code, NULL))
        return 0;
    for (guint i = 0; i < code->parts->len; i++) {
        const struct fm_code_part *part = &g_array_index(code->parts, struct fm_code_part, i);
        for (uint32_t r = 0; r < part->row_count; r++) {
            const struct fm_code_row *row =
                &g_array_index(code->rows, struct fm_code_row, part->row_first + r);
            if (row->address - part->start > part->size ||
                (row->line > 0 && row->file >= code->files->len))
                abort();
        }
        g_autofree uint8_t *bytes = fm_machine_code_bytes(code, part, NULL);
        if (bytes == NULL)
            continue;
        bool all;
        g_autoptr(GArray) found =
            fm_instructions(bytes, part->size, part->start, INSTRUCTIONS_MAX, &all);
        uint64_t covered = 0;
        for (guint n = 0; n < found->len; n++)
            covered += g_array_index(found, struct fm_instruction, n).size;
        if (all ? covered != part->size : covered > part->size)
            abort();
    }
    fm_machine_code_free(code);
    return 0;
}
