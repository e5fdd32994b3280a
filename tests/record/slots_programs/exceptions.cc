/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <map>
#define NI __attribute__((noinline))
int other(int);
static volatile int sink;
struct Res { int k; NI Res(int k) : k(k) {} NI ~Res() { sink += other(k); } };
NI int leaf(int x) { return x ^ 5; }
NI void thrower(int n) { Res r(n); if (n == 0) throw std::runtime_error("x"); thrower(n - 1); sink++; }
NI int catcher(int n) { int r = 0; for (int i = 0; i < n; i++) { try { Res q(i); thrower(i % 4); r += 1000; } catch (std::exception &e) { r += leaf(i); } sink += other(i); } return r; }
struct Buf : std::streambuf { int n = 0; int overflow(int c) override; };
NI int Buf::overflow(int c) { if (++n == 3) throw 7; sink += other(c); return c; }
NI int foreign_catch(int n) { int r = 0; for (int i = 0; i < n; i++) { Buf b; std::ostream o(&b); o << "abcdef" << i; r += o.bad(); sink += other(i); } return r; }
NI bool less_(int a, int b) { return leaf(a) < leaf(b); }
NI bool less_throw(int a, int b) { if (a == 13) throw 3; return a < b; }
NI int rethrow(int n) { int r = 0; for (int i = 0; i < n; i++) { try { try { thrower(2); } catch (...) { sink += other(1); throw; } } catch (...) { r++; } } return r; }
NI int sorting(int n) { int r = 0; for (int i = 0; i < n; i++) { std::vector<int> v; for (int k = 0; k < 50; k++) v.push_back((k * 37) % 41); std::sort(v.begin(), v.end(), less_); try { std::sort(v.begin(), v.end(), less_throw); } catch (int) { r++; } std::function<int(int)> f = [&](int x) { return other(x) + v[0]; }; r += f(i); } return r; }
int main()
{
    printf("%d\n", catcher(40)); printf("%d\n", foreign_catch(10)); printf("%d\n", rethrow(10)); printf("%d\n", sorting(5));
    std::thread t([] { printf("%d\n", catcher(8)); }); t.join();
    std::map<std::string, int> m; for (int i = 0; i < 100; i++) m[std::to_string(i % 10)] += leaf(i);
    printf("%zu %d\n", m.size(), sink);
}
