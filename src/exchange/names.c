/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/names.h"

#include <string.h>

static char *plain_name(const struct fm_profile *p, const struct fm_ps *ps)
{
    char *name = g_strdup(p->flavour == FM_FLAVOUR_C ? ps->name : ps->qualified_name);
    for (char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    if (*name == '\0') {
        g_free(name);
        return g_strdup("?");
    }
    return name;
}

static const char *stripped(const char *file, const char *strip)
{
    size_t size = strip != NULL ? strlen(strip) : 0;
    while (size > 0 && strip[size - 1] == '/')
        size--;
    if (size == 0 || strncmp(file, strip, size) != 0 || file[size] != '/')
        return file;
    return file + size + 1;
}

/* Names that stand for more than one function get the file, then the number. */
static void tell_apart(struct fm_exchange_names *names, bool by_number)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree bool *repeated = g_new0(bool, names->count + 1);
    for (uint32_t ps = 1; ps <= names->count; ps++) {
        uint32_t first = GPOINTER_TO_UINT(g_hash_table_lookup(seen, names->name[ps]));
        if (first == 0)
            g_hash_table_insert(seen, names->name[ps], GUINT_TO_POINTER(ps));
        else
            repeated[first] = repeated[ps] = true;
    }
    for (uint32_t ps = 1; ps <= names->count; ps++) {
        char *old = names->name[ps];
        const char *slash = strrchr(names->file[ps], '/');
        if (!repeated[ps])
            continue;
        if (by_number)
            names->name[ps] = g_strdup_printf("%s#%u", old, ps);
        else if (*names->file[ps] != '\0')
            names->name[ps] =
                g_strdup_printf("%s@%s", old, slash != NULL ? slash + 1 : names->file[ps]);
        else
            continue;
        /* The table's keys are not looked at any more. */
        g_free(old);
    }
}

void fm_exchange_names_init(struct fm_exchange_names *names, const struct fm_profile *profile,
                            bool apart, const char *strip_path)
{
    names->count = profile->ps_count;
    names->name = g_new0(char *, names->count + 1);
    names->system = g_new0(const char *, names->count + 1);
    names->file = g_new0(const char *, names->count + 1);
    names->name[0] = g_strdup("?");
    names->system[0] = names->file[0] = "";
    for (uint32_t i = 1; i <= names->count; i++) {
        const struct fm_ps *ps = &profile->ps[i];
        bool other = profile->flavour == FM_FLAVOUR_C && strcmp(ps->raw_name, ps->name) != 0;
        names->name[i] = plain_name(profile, ps);
        names->system[i] = other ? ps->raw_name : "";
        names->file[i] = stripped(ps->file, strip_path);
    }
    if (apart) {
        tell_apart(names, false);
        tell_apart(names, true);
    }
}

void fm_exchange_names_done(struct fm_exchange_names *names)
{
    for (uint32_t i = 0; i <= names->count; i++)
        g_free(names->name[i]);
    g_free(names->name);
    g_free(names->system);
    g_free(names->file);
    *names = (struct fm_exchange_names){0};
}

const char *fm_exchange_node_name(struct fm_exchange_names *names,
                                  const struct fm_exchange_node *node, GString *buffer)
{
    if (node->ps != 0)
        return names->name[node->ps];
    g_string_printf(buffer, "(%u small context%s)", node->joined, node->joined == 1 ? "" : "s");
    return buffer->str;
}

uint32_t fm_exchange_call_line(const struct fm_profile *profile, uint32_t css)
{
    if (css == 0)
        return 0;
    const struct fm_css *site = &profile->css[css];
    const char *own = profile->ps[site->ps].file;
    return *site->file == '\0' || strcmp(site->file, own) == 0 ? site->line : 0;
}
