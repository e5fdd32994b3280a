#include <stdio.h>
#include <objc/Object.h>

@interface Shape : Object
+ (int)twice:(int)n;
- (int)area;
@end

@implementation Shape
+ (int)twice:(int)n { return 2 * n; }
- (int)area { return 3; }
@end

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

int main(void)
{
    int sum = 0;
    int i;
    for (i = 0; i < 10; i++)
        sum += [Shape twice: i];
    printf("%d %d\n", fib(15), sum);
    return 0;
}
