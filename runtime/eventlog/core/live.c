/* SPDX-License-Identifier: Apache-2.0 */
#include "core/live.h"
#include "core/side.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t file_bytes_max = (uint64_t)256 << 20;
enum { FREE_MAX = 4096 };

_Atomic uint64_t fm_el_live_generation;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int fd;
    dev_t device; /* device of the live file: the program may have closed the descriptor and reused
                     its number */
    ino_t inode;
    char path[4096];
    struct fm_live_head *head;
    uint64_t bytes, generations;
    struct fm_live_slot *free[FREE_MAX];
    unsigned free_count;
} live = {.fd = -1};

/* The program may be killed between any two stores, so the compiler must not reorder them. */
static void in_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

_Static_assert(sizeof(struct fm_live_head) <= FM_LIVE_HEAD_BYTES, "head");
_Static_assert(sizeof(struct fm_live_slot) <= FM_LIVE_SIDE_AT, "slot");
_Static_assert(FM_LIVE_SIDE_AT + sizeof(struct fm_el_side) <= FM_LIVE_SLOT_BYTES, "side");
_Static_assert(FM_LIVE_SIDE_BYTES == FM_EL_SIDE_BYTES, "side");
_Static_assert(offsetof(struct fm_el_side, data) + FM_EL_MARKER_BYTES + FM_LIVE_SIDE_AT ==
                   FM_LIVE_SIDE_DATA,
               "side");

/* ---- the file ---------------------------------------------------------------------------------
 */

static void read_text(const char *path, char *out, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, bytes - 1);
    out[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Start time of the process: field 22 of /proc/self/stat, in ticks since boot. */
static uint64_t process_start(void)
{
    char text[1024];
    read_text("/proc/self/stat", text, sizeof(text));
    const char *p = strrchr(text, ')'); /* the name may contain any character */
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    uint64_t start = 0;
    for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
        start = start * 10 + (uint64_t)(*p - '0');
    return start;
}

/* Allocates the file's space first: a write to a mapping without space would raise SIGBUS, a file
 * beyond the limit of file sizes SIGXFSZ. */
static void *map_more(size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || live.bytes + bytes > limit.rlim_cur)
        return NULL;
    struct stat st;
    if (fstat(live.fd, &st) != 0 || st.st_dev != live.device || st.st_ino != live.inode ||
        live.bytes + bytes > file_bytes_max ||
        fallocate(live.fd, 0, (off_t)live.bytes, (off_t)bytes) != 0)
        return NULL;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, live.fd, (off_t)live.bytes);
    return p == MAP_FAILED ? NULL : p;
}

/* Opens it with the lock by which a reader knows whether the program lives. */
static int create(const char *path)
{
    unlink(path); /* left by an earlier program whose log is overwritten, too */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd >= 0)
        fcntl(fd, F_OFD_SETLK, &lock);
    return fd;
}

void fm_el_live_begin(const char *path, int log_fd)
{
    struct stat log, own;
    pthread_mutex_lock(&mutex);
    size_t n = strlen(path);
    if (n + sizeof(FM_LIVE_ENDING) > sizeof(live.path) || fstat(log_fd, &log) != 0)
        goto out;
    memcpy(live.path, path, n);
    memcpy(live.path + n, FM_LIVE_ENDING, sizeof(FM_LIVE_ENDING));
    live.fd = create(live.path);
    if (live.fd < 0 || fstat(live.fd, &own) != 0)
        goto out;
    live.device = own.st_dev;
    live.inode = own.st_ino;
    live.bytes = 0;
    live.head = map_more(FM_LIVE_HEAD_BYTES);
    if (!live.head) {
        unlink(live.path);
        close(live.fd);
        live.fd = -1;
        goto out;
    }
    live.bytes = FM_LIVE_HEAD_BYTES;
    struct fm_live_head *h = live.head;
    struct fm_el_sample now = fm_el_clock_sample();
    h->version = FM_LIVE_VERSION;
    h->pid = (uint32_t)getpid();
    h->pid_start = process_start();
    read_text("/proc/sys/kernel/random/boot_id", h->boot, sizeof(h->boot));
    h->log_device = log.st_dev;
    h->log_inode = log.st_ino;
    h->own_inode = own.st_ino;
    h->counter = fm_el_clock_is_counter();
    h->start_ns = fm_el_clock_start_ns();
    h->ticks[0] = h->ticks[1] = now.ticks;
    h->ns[0] = h->ns[1] = now.ns;
    in_order();
    memcpy(h->magic, FM_LIVE_MAGIC, sizeof(h->magic));
    atomic_store(&fm_el_live_generation, ++live.generations);
out:
    pthread_mutex_unlock(&mutex);
}

static void forget(void)
{
    for (unsigned i = 0; i < live.free_count; i++)
        munmap(live.free[i], live.free[i]->bytes);
    live.free_count = 0;
    munmap(live.head, FM_LIVE_HEAD_BYTES);
    live.head = NULL;
    struct stat st;
    if (fstat(live.fd, &st) == 0 && st.st_dev == live.device && st.st_ino == live.inode)
        close(live.fd);
    live.fd = -1;
}

