/* SPDX-License-Identifier: Apache-2.0 */
/* The recording file: creation, growth, and bump allocation in it. */
#include "files.h"
#include "internal.h"
#include "slots/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES_MAX (32ull << 30) /* limit of a ref */
#define LIMIT_BYTES_MIN (64u << 10)
#define FIRST_BYTES (32u << 10) /* less and nothing useful can be recorded */
/* minimum, because each of many small processes may have a file */
#define STEP_BYTES_MIN (256u << 10)
#define STEP_BYTES_MAX (16u << 20)
#define RESERVE_BYTES_MIN (8u << 20) /* room for some 50,000 contexts */
#define RESERVE_BYTES_MAX (64u << 20)
#define REFUSED_PAUSE_NS 1000000000u
#define FD_LOWEST 200 /* out of the way of programs that count on low numbers */

/* From FD_LOWEST, or where fewer are allowed the highest that is free. */
static int duplicate_high(int fd)
{
    int high = fm_file_control(fd, F_DUPFD_CLOEXEC, FD_LOWEST);
    struct rlimit numbers;
    if (high >= 0 || !fm_limit_of(RLIMIT_NOFILE, &numbers) || numbers.rlim_cur > FD_LOWEST)
        return high;
    int lowest = fd > STDERR_FILENO ? fd : STDERR_FILENO;
    for (int number = (int)numbers.rlim_cur - 1; high < 0 && number > lowest; number--)
        high = fm_file_control(fd, F_DUPFD_CLOEXEC, number);
    return high;
}

/* Numbers of the standard streams are theirs, also when they are closed. */
int fm_descriptor_raise(int fd)
{
    int high = duplicate_high(fd);
    if (high < 0 && fd <= STDERR_FILENO)
        high = fm_file_control(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (high < 0)
        return fd;
    fm_file_close(fd);
    return high;
}

static int open_new(const char *path)
{
    int fd = fm_file_open(path, O_RDWR | O_CREAT | O_EXCL);
    return fd < 0 ? -1 : fm_descriptor_raise(fd);
}

static bool is_recording(int fd)
{
    struct stat now;
    return fm_file_status(fd, &now) && now.st_ino == fm_process.file_inode &&
           now.st_dev == fm_process.file_dev;
}

/* The program may have closed descriptors that it did not open (a daemon does), and opened others
 * in their place. */
static bool reopen_if_closed(void)
{
    struct fm_process *p = &fm_process;
    if (is_recording(p->fd))
        return true;
    int again = fm_file_open(p->path, O_RDWR);
    if (again < 0)
        return false;
    if (!is_recording(again)) {
        fm_file_close(again);
        return false;
    }
    p->fd = fm_descriptor_raise(again);
    return true;
}

void fm_arena_leave_file(void)
{
    if (is_recording(fm_process.fd))
        fm_file_close(fm_process.fd);
}

/* The image that ran in this process before exec left its file as running: correct it. */
static void mark_execed(const char *path, pid_t pid)
{
    int fd = fm_file_open(path, O_RDWR);
    if (fd < 0)
        return;
    struct fm_rec_header old;
    if (fm_file_read_at(fd, &old, sizeof old, 0) == (ssize_t)sizeof old &&
        memcmp(old.magic, FM_REC_MAGIC, sizeof old.magic) == 0 && old.pid == (uint32_t)pid &&
        old.state == FM_REC_RUNNING && old.process_start == fm_process.header->process_start) {
        uint32_t state = FM_REC_EXECED;
        if (fm_file_write_at(fd, &state, sizeof state, offsetof(struct fm_rec_header, state)) < 0)
            errno = 0; /* it stays "running": the reader finds that the process is gone */
    }
    fm_file_close(fd);
}

static void mark_predecessor(uint32_t instance)
{
    char old[sizeof fm_process.path];
    size_t used = fm_text_append(old, sizeof old, 0, fm_process.base_name);
    if (instance > 0) {
        used = fm_text_append(old, sizeof old, used, ".");
        used = fm_text_append_number(old, sizeof old, used, fm_process.header->pid);
        used = fm_text_append(old, sizeof old, used, ".");
        used = fm_text_append_number(old, sizeof old, used, instance - 1);
    }
    fm_text_append(old, sizeof old, used, ".rec");
    if (strcmp(old, fm_process.path) != 0)
        mark_execed(old, (pid_t)fm_process.header->pid);
}

/* Value of the first of these variables that is set: MPI launchers use them to identify a process.
 * NULL: not started by one. */
static const char *launched_with(const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = fm_getenv(names[i]);
        size_t digits = 0;
        while (text != NULL && digits < 10 && text[digits] >= '0' && text[digits] <= '9')
            digits++;
        if (digits > 0 && digits < 10 && text[digits] == '\0')
            return text;
    }
    return NULL;
}

