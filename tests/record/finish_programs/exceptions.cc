// SPDX-License-Identifier: Apache-2.0
// C++ exceptions through frames with and without destructors, virtual calls, a template.
#include <cstdio>
#include <stdexcept>

namespace {

int destroyed;

struct guard {
    ~guard();
};
guard::~guard() { destroyed++; }

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class T> T half(T value)
{
    if (value % 2 != 0)
        throw failure("odd");
    return value / 2;
}

struct node {
    virtual int value(int depth) = 0;

protected:
    ~node() = default; // trivial: compilers call it or not as they like
};

struct leaf : node {
    int value(int depth) override { return half(depth); }
};

struct inner : node {
    node *below;
    explicit inner(node *n) : below(n) {}
    int value(int depth) override
    {
        guard here;
        return below->value(depth) + 1;
    }
};

int attempt(node *n, int i)
{
    try {
        return n->value(i);
    } catch (const failure &) {
        return -1;
    }
}

} // namespace

int main()
{
    leaf bottom;
    inner middle(&bottom), top(&middle);
    int sum = 0;
    for (int i = 0; i < 30; i++)
        sum += attempt(&top, i);
    std::printf("%d %d\n", sum, destroyed);
}
