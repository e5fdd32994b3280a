/* SPDX-License-Identifier: Apache-2.0 */
/* What trees and flame graphs begin with, and how their nodes are shown. */
#pragma once

#include "pages/profile/parts/page.h"
#include "digest/tree.h"

/* Of a command whose name make_page() has made "all", "clique/N" or "proc/N". */
struct fm_view_focus fm_focus_of(const struct fm_command *command);
/* "the program", "main › parse", "buf_append in all contexts"; g_free. */
char *fm_focus_text(const struct fm_page *page, const struct fm_view_focus *focus);

/* "expr", "⟲ expr +4", "walk ⟲"; g_free. */
char *fm_node_label(const struct fm_profile *profile, const struct fm_view_node *node);
/* Where it is called from, "lvm.c:1310", with how many other places; NULL = not known. g_free. */
char *fm_node_site(const struct fm_page *page, const struct fm_view_node *node);
/* Where its name leads: the procedure, or the recursion in its dearest context. */
struct fm_query fm_node_link(const struct fm_page *page, const struct fm_view_node *node);
