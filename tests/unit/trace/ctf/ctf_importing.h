/* SPDX-License-Identifier: Apache-2.0 */
/* Imports of CTF traces, for tests. */
#pragma once

#include "eventlog/log/log.h"
#include "trace/format/ctf.h"

struct ctf_import {
    int fd;
    struct ctf_importer importer;
    struct fm_eventlog_log *log;
    const char *error;
};

/* Imports to the end. opened: the folder as it was opened; -1: by its name. */
struct ctf_import ctf_import_opened(const char *folder, int opened);
struct ctf_import ctf_import_folder(const char *folder);
void ctf_import_done(struct ctf_import *import);
/* All events by time, as `fathom log cat --sort` prints them. */
char *ctf_events_of(const struct ctf_import *import);

/* A new folder. Imports put what they leave below "temporary" in it. */
char *ctf_parent_new(void);
/* Nothing may be left there. */
void ctf_parent_remove(const char *parent);
