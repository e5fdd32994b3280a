module shapes;
import core.stdc.stdio : printf;

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
interface Shape { int area(); }
class Square : Shape { int side; this(int s) { side = s; } int area() { return side * side; } }
int total(Shape[] all) { int sum = 0; foreach (one; all) sum += one.area(); return sum; }

void main()
{
    Shape[] all;
    foreach (i; 0 .. 10) all ~= new Square(i);
    printf("%d %d\n", fib(15), total(all));
}
