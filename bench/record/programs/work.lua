-- SPDX-License-Identifier: Apache-2.0
-- Recursion, sieve, strings, sort with a callback, objects, errors.
local scale = tonumber(arg[1] or "1")
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sieve(n)
  local is, count = {}, 0
  for i = 2, n do is[i] = true end
  for i = 2, n do
    if is[i] then count = count + 1; for j = i * i, n, i do is[j] = false end end
  end
  return count
end
local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:add(o) return Point.new(self.x + o.x, self.y + o.y) end
local seed = 42
local function random() seed = (seed * 1103515245 + 12345) % 2147483648; return seed end
local out = {}
for _ = 1, scale do
  out[#out + 1] = fib(23)
  out[#out + 1] = sieve(60000)
  local words = {}
  for i = 1, 6000 do words[i] = string.format("%05d-%s", random() % 100000, ("x"):rep(i % 7)) end
  table.sort(words, function(a, b) return a > b end)
  out[#out + 1] = words[1]
  local text = table.concat(words, " ")
  local n = 0
  for w in text:gmatch("%d+") do n = n + #w end
  out[#out + 1] = n + #text:gsub("x", "yy"):upper()
  local p = Point.new(0, 0)
  for i = 1, 30000 do p = p:add(Point.new(i, -i)) end
  out[#out + 1] = p.x + p.y
  local errors = 0
  for i = 1, 3000 do
    if not pcall(function() if i % 3 == 0 then error("e" .. i) end end) then errors = errors + 1 end
  end
  out[#out + 1] = errors
end
print(table.concat(out, " ", 1, 6))
