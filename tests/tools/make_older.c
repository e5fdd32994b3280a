/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile as older versions of fathom wrote it: without what is attached, which becomes
 * files beside it.
 *
 * usage: make-older IN.data OUT.data */
#include <stdio.h>

#include "base/files/beside.h"
#include "base/error.h"
#include "profile/file/attached/attached.h"

static bool take_out(struct fm_profile *profile, const char *in, const char *out,
                     enum fm_attachment_kind kind, const char *ending, GError **error)
{
    struct fm_attached_bytes found;
    g_autofree char *path = fm_path_beside(out, ending);
    if (profile->attached[kind].packed == NULL)
        return true;
    if (!fm_attached_find(NULL, in, profile, kind, &found, error))
        return false;
    bool ok = fm_attached_end(
        &found, g_file_set_contents(path, (const char *)found.bytes, (gssize)found.size, error),
        error);
    g_free(profile->attached[kind].packed);
    profile->attached[kind] = (struct fm_attachment){0};
    return ok;
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(FmProfile) profile = NULL;
    if (argc == 3 && fm_profile_read(argv[1], NULL, &profile, &error) &&
        take_out(profile, argv[1], argv[2], FM_ATTACHED_LINES, FM_BESIDE_LINES, &error) &&
        take_out(profile, argv[1], argv[2], FM_ATTACHED_CODE, FM_BESIDE_CODE, &error) &&
        take_out(profile, argv[1], argv[2], FM_ATTACHED_SOURCES, FM_BESIDE_SOURCES, &error) &&
        fm_profile_write(profile, argv[2], false, &error))
        return 0;
    fprintf(stderr, "%s\n", error == NULL ? "usage: make-older IN.data OUT.data" : error->message);
    return 1;
}
