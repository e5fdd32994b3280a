/* SPDX-License-Identifier: Apache-2.0 */
/* Roots of trees and flame graphs; names and links of their nodes. */
#pragma once

#include "pages/profile/parts/page.h"
#include "profile/digest/tree.h"

/* The focus of a command whose name make_page() has set to "all", "clique/N" or "proc/N". */
struct fm_digest_focus fm_focus_of(const struct fm_command *command);
/* "the program", "main › parse", "buf_append in all contexts"; g_free. */
char *fm_focus_text(const struct fm_page *page, const struct fm_digest_focus *focus);

/* "expr", "⟲ expr +4", "walk ⟲"; g_free. */
char *fm_node_label(const struct fm_page *page, const struct fm_digest_node *node);
/* Call site of the node, "lvm.c:1310", with the number of further ones; NULL = not known.
 * g_free. */
char *fm_node_site(const struct fm_page *page, const struct fm_digest_node *node);
/* Link of the node's name: the procedure, or the recursion in its most expensive context. */
struct fm_query fm_node_link(const struct fm_page *page, const struct fm_digest_node *node);
