// SPDX-License-Identifier: Apache-2.0
// Each form of operator new and delete in a function of its own: 5 blocks, of which 4 are freed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

static constexpr std::align_val_t aligned{64};
void *volatile kept;

#define FORM(name, allocate, release)                                     \
    extern "C" __attribute__((noinline)) void name()                      \
    {                                                                     \
        void *blocks[5];                                                  \
        for (void *&block : blocks)                                       \
            block = allocate;                                             \
        for (int i = 0; i < 4; i++) {                                     \
            static_cast<char *>(blocks[i])[0] = 1;                        \
            release;                                                      \
        }                                                                 \
        kept = blocks[4];                                                 \
    }

FORM(plain_1, ::operator new(1), ::operator delete(blocks[i]))
FORM(sized_8, ::operator new(8), ::operator delete(blocks[i], std::size_t(8)))
FORM(quiet_100, ::operator new(100, std::nothrow), ::operator delete(blocks[i], std::nothrow))
FORM(array_24, ::operator new[](24), ::operator delete[](blocks[i]))
FORM(array_sized_33, ::operator new[](33), ::operator delete[](blocks[i], std::size_t(33)))
FORM(array_quiet_16, ::operator new[](16, std::nothrow), ::operator delete[](blocks[i], std::nothrow))
FORM(aligned_64, ::operator new(64, aligned), ::operator delete(blocks[i], aligned))
FORM(aligned_sized_192, ::operator new(192, aligned), ::operator delete(blocks[i], std::size_t(192), aligned))
FORM(aligned_quiet_128, ::operator new(128, aligned, std::nothrow), ::operator delete(blocks[i], aligned, std::nothrow))
FORM(array_aligned_64, ::operator new[](64, aligned), ::operator delete[](blocks[i], aligned))
FORM(array_aligned_sized_128, ::operator new[](128, aligned), ::operator delete[](blocks[i], std::size_t(128), aligned))
FORM(array_aligned_quiet_192, ::operator new[](192, aligned, std::nothrow),
     ::operator delete[](blocks[i], aligned, std::nothrow))
FORM(malloc_10, std::malloc(10), std::free(blocks[i]))
FORM(calloc_30, std::calloc(5, 6), std::free(blocks[i]))

struct object {
    long word;
};
extern "C" __attribute__((noinline)) void objects_8()
{
    object *volatile blocks[5];
    for (object *volatile &block : blocks)
        block = new object{1};
    for (int i = 0; i < 4; i++)
        delete blocks[i];
    kept = blocks[4];
}

extern "C" __attribute__((noinline)) void moved_300()
{
    void *volatile block = std::malloc(4);
    block = std::realloc(block, 8);
    block = std::realloc(block, 288);
    kept = block;
}

static __attribute__((noinline)) bool refused()
{
    try {
        kept = ::operator new(PTRDIFF_MAX);
    } catch (const std::bad_alloc &) {
        return kept == nullptr;
    }
    return false;
}

int main()
{
    if (!refused())
        return 1;
    plain_1();
    sized_8();
    quiet_100();
    array_24();
    array_sized_33();
    array_quiet_16();
    aligned_64();
    aligned_sized_192();
    aligned_quiet_128();
    array_aligned_64();
    array_aligned_sized_128();
    array_aligned_quiet_192();
    malloc_10();
    calloc_30();
    objects_8();
    moved_300();
    return 0;
}
