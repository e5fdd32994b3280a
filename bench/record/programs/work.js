// SPDX-License-Identifier: Apache-2.0
// Typical work of scripts: objects, strings, sorting, closures, exceptions, regular expressions.
'use strict';
function Node(key) { this.key = key; this.left = null; this.right = null; }
Node.prototype.add = function (key) {
    var side = key < this.key ? 'left' : 'right';
    if (this[side] === null) this[side] = new Node(key); else this[side].add(key);
};
Node.prototype.walk = function (visit) {
    if (this.left !== null) this.left.walk(visit);
    visit(this.key);
    if (this.right !== null) this.right.walk(visit);
};
function random(seed) { return function () { seed = (seed * 1103515245 + 12345) % 2147483648; return seed; }; }
var next = random(7), root = new Node(next()), sum = 0, words = {}, caught = 0;
for (var i = 0; i < 6000; i++) root.add(next());
root.walk(function (key) { sum = (sum + key) % 1000003; });
for (i = 0; i < 20000; i++) {
    var word = 'w' + next() % 701;
    words[word] = (words[word] || 0) + 1;
}
var keys = Object.keys(words).sort(function (a, b) { return words[b] - words[a] || (a < b ? -1 : 1); });
var text = keys.join(' ').replace(/w(\d)(\d+)/g, function (all, a, b) { return b + a; });
for (i = 0; i < 3000; i++) {
    try { if (i % 3 === 0) throw new Error('no ' + i); } catch (e) { caught += e.message.length; }
}
var copy = JSON.parse(JSON.stringify({words: words, list: keys}));
print(sum, keys.length, text.length, caught, copy.list.length, copy.words[keys[0]]);
