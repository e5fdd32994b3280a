/* SPDX-License-Identifier: Apache-2.0 */
/* The ways into a profile, at the top of its pages. */
#include "display/display.h"

const struct fm_html_way fm_html_ways_of_mercury[] = {
    {"nav-menu", "menu", "Menu", "menu"},
    {"nav-flame", "flame/auto/down/_/all", "Flame graph", "flame"},
    {"nav-tree", "tree/auto/down/3/all", "Tree", "tree"},
    {"nav-root", "root/no", "Root", "root"},
    {"nav-modules", "program_modules", "Modules", "program_modules"},
    {"nav-top", "top_procs/1-100/callseqs/self/oa", "Top procedures", "top_procs"},
    {"nav-help", "help/all", "Help", "help"},
    {0},
};

const struct fm_html_way fm_html_ways_of_c[] = {
    {"nav-menu", "menu", "Summary", "menu"},
    {"nav-flame", "flame/auto/down/_/all", "Flame graph", "flame"},
    {"nav-tree", "tree/auto/down/3/all", "Tree", "tree"},
    {"nav-top", "top_procs/1-100/time/self/oa", "Functions", "top_procs"},
    {"nav-modules", "program_modules", "Files", "program_modules"},
    {"nav-memory", "memory/allocated", "Memory", "memory"},
    {"nav-waits", "waits", "Waiting", "waits"},
    {"nav-about", "about", "About", "about"},
    {"nav-help", "help/all", "Help", "help"},
    {0},
};
