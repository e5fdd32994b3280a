/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/processes/roles.h"

#include <string.h>

#define ROLES_TOLD_MAX 8u

static void role_clear(gpointer data)
{
    struct fm_role *role = data;
    g_free(role->program);
    g_free(role->forked_in);
}

/* A command line is quoted for a shell. */
static char *program_of(const char *command)
{
    size_t end = strcspn(command, " ");
    g_auto(GStrv) words = NULL;
    g_autofree char *first =
        memchr(command, '\'', end) != NULL && g_shell_parse_argv(command, NULL, &words, NULL)
            ? g_strdup(words[0])
            : g_strndup(command, end);
    const char *slash = strrchr(first, '/');
    return g_strdup(slash == NULL ? first : slash + 1);
}

static gint compare(gconstpointer left, gconstpointer right)
{
    const struct fm_role *a = left, *b = right;
    int order = (int)a->forked - (int)b->forked;
    order = order != 0 ? order : strcmp(a->program, b->program);
    return order != 0 ? order : g_strcmp0(a->forked_in, b->forked_in);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static void add(struct fm_role *role, const struct fm_part *part)
{
    bool first = role->processes == 0;
    role->has_cost = part->has_cost && (first || role->has_cost);
    bool has_length = part->duration_ns != 0 && (first || role->longest_ns != 0);
    role->longest_ns = has_length ? MAX(role->longest_ns, part->duration_ns) : 0;
    role->processes = sum(role->processes, part->times);
    role->calls = sum(role->calls, product(part->calls, part->times));
    role->cpu_ns = sum(role->cpu_ns, product(part->cpu_ns, part->times));
}

uint64_t fm_run_processes(const struct fm_profile *profile)
{
    g_return_val_if_fail(profile != NULL, 0);
    const struct fm_run_info *run_info = &profile->run_info;
    uint64_t processes = 0;
    for (uint32_t i = 0; i < run_info->part_count; i++)
        processes = sum(processes, run_info->parts[i].times);
    return processes;
}

GArray *fm_run_roles(const struct fm_profile *profile)
{
    g_return_val_if_fail(profile != NULL, NULL);
    const struct fm_run_info *run_info = &profile->run_info;
    GArray *roles = g_array_new(FALSE, TRUE, sizeof(struct fm_role));
    g_array_set_clear_func(roles, role_clear);
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        const struct fm_part *part = &run_info->parts[i];
        struct fm_role own = {.program = program_of(part->process.command),
                              .forked = part->process.forked,
                              .forked_in = g_strdup(part->process.forked_in)};
        guint at = 0;
        while (at < roles->len && compare(&g_array_index(roles, struct fm_role, at), &own) != 0)
            at++;
        if (at == roles->len)
            g_array_append_val(roles, own);
        else
            role_clear(&own);
        add(&g_array_index(roles, struct fm_role, at), part);
    }
    g_array_sort(roles, compare);
    return roles;
}

char *fm_run_role_text(const struct fm_role *role)
{
    g_return_val_if_fail(role != NULL, NULL);
    const char *program = role->program[0] == '\0' ? "a program not recorded" : role->program;
    if (!role->forked)
        return g_strdup(program);
    return role->forked_in == NULL ? g_strdup_printf("%s, forked", program)
                                   : g_strdup_printf("%s, forked in %s", program, role->forked_in);
}

char *fm_run_roles_sentence(const struct fm_profile *profile)
{
    g_autoptr(GArray) roles = fm_run_roles(profile);
    if (roles->len == 0)
        return NULL;
    uint64_t all = 0;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < roles->len; i++) {
        const struct fm_role *role = &g_array_index(roles, struct fm_role, i);
        g_autofree char *name = fm_run_role_text(role);
        all = sum(all, role->processes);
        if (i < ROLES_TOLD_MAX)
            g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s", i == 0 ? "" : "; ",
                                   (guint64)role->processes, name);
    }
    if (roles->len > ROLES_TOLD_MAX)
        g_string_append_printf(text, "; %u other roles", roles->len - ROLES_TOLD_MAX);
    return g_strdup_printf("%" G_GUINT64_FORMAT " process%s: %s", (guint64)all,
                           all == 1 ? "" : "es", text->str);
}