void fm_el_live_end(void)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&fm_el_live_generation, 0);
    if (live.head) {
        struct stat st;
        if (lstat(live.path, &st) == 0 && st.st_dev == live.device && st.st_ino == live.inode)
            unlink(live.path);
        forget();
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- slots ------------------------------------------------------------------------------------
 */

static struct fm_live_slot *reuse(size_t bytes)
{
    for (unsigned i = live.free_count; i-- > 0;) {
        struct fm_live_slot *s = live.free[i];
        if (s->bytes < bytes || s->bytes > bytes * 4)
            continue;
        live.free[i] = live.free[--live.free_count];
        return s;
    }
    return NULL;
}

static struct fm_live_slot *extend(size_t bytes)
{
    struct fm_live_slot *s = map_more(bytes);
    if (!s)
        return NULL;
    s->offset = live.bytes;
    s->generation = live.generations;
    in_order();
    s->bytes = bytes;
    FM_EL_ASSERT(s->offset % FM_LIVE_HEAD_BYTES == 0 && bytes >= FM_LIVE_SLOT_BYTES);
    live.bytes += bytes;
    return s;
}

struct fm_live_slot *fm_el_live_alloc(uint32_t kind, uint32_t lane, size_t data_bytes)
{
    size_t bytes = FM_LIVE_SLOT_BYTES + fm_el_pool_size(data_bytes < 4096 ? 4096 : data_bytes);
    struct fm_live_slot *s = NULL;
    pthread_mutex_lock(&mutex);
    if (live.head && (s = reuse(bytes)) == NULL)
        s = extend(bytes);
    pthread_mutex_unlock(&mutex);
    if (!s)
        return NULL;
    s->lane = lane;
    s->data_bytes = data_bytes;
    s->address = s->pos = (uintptr_t)fm_el_live_data(s);
    s->sequence = s->file_at = 0;
    if (kind == FM_LIVE_BLOCK)
        return s; /* it becomes a block when it is sealed */
    fm_el_side_init((struct fm_el_side *)(void *)((unsigned char *)s + FM_LIVE_SIDE_AT));
    fm_el_live_note(s, &(struct fm_live_state){.taken = 0});
    in_order();
    s->kind = kind;
    return s;
}

void fm_el_live_free(struct fm_live_slot *slot)
{
    if (!slot)
        return;
    FM_EL_ASSERT(slot->bytes >= FM_LIVE_SLOT_BYTES);
    slot->kind = FM_LIVE_FREE;
    pthread_mutex_lock(&mutex);
    bool keep = live.head && slot->generation == live.generations && live.free_count < FREE_MAX;
    if (keep)
        live.free[live.free_count++] = slot;
    else
        munmap(slot, slot->bytes);
    pthread_mutex_unlock(&mutex);
}

/* turn only increases. So a sealed block still counts after its source buffer went to another
 * lane. */
void fm_el_live_note(struct fm_live_slot *slot, const struct fm_live_state *state)
{
    slot->state[(slot->turn + 1) % 2] = *state;
    in_order();
    __atomic_store_n(&slot->turn, slot->turn + 1, __ATOMIC_RELAXED);
    in_order();
}

void fm_el_live_seal(struct fm_live_slot *block, size_t bytes, const struct fm_live_slot *source)
{
    FM_EL_ASSERT(bytes <= block->bytes - FM_LIVE_SLOT_BYTES &&
                 source->generation == block->generation);
    block->data_bytes = bytes;
    block->source = source->offset;
    block->source_turn = source->turn;
    in_order();
    block->kind = FM_LIVE_BLOCK;
    in_order();
}

void fm_el_live_sample(const struct fm_el_sample *now)
{
    pthread_mutex_lock(&mutex);
    if (live.head && now->ns > live.head->ns[1]) {
        live.head->ticks[1] = now->ticks;
        live.head->ns[1] = now->ns;
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- fork -------------------------------------------------------------------------------------
 */

/* A slot of an earlier file, which is no longer open, is replaced by a private copy at the same
 * address. */
static bool own_copy(struct fm_live_slot *slot)
{
    size_t bytes = slot->bytes;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    memcpy(p, slot, bytes);
    return mremap(p, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, slot) != MAP_FAILED;
}

void fm_el_live_own(struct fm_live_slot *slot)
{
    if (!slot)
        return;
    uint64_t bytes = slot->bytes, offset = slot->offset;
    bool here = live.head && slot->generation == live.generations;
    if (here && mmap(slot, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, live.fd,
                     (off_t)offset) != MAP_FAILED)
        return;
    if (here || !own_copy(slot))
        (void)mmap(slot, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0);
}

void fm_el_live_fork_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void fm_el_live_fork_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

/* The file belongs to the parent. */
void fm_el_live_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    atomic_store(&fm_el_live_generation, 0);
    if (live.head)
        forget();
}
