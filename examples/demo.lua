-- SPDX-License-Identifier: Apache-2.0
-- What the demo has Lua do: a bit of everything an interpreter is used for, about two seconds of it.

local scale = tonumber(arg and arg[1]) or 1

local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end

-- Objects with inheritance: metatables, calls of methods.
local Shape = {}
Shape.__index = Shape
function Shape.new(w, h) return setmetatable({ w = w, h = h }, Shape) end
function Shape:area() return self.w * self.h end
local Square = setmetatable({}, { __index = Shape })
Square.__index = Square
function Square.new(w) return setmetatable({ w = w, h = w }, Square) end

local function objects(count)
    local sum = 0
    for i = 1, count do
        local shape = i % 2 == 0 and Shape.new(i, 2) or Square.new(i % 10)
        sum = sum + shape:area()
    end
    return sum
end

-- Strings: patterns, formatting, concatenation, tables as counters.
local function words(count)
    local text = {}
    for i = 1, count do
        text[#text + 1] = string.format("word%d", i % 97)
    end
    local seen = {}
    for word in table.concat(text, " "):gmatch("%a+%d+") do
        seen[word] = (seen[word] or 0) + 1
    end
    local names = {}
    for name in pairs(seen) do names[#names + 1] = name end
    table.sort(names, function(a, b)
        if seen[a] ~= seen[b] then return seen[a] > seen[b] end
        return a < b
    end)
    return names[1], seen[names[1]]
end

-- Errors: left by longjmp inside the interpreter.
local function errors(count)
    local caught = 0
    for i = 1, count do
        local ok = pcall(function()
            if i % 3 == 0 then error("every third") end
            return i
        end)
        if not ok then caught = caught + 1 end
    end
    return caught
end

-- Coroutines: a pipeline of three.
local function pipeline(count)
    local source = coroutine.wrap(function()
        for i = 1, count do coroutine.yield(i) end
    end)
    local double = coroutine.wrap(function()
        for i in source do coroutine.yield(i * 2) end
    end)
    local sum = 0
    for i in double do sum = sum + i end
    return sum
end

local function sieve(limit)
    local composite, count = {}, 0
    for i = 2, limit do
        if not composite[i] then
            count = count + 1
            for j = i * i, limit, i do composite[j] = true end
        end
    end
    return count
end

local function closures(count)
    local chain = function(x) return x end
    for i = 1, 20 do
        local inner = chain
        chain = function(x) return inner(x) + i end
    end
    local sum = 0
    for i = 1, count do sum = sum + chain(i) end
    return sum
end

-- Compiles programs: the lexer and the parser at work.
local function compile(count)
    local source = {}
    for i = 1, 60 do
        source[#source + 1] = ("local v%d = (function(a, b) return a * %d + b end)(%d, 3)"):format(i, i, i * 2)
    end
    source[#source + 1] = "return v60"
    local text, result = table.concat(source, "\n"), 0
    for _ = 1, count do result = result + load(text)() end
    return result
end

print("fib", fib(24 + math.floor(math.log(scale, 2))))
print("objects", objects(60000 * scale))
print("words", words(30000 * scale))
print("errors", errors(20000 * scale))
print("pipeline", pipeline(20000 * scale))
print("sieve", sieve(120000 * scale))
print("closures", closures(5000 * scale))
print("compile", compile(60 * scale))
