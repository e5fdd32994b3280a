/* SPDX-License-Identifier: Apache-2.0 */
// Exceptions through frames with and without clean-up, rethrown, and caught deep and shallow.
#include <cstdio>
#include <memory>
#include <stdexcept>
struct Guard {
    int *count;
    explicit Guard(int *c) : count(c)
    {
        ++*count;
    }
    ~Guard()
    {
        --*count;
    }
};
static int live;
static int plain(int depth)
{
    if (depth == 0)
        throw std::runtime_error("bottom");
    return plain(depth - 1) + 1;
}
static int guarded(int depth)
{
    Guard guard(&live);
    if (depth == 0)
        return plain(2);
    return guarded(depth - 1) + 1;
}
static int rethrow(int depth)
{
    try {
        return guarded(depth);
    } catch (const std::exception &) {
        if (depth % 2 == 0)
            throw;
        return -1;
    }
}
struct Base {
    virtual ~Base() = default;
    virtual int value(int x) const = 0;
};
struct Derived : Base {
    int value(int x) const override
    {
        return x % 3 == 0 ? rethrow(x % 4) : x;
    }
};
int main()
{
    std::unique_ptr<Base> object(new Derived);
    int sum = 0;
    for (int i = 0; i < 40; i++) {
        try {
            sum += object->value(i);
        } catch (const std::runtime_error &error) {
            sum += error.what()[0] == 'b';
        }
    }
    std::printf("%d %d\n", sum, live);
    return 0;
}