static const char *rank_of_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK"};
    return launched_with(names, sizeof names / sizeof *names);
}

/* Whether the name contains ".rank17", at the end or before another suffix of `fathom record`. */
static bool has_word(const char *name, const char *word, size_t length)
{
    for (const char *at = strstr(name, word); at != NULL; at = strstr(at + 1, word))
        if (at[length] == '\0' || at[length] == '.')
            return true;
    return false;
}

/* Ranks have a name each, unless `fathom record` has given it. */
static void append_rank(char *base, size_t size)
{
    const char *rank = rank_of_process();
    char end[32];
    if (rank == NULL)
        return;
    size_t used = fm_text_append(end, sizeof end, 0, ".rank");
    used = fm_text_append(end, sizeof end, used, rank);
    size_t length = strlen(base);
    if (!has_word(base, end, used))
        fm_text_append(base, size, length, end);
}

/* In a sandbox without getpid: a child of fork has one thread, whose id is the process id. */
static uint64_t process_id(void)
{
    long pid = fm_system_call(SYS_getpid, 0, 0, 0, 0);
    return pid > 0 ? (uint64_t)pid : (uint64_t)fm_thread_id();
}

/* Creates BASE.<pid>.<n>.rec, or FATHOM_OUTPUT itself for the first process. */
static int create_file(uint32_t *ret_instance)
{
    struct fm_process *p = &fm_process;
    const char *output = fm_getenv("FATHOM_OUTPUT");
    if (p->base_name[0] == '\0') {
        char directory[2048];
        size_t used = 0, size = sizeof p->base_name;
        const char *name = output != NULL && output[0] != '\0' ? output : "Deep";
        if (name[0] != '/' && fm_folder_of_process(directory, sizeof directory)) {
            used = fm_text_append(p->base_name, size, used, directory);
            used = fm_text_append(p->base_name, size, used, "/");
        }
        used = fm_text_append(p->base_name, size, used, name);
        if (used > 4 && strcmp(p->base_name + used - 4, ".rec") == 0)
            p->base_name[used - 4] = '\0';
        append_rank(p->base_name, size);
        if (output != NULL && output[0] != '\0') {
            used = fm_text_append(p->path, sizeof p->path, 0, p->base_name);
            fm_text_append(p->path, sizeof p->path, used, ".rec");
            int fd = open_new(p->path);
            *ret_instance = 0;
            if (fd >= 0)
                return fd;
        }
    }
    for (uint32_t n = 0; n < 100000; n++) {
        size_t used = fm_text_append(p->path, sizeof p->path, 0, p->base_name);
        used = fm_text_append(p->path, sizeof p->path, used, ".");
        used = fm_text_append_number(p->path, sizeof p->path, used, process_id());
        used = fm_text_append(p->path, sizeof p->path, used, ".");
        used = fm_text_append_number(p->path, sizeof p->path, used, n);
        fm_text_append(p->path, sizeof p->path, used, ".rec");
        int fd = open_new(p->path);
        *ret_instance = n;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static uint64_t size_limit(void)
{
    uint64_t limit = FILE_BYTES_MAX;
    const char *text = fm_getenv("FATHOM_LIMIT");
    if (text != NULL && text[0] != '\0') {
        uint64_t bytes = 0;
        for (; *text >= '0' && *text <= '9' && bytes < FILE_BYTES_MAX; text++)
            bytes = bytes * 10 + (uint64_t)(*text - '0');
        if (*text != '\0' && bytes < FILE_BYTES_MAX)
            bytes = 0;
        if (bytes < limit)
            limit = bytes & ~4095ull;
    }
    struct rlimit file_size; /* growing beyond it would kill the program with SIGXFSZ */
    if (fm_limit_of(RLIMIT_FSIZE, &file_size) && file_size.rlim_cur < limit)
        limit = file_size.rlim_cur & ~4095ull;
    return limit;
}

/* Failing takes long on some file systems, and each new edge would retry, so it is not retried at
 * once; also when the program has used up RLIMIT_AS. */
static bool is_refused(uint64_t bytes)
{
    const struct fm_process *p = &fm_process;
    uint64_t least = __atomic_load_n(&p->refused_bytes, __ATOMIC_RELAXED);
    return least != 0 && bytes >= least &&
           fm_now_ns(CLOCK_MONOTONIC_COARSE) <
               __atomic_load_n(&p->refused_until_ns, __ATOMIC_RELAXED);
}

/* Bypasses libc's posix_fallocate(), whose front here would record, while a lock is held. If the
 * file system has no such call, writing a byte to each page allocates blocks. */
#define PAGE_BYTES 4096u
static bool allot_blocks(uint64_t start, uint64_t end)
{
    int fd = fm_process.fd;
    long done = fm_system_call(SYS_fallocate, fd, 0, (long)start, (long)(end - start));
    /* Sandboxes and old file systems in user space refuse the call itself. */
    if (done != -EOPNOTSUPP && done != -ENOSYS && done != -EPERM)
        return done == 0;
    for (uint64_t at = start; at < end; at += PAGE_BYTES) {
        uint64_t last = end - at < PAGE_BYTES ? end - 1 : at + PAGE_BYTES - 1;
        if (fm_system_call(SYS_pwrite64, fd, (long)"", 1, (long)last) != 1)
            return false;
    }
    return true;
}

static void refuse_for_a_while(uint64_t bytes)
{
    struct fm_process *p = &fm_process;
    p->refused_until_ns = fm_now_ns(CLOCK_MONOTONIC_COARSE) + REFUSED_PAUSE_NS;
    __atomic_store_n(&p->refused_bytes, bytes, __ATOMIC_RELAXED);
}

/* Allocates disk blocks from bytes_extended to *end, or else to least: *end is the result. */
static bool allot(uint64_t *end, uint64_t least)
{
    uint64_t start = fm_process.bytes_extended;
    if (allot_blocks(start, *end))
        return true;
    *end = least;
    if (allot_blocks(start, least))
        return true;
    refuse_for_a_while(least - start);
    return false;
}

/* Maps the file from bytes_extended to *end, or else to least. If another mapping is there, the
 * file cannot grow any more. */
static bool map(uint64_t *end, uint64_t least)
{
    struct fm_process *p = &fm_process;
    if (fm_addresses_map(*end))
        return true;
    *end = least;
    if (fm_addresses_map(least))
        return true;
    if (errno == EEXIST)
        __atomic_store_n(&p->bytes_max, p->bytes_extended, __ATOMIC_RELAXED);
    else
        refuse_for_a_while(least - p->bytes_extended);
    return false;
}

static uint64_t file_limit(void)
{
    const struct fm_process *p = &fm_process;
    bool lower = p->header != NULL && p->header->bytes_limit < p->bytes_max;
    return lower ? p->header->bytes_limit : p->bytes_max;
}

static uint64_t page_end(uint64_t bytes)
{
    return (bytes + 4095) & ~4095ull;
}

/* A program that has a limit on its addresses shall miss few of them. */
static uint64_t step_bytes(void)
{
    uint64_t step = fm_process.bytes_extended;
    struct rlimit addresses;
    if (step > STEP_BYTES_MIN &&
        (!fm_limit_of(RLIMIT_AS, &addresses) || addresses.rlim_cur == RLIM_INFINITY))
        return step < STEP_BYTES_MAX ? step : STEP_BYTES_MAX;
    return STEP_BYTES_MIN;
}

/* Makes room up to bytes, really allotted: a hole would end in SIGBUS when the disk is full.
 * at_once: it is used now. */
static bool extend(uint64_t bytes, bool at_once)
{
    struct fm_process *p = &fm_process;
    if (bytes <= p->bytes_extended)
        return true;
    uint64_t limit = file_limit();
    if (bytes > limit || is_refused(page_end(bytes) - p->bytes_extended))
        return false;
    uint64_t end = p->bytes_extended + step_bytes();
    if (end < bytes)
        end = page_end(bytes);
    if (end > limit)
        end = limit;
    if (!fm_file_may_reach(end)) {
        end = page_end(bytes);
        if (!fm_file_may_reach(end)) {
            refuse_for_a_while(end - p->bytes_extended);
            return false;
        }
    }
    if (!reopen_if_closed() || !allot(&end, page_end(bytes)) || !map(&end, page_end(bytes)))
        return false;
    /* One call is cheaper than a fault for each page. Old kernels refuse, which is harmless. */
    if (at_once)
        fm_memory_advise(p->base + p->bytes_extended, end - p->bytes_extended,
                         23 /* MADV_POPULATE_WRITE */);
    p->bytes_extended = end;
    return true;
}

/* Locked by the caller (fm_process.lock). */
static struct fm_rec_chunk *chunk_new(uint32_t owner, uint64_t bytes)
{
    struct fm_process *p = &fm_process;
    uint64_t start = p->header->bytes_used;
    bytes = (bytes + 63) & ~63ull;
    if (!extend(start + bytes, true))
        return NULL;
    struct fm_rec_chunk *chunk = (struct fm_rec_chunk *)(p->base + start);
    chunk->owner = owner;
    chunk->bytes = bytes;
    chunk->used = sizeof *chunk;
    chunk->next = p->header->first_chunk;
    __atomic_store_n(&p->header->bytes_used, start + bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&p->header->first_chunk, fm_ref(chunk), __ATOMIC_RELEASE);
    return chunk;
}

void fm_arena_reserve(void)
{
    fm_lock_take(&fm_process.lock);
    uint64_t used = fm_process.header->bytes_used;
    uint64_t bytes = used < RESERVE_BYTES_MAX ? used : RESERVE_BYTES_MAX;
    bytes = bytes > RESERVE_BYTES_MIN ? bytes : RESERVE_BYTES_MIN;
    while (bytes >= STEP_BYTES_MIN && !extend(used + bytes, false))
        bytes /= 2;
    fm_lock_give(&fm_process.lock);
}

void *fm_arena_alloc(struct fm_bump *bump, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    struct fm_rec_chunk *chunk = bump->chunk;
    if (chunk == NULL || chunk->bytes - chunk->used < bytes) {
        uint64_t want = sizeof *chunk + bytes;
        bool own = want > bump->chunk_bytes / 4; /* large blocks get a chunk of their own */
        uint64_t whole = own ? want : bump->chunk_bytes;
        fm_lock_take(&fm_process.lock);
        chunk = chunk_new(bump->owner, whole);
        while (chunk == NULL && whole > want) { /* a file that is nearly full is used to its end */
            whole = whole / 2 > want ? whole / 2 : want;
            chunk = chunk_new(bump->owner, whole);
        }
        fm_lock_give(&fm_process.lock);
        if (chunk == NULL)
            return NULL;
        if (!own) {
            bump->chunk = chunk;
            if (bump->chunk_bytes < FM_THREAD_CHUNK_BYTES && whole == bump->chunk_bytes)
                bump->chunk_bytes *= 2;
        }
    }
    void *memory = (char *)chunk + chunk->used;
    __atomic_store_n(&chunk->used, chunk->used + bytes, __ATOMIC_RELAXED);
    return memory;
}

void *fm_arena_alloc_line(struct fm_bump *bump, size_t bytes)
{
    const struct fm_rec_chunk *chunk = bump->chunk;
    uint64_t next = chunk != NULL ? (uint64_t)chunk + chunk->used : 0;
    size_t padding = (size_t)(-next & (FM_CACHE_LINE - 1));
    if (chunk == NULL || chunk->bytes - chunk->used < bytes + padding)
        padding = FM_CACHE_LINE - FM_REC_UNIT; /* belongs to another chunk */
    char *place = fm_arena_alloc(bump, bytes + padding);
    return place != NULL ? place + (-(uint64_t)place & (FM_CACHE_LINE - 1)) : NULL;
}

bool fm_arena_refuses(const struct fm_bump *bump, size_t bytes)
{
    const struct fm_rec_chunk *chunk = bump->chunk;
    if (chunk != NULL && chunk->bytes - chunk->used >= bytes)
        return false;
    uint64_t used = __atomic_load_n(&fm_process.header->bytes_used, __ATOMIC_RELAXED);
    uint64_t end = used + ((sizeof *chunk + bytes + 63) & ~63ull);
    uint64_t extended = __atomic_load_n(&fm_process.bytes_extended, __ATOMIC_RELAXED);
    if (end <= extended)
        return false;
    return end > file_limit() || is_refused(page_end(end) - extended);
}

void *fm_arena_alloc_shared(size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    fm_lock_take(&fm_process.lock);
    struct fm_bump *bump = &fm_process.bump;
    struct fm_rec_chunk *chunk = bump->chunk;
    void *memory = NULL;
    if (chunk == NULL || chunk->bytes - chunk->used < bytes) {
        uint64_t want = sizeof *chunk + bytes;
        chunk = chunk_new(0, want > FM_PROCESS_CHUNK_BYTES ? want : FM_PROCESS_CHUNK_BYTES);
        if (chunk == NULL)
            chunk = chunk_new(0, want);
        bump->chunk = chunk != NULL ? chunk : bump->chunk;
    }
    if (chunk != NULL) {
        memory = (char *)chunk + chunk->used;
        chunk->used += bytes;
    }
    fm_lock_give(&fm_process.lock);
    return memory;
}

uint32_t fm_arena_text(const char *bytes, size_t size)
{
    struct fm_rec_text *text = fm_arena_alloc_shared(sizeof *text + size + 1);
    if (text == NULL)
        return 0;
    text->size = (uint32_t)size;
    memcpy(text->bytes, bytes, size);
    return fm_ref(text);
}

/* Field 22 of /proc/self/stat; the second field may contain spaces and parentheses. */
static uint64_t process_start(void)
{
    char buffer[1024];
    int fd = fm_file_open("/proc/self/stat", O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t got = fm_file_read(fd, buffer, sizeof buffer - 1);
    fm_file_close(fd);
    if (got <= 0)
        return 0;
    buffer[got] = '\0';
    char *at = strrchr(buffer, ')');
    for (unsigned field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    uint64_t number = 0;
    for (at = at != NULL ? at + 1 : NULL; at != NULL && *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

static void describe_rank(struct fm_rec_header *h)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    const char *rank = rank_of_process();
    const char *count = launched_with(names, sizeof names / sizeof *names);
    struct utsname machine;
    char text[sizeof machine.nodename + 32];
    if (rank == NULL)
        return;
    size_t used = fm_text_append(text, sizeof text, 0, rank);
    used = fm_text_append(text, sizeof text, used, " ");
    used = fm_text_append(text, sizeof text, used, count == NULL ? "0" : count);
    used = fm_text_append(text, sizeof text, used, " ");
    if (fm_system_call(SYS_uname, (long)&machine, 0, 0, 0) == 0)
        used = fm_text_append(text, sizeof text, used, machine.nodename);
    h->rank = fm_arena_text(text, used);
}

static void describe_process(struct fm_rec_header *h)
{
    char buffer[4096];
    long got =
        fm_system_call(89 /* readlink */, (long)"/proc/self/exe", (long)buffer, sizeof buffer, 0);
    if (got > 0)
        h->program = fm_arena_text(buffer, (size_t)got);
    int fd = fm_file_open("/proc/self/cmdline", O_RDONLY);
    if (fd >= 0) {
        got = fm_file_read(fd, buffer, sizeof buffer);
        if (got > 0)
            h->arguments = fm_arena_text(buffer, (size_t)got);
        fm_file_close(fd);
    }
    if (fm_folder_of_process(buffer, sizeof buffer))
        h->directory = fm_arena_text(buffer, strlen(buffer));
    describe_rank(h);
}

/* A child of fork does not complain: its parent's file counts it. */
bool fm_arena_open(bool complains)
{
    struct fm_process *p = &fm_process;
    uint32_t instance = 0;
    if (size_limit() < LIMIT_BYTES_MIN) {
        if (complains)
            fm_complain(
                "FATHOM_LIMIT, or the limit of file sizes, is not a number of at least 65536 "
                "bytes; the program runs unrecorded",
                fm_getenv("FATHOM_LIMIT"));
        return false;
    }
    p->fd = create_file(&instance);
    if (p->fd < 0) {
        if (complains)
            fm_complain("cannot create the recording file; the program runs unrecorded", p->path);
        return false;
    }
    struct stat status;
    p->header = NULL;
    p->bytes_extended = 0;
    p->bytes_max = size_limit();
    bool ok = fm_file_status(p->fd, &status) && (p->base = fm_addresses_choose()) != NULL;
    p->file_dev = status.st_dev;
    p->file_inode = status.st_ino;
    if (!ok || !extend(FIRST_BYTES, true)) {
        if (complains)
            fm_complain("no room for the recording file; the program runs unrecorded", p->path);
        fm_system_call(87 /* unlink */, (long)p->path, 0, 0, 0);
        fm_file_close(p->fd);
        return false;
    }
    struct fm_rec_header *h = (struct fm_rec_header *)p->base;
    p->header = h;
    memcpy(h->magic, FM_REC_MAGIC, sizeof h->magic);
    h->version = fm_slots_are_used() ? FM_REC_VERSION : FM_REC_VERSION_PLAIN;
    h->byte_order = FM_REC_BYTE_ORDER;
    h->header_bytes = FM_REC_HEADER_BYTES;
    h->pointer_bytes = sizeof(void *);
    h->map_base = (uint64_t)p->base;
    h->bytes_used = FM_REC_HEADER_BYTES;
    h->bytes_limit = p->bytes_max;
    h->pid = (uint32_t)process_id();
    long parent = fm_system_call(SYS_getppid, 0, 0, 0, 0);
    h->parent_pid = parent > 0 ? (uint32_t)parent : 0;
    h->instance = instance;
    h->process_start = process_start();
    h->start_realtime_ns = fm_now_ns(CLOCK_REALTIME);
    h->start_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    h->recording_on = 1;
    p->bump = (struct fm_bump){.chunk_bytes = FM_PROCESS_CHUNK_BYTES};
    describe_process(h);
    mark_predecessor(instance);
    __atomic_store_n(&h->state, FM_REC_RUNNING, __ATOMIC_RELEASE);
    return true;
}

void fm_arena_close(uint32_t state)
{
    struct fm_rec_header *h = fm_process.header;
    h->end_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&h->state, state, __ATOMIC_RELEASE);
}
