/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools that cannot be imported, by their first bytes, and the command that makes of
 * them what can be. */
#include <stdio.h>
#include <string.h>

#include "base/files/beside.h"
#include "base/files/mapped.h"
#include "exchange/import/internal.h"

#define HEAD_BYTES ((size_t)64 << 10)
#define TAR_AT 257u /* offset of a tar archive's magic */

struct beginning {
    const char *bytes;
    size_t size;
    struct fm_import_known known;
};
#define BEGINS(text, what, help) \
    {                            \
        text, sizeof(text) - 1,  \
        {                        \
            what, help           \
        }                        \
    }

#define HPCTOOLKIT "a database of HPCToolkit"
#define HPCTOOLKIT_HELP                                                                            \
    "hpcviewer shows it, and Hatchet's GraphFrame.from_hpctoolkit(FOLDER).to_flamegraph() writes " \
    "folded stacks"

static const struct beginning beginnings[] = {
    BEGINS("PERFFILE", "perf's own file, of before 2011", "that version's perf script reads it"),
    BEGINS("SIMPLEPERF", "a report of Android's simpleperf",
           "its stackcollapse.py writes folded stacks"),
    BEGINS("HPCPROF-", "measurements of HPCToolkit",
           "hpcprof makes a database of their folder, which hpcviewer shows"),
    BEGINS("HPCTOOLKIT", HPCTOOLKIT, HPCTOOLKIT_HELP),
    BEGINS("startup\ttime=", "a profile of Coz",
           "coz plot shows it; it has results of experiments and no stacks"),
    BEGINS("FLR", "a recording of Java's Flight Recorder",
           "async-profiler's jfrconv -o collapsed %s stacks.folded writes what can be"),
    BEGINS("Flat profile:", "a report of gprof",
           "import what it was made of: fathom import --program=PROGRAM gmon.out"),
    BEGINS("<svg", "a picture", "import the stacks that it was made of"),
    BEGINS("memray", "a file of memray",
           "memray transform gprof2dot, or memray flamegraph, shows it"),
    BEGINS("\x7f"
           "ELF",
           "a program or a library", "fathom record -- %s makes a profile of what it does"),
    BEGINS("FATHOMR\n", "a recording of fathom", "fathom finish %s makes a profile of it"),
    BEGINS(FM_PROFILE_BEGINS_C, "a profile of fathom", "fathom view %s shows it as it is"),
    BEGINS(FM_PROFILE_BEGINS_MERCURY, "a profile of Mercury", "fathom view %s shows it as it is"),
    BEGINS("Mercury deep profiler procrep", "what belongs to a profile",
           "fathom view opens the .data file beside it"),
    BEGINS("fathom source lines", "what belongs to a profile",
           "fathom view opens the .data file beside it"),
    BEGINS("Mercury Compiler Feedback", "advice for Mercury's compiler",
           "fathom feedback report %s shows it"),
    BEGINS("TN:", "coverage of lcov", "genhtml shows it; it has lines and no stacks"),
    BEGINS("hdrb", "an event log", "fathom log stat %s reads it"),
    BEGINS("/* CTF", "the metadata of a trace", "fathom log stat reads the folder that it lies in"),
    BEGINS("\x57\x1d\xd1\x75", "the metadata of a trace",
           "fathom log stat reads the folder that it lies in"),
    BEGINS("\x75\xd1\x1d\x57", "the metadata of a trace",
           "fathom log stat reads the folder that it lies in"),
    BEGINS("\x1e{", "the metadata of a trace", "fathom log stat reads the folder that it lies in"),
    BEGINS("BZh", "compressed by bzip2", "unpack it first: bunzip2 -k %s"),
    BEGINS("PK\x03\x04", "a zip archive", "unpack it first: unzip %s"),
};

