/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/core/trace.h"

#include <sys/stat.h>

struct owned {
    void *data;
    GDestroyNotify free_data;
};

static void free_tracefile(void *data)
{
    struct fm_tracefile *tracefile = data;
    if (tracefile->class_->free != NULL)
        tracefile->class_->free(tracefile);
    g_free(tracefile->name);
    g_free(tracefile->channel);
    g_free(tracefile);
}

struct fm_trace *fm_trace_new(const char *path, const char *identity)
{
    static _Atomic uint64_t serial;
    struct fm_trace *trace = g_new0(struct fm_trace, 1);
    trace->serial = ++serial;
    trace->path = g_strdup(path);
    trace->identity = g_strdup(identity);
    trace->tracefiles = g_ptr_array_new_with_free_func(free_tracefile);
    trace->attributes = fm_attributes_new();
    trace->owned = g_ptr_array_new_with_free_func(g_free);
    return trace;
}

void fm_trace_own(struct fm_trace *trace, void *data, GDestroyNotify free_data)
{
    g_assert(free_data != NULL);
    struct owned *owned = g_new(struct owned, 1);
    *owned = (struct owned){data, free_data};
    g_ptr_array_add(trace->owned, owned);
}

char *fm_trace_identity_of(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return NULL;
    return g_strdup_printf("%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
}

void fm_trace_free(struct fm_trace *trace)
{
    if (trace == NULL)
        return;
    for (unsigned i = trace->owned->len; i-- > 0;) {
        const struct owned *owned = trace->owned->pdata[i];
        owned->free_data(owned->data);
    }
    g_ptr_array_unref(trace->owned);
    fm_attributes_free(trace->attributes);
    g_ptr_array_unref(trace->tracefiles);
    if (trace->free_implementation != NULL)
        trace->free_implementation(trace);
    g_free(trace->path);
    g_free(trace->identity);
    g_free(trace);
}

struct fm_tracefile *fm_trace_add_tracefile(struct fm_trace *trace,
                                            const struct fm_tracefile_class *class_,
                                            const char *name, const char *channel, int cpu,
                                            void *implementation)
{
    struct fm_tracefile *tracefile = g_new0(struct fm_tracefile, 1);
    tracefile->class_ = class_;
    tracefile->trace = trace;
    tracefile->index = trace->tracefiles->len;
    tracefile->name = g_strdup(name);
    tracefile->channel = g_strdup(channel);
    tracefile->cpu = cpu;
    tracefile->implementation = implementation;
    g_ptr_array_add(trace->tracefiles, tracefile);
    return tracefile;
}

int fm_trace_lock(struct fm_trace *trace)
{
    if (trace->locked)
        return -1;
    trace->locked = true;
    return 0;
}

int fm_trace_unlock(struct fm_trace *trace)
{
    if (!trace->locked)
        return -1;
    trace->locked = false;
    return 0;
}
