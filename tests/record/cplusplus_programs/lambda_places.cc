/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without a name of their own, each on a line that the test knows. */
#include <cstdio>

static int outer(int limit)
{
    auto first = [&](int x) { /* line 7 */
        return x > limit ? x : limit;
    };
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += first(i);
    struct Local {
        int member(int x) { /* line 14 */
            return x + 1;
        }
    } local;
    return sum + local.member(1);
}

static auto global = [](int x) { /* line 21 */
    return x * 2;
};

__attribute__((noinline)) static int known(int x)
{
    return x + 1;
}

template <class F> static int call(F function)
{
    return function(3);
}

namespace space {
struct Type {
    int inner(int y) { /* line 37 */
        return call([=](int x) { /* line 38 */
            return known(x) + y;
        });
    }
};
} // namespace space

int main()
{
    printf("%d\n", outer(2) + global(3) + space::Type().inner(4));
}
