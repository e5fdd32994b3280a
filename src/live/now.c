/* SPDX-License-Identifier: Apache-2.0 */
#include "live/now.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/files/unfinished.h"
#include "exchange/hint/hint.h"
#include "live/making.h"
#include "record/running/control.h"

static char *say(const char *recording, bool running)
{
    struct fm_control_status status = {0};
    if (!fm_control_status_brief(recording, &status, NULL))
        return g_strdup("The program has ended meanwhile; this was read before.");
    char *text =
        running
            ? g_strdup_printf("Process %u still runs%s: this is what it had recorded after "
                              "%.1f s.",
                              status.pid, status.recording ? "" : ", its recording is stopped",
                              (double)status.seconds_ns * 1e-9)
            : g_strdup_printf("Process %u has ended: this is all that it recorded.", status.pid);
    fm_control_status_done(&status);
    return text;
}

static bool make(struct fm_live_now *now, GError **error)
{
    bool running;
    g_autofree char *name = g_path_get_basename(now->recording);
    if (g_str_has_suffix(name, ".rec"))
        name[strlen(name) - strlen(".rec")] = '\0';
    if (!fm_own_folder_make(&now->folder, "now", error))
        return false;
    now->profile = g_strdup_printf("%s/%s.data", now->folder.path, name);
    fm_unfinished_note(now->folder.path);
    fm_unfinished_note(now->folder.mark);
    fm_unfinished_note(now->profile);
    now->making = fm_making_new(now->recording, now->profile);
    if (!fm_making_make(now->making, &running, NULL, error))
        return false;
    now->text = say(now->recording, running);
    now->path = g_strdup(now->profile);
    return true;
}

bool fm_live_now_take(const char *name, struct fm_live_now *ret, GError **error)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    *ret = (struct fm_live_now){0};
    g_autofree char *path = NULL;
    if (!fm_control_path(name, &path, error))
        return false;
    bool made = fm_hint_file_kind(path) == FM_FILE_RECORDING;
    if (made)
        ret->recording = g_steal_pointer(&path);
    else
        ret->path = g_steal_pointer(&path);
    return !made || make(ret, error);
}

static void forget(char *path)
{
    if (path != NULL)
        fm_unfinished_forget(path);
    g_free(path);
}

void fm_live_now_done(struct fm_live_now *now)
{
    if (now->making != NULL)
        fm_making_free(now->making);
    forget(now->profile);
    fm_own_folder_remove(&now->folder);
    g_free(now->recording);
    g_free(now->path);
    g_free(now->text);
    *now = (struct fm_live_now){0};
}
