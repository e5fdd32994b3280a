// SPDX-License-Identifier: Apache-2.0
// Inlined bodies of C++: with landing pads, of functions that any unit may define, virtual ones.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#define OWN __attribute__((noinline))

static volatile int sink;

OWN static int called(int x)
{
    sink += x;
    return x + 1;
}

struct guard {
    int number;
    explicit guard(int n) : number(n)
    {
        sink += n;
    }
    ~guard()
    {
        called(number);
    }
};

template <typename T> struct box {
    T value;
    T get() const
    {
        return value + called(1);
    }
    void put(T other)
    {
        value = other;
        if (other == 13)
            throw std::runtime_error("thirteen");
    }
};

struct shape {
    virtual ~shape() {}
    virtual int area() const
    {
        return called(1);
    }
};
struct square : shape {
    int side;
    explicit square(int s) : side(s) {}
    int area() const override
    {
        return side * called(side);
    }
};

inline int may_throw(int x)
{
    guard outer(x);
    if (x % 5 == 0)
        throw x;
    guard inner(x + 1);
    return called(x);
}

OWN int catching(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++) {
        try {
            guard around(i);
            sum += may_throw(i);
        } catch (int thrown) {
            sum -= thrown + called(2);
        }
    }
    return sum;
}

OWN int boxes(int n)
{
    box<int> small{1};
    box<long> large{2};
    int sum = 0;
    for (int i = 0; i < n; i++) {
        try {
            small.put(i);
            large.put(i * 2);
            sum += small.get() + static_cast<int>(large.get());
        } catch (const std::exception &e) {
            sum += e.what()[0];
        }
    }
    return sum;
}

int main()
{
    std::vector<int> numbers;
    for (int i = 0; i < 50; i++)
        numbers.push_back(catching(i % 9));
    std::string text;
    for (int number : numbers)
        text += std::to_string(number);
    square shape_of_four(4);
    const shape *any = numbers.size() > 3 ? &shape_of_four : nullptr;
    std::printf("%d %zu %d\n", boxes(30), text.size(), any ? any->area() : 0);
    return 0;
}