/* JSON, by members that other tools' has not: all of them stand in it. */
static const struct {
    const char *members[2];
    struct fm_import_known known;
} objects[] = {
    {{"\"profileJSON\"", "\"symbolicationTable\""},
     {"a profile of Firefox of before 2013", "that version's profiler shows it"}},
    {{"\"gcc_version\"", "\"files\""},
     {"coverage of gcov", "gcovr -a %s shows it; it has lines and no stacks"}},
    {{"\"flamebearer\"", NULL},
     {"a flame graph of Pyroscope", "export pprof from Pyroscope: profilecli query profile"}},
    {{"\"fathom\"", "\"tables\""},
     {"a page of fathom as JSON", "fathom report reads the profile that it was made of"}},
};

static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
    return text == NULL || memmem(bytes, size, text, strlen(text)) != NULL;
}

static bool find_object(const uint8_t *bytes, size_t size, struct fm_import_known *ret)
{
    for (size_t i = 0; i < G_N_ELEMENTS(objects); i++) {
        if (holds(bytes, size, objects[i].members[0]) &&
            holds(bytes, size, objects[i].members[1])) {
            *ret = objects[i].known;
            return true;
        }
    }
    *ret = (struct fm_import_known){"JSON of another tool",
                                    "of JSON Chrome's traces can be imported, profiles of V8, "
                                    "Firefox and OpenTelemetry, and files "
                                    "of speedscope and DHAT"};
    return true;
}

bool fm_import_is_known(const uint8_t *bytes, size_t size, struct fm_import_known *ret)
{
    size_t at = 0;
    size = MIN(size, HEAD_BYTES);
    for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++) {
        const struct beginning *beginning = &beginnings[i];
        if (size >= beginning->size && memcmp(bytes, beginning->bytes, beginning->size) == 0) {
            *ret = beginning->known;
            return true;
        }
    }
    if (size > TAR_AT + 5 && memcmp(bytes + TAR_AT, "ustar", 5) == 0) {
        *ret = (struct fm_import_known){"an archive of tar", "unpack it first: tar xf %s"};
        return true;
    }
    while (at < size && g_ascii_isspace((char)bytes[at]))
        at++;
    if (at < size && (bytes[at] == '{' || bytes[at] == '[') && memchr(bytes, '\0', size) == NULL)
        return find_object(bytes, size, ret);
    if (at < size && bytes[at] == '<' && holds(bytes, size, "<svg")) {
        *ret = (struct fm_import_known){"a picture", "import the stacks that it was made of"};
        return true;
    }
    if (at < size && bytes[at] == '<' && holds(bytes, size, "<HPCToolkitExperiment")) {
        *ret = (struct fm_import_known){HPCTOOLKIT, HPCTOOLKIT_HELP};
        return true;
    }
    if (at < size && bytes[at] == '<' && holds(bytes, size, "<trace-query-result")) {
        *ret = (struct fm_import_known){"an export of Xcode's Instruments",
                                        "its stackcollapse-xctrace.py writes folded stacks"};
        return true;
    }
    return false;
}

bool fm_import_is_known_folder(const char *folder, struct fm_import_known *ret)
{
    static const struct {
        const char *file, *begins;
        struct fm_import_known known;
    } folders[] = {
        {"experiment.xml", "<?xml", {HPCTOOLKIT, HPCTOOLKIT_HELP}},
        {"meta.db", "HPCTOOLKIT", {HPCTOOLKIT, HPCTOOLKIT_HELP}},
        {"data",
         "PERFILE2",
         {"a folder of perf record --threads",
          "perf script -i %s > stacks.perf writes what can be"}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = g_build_filename(folder, folders[i].file, NULL);
        g_autoptr(FmMappedFile) file = NULL;
        size_t size = strlen(folders[i].begins);
        if (fm_mapped_file_open(path, &file, NULL) && file->size >= size &&
            memcmp(file->bytes, folders[i].begins, size) == 0) {
            *ret = folders[i].known;
            return true;
        }
    }
    return false;
}
