// SPDX-License-Identifier: Apache-2.0
// What speedscope makes of files: node speedscope.mjs FOLDER-OF-THE-PACKAGE FILE... prints JSON, for each file
// its profiles with what each function cost itself. The package is a page for browsers: its script is run
// without one, and what it has for reading files is taken before it begins to draw.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [folder, ...files] = process.argv.slice(2);
const release = path.join(folder, "dist", "release");
const name = fs.readdirSync(release).find((each) => /^speedscope-\w+\.js$/.test(each));
let script = fs.readFileSync(path.join(release, name), "utf8");
// What the page loads lazily, by its exports; then the variable that holds it.
const [, module] = script.match(/(\w+),\{importFromFileSystemDirectoryEntry:/);
const loaded = script.match(new RegExp(`var (\\w+)=Promise\\.resolve\\(\\)\\.then\\(\\(\\)=>\\(\\w+\\(\\),${module}\\)\\);`));
script = script.replace(loaded[0], () => `${loaded[0]}globalThis.importers=${loaded[1]};throw new Error("enough");`);

// Whatever is asked of the page is there, and does nothing.
const nothing = new Proxy(function () {}, { get: (_, key) => (key === Symbol.toPrimitive ? () => "" : nothing), apply: () => nothing,
  construct: () => nothing, set: () => true });
const world = vm.createContext({ document: nothing, navigator: nothing, localStorage: nothing, location: nothing,
  console: { ...console, log() {}, warn() {}, info() {} },
  TextDecoder, TextEncoder, Uint8Array, ArrayBuffer, URL, setTimeout, clearTimeout, performance, atob: globalThis.atob,
  btoa: globalThis.btoa, WebAssembly: globalThis.WebAssembly });
world.window = world.self = world;
try {
  vm.runInContext(script, world);
} catch (error) {
  if (error.message !== "enough") throw error;
}
const importers = await world.importers;

const told = {};
for (const file of files) {
  const bytes = fs.readFileSync(file);
  const group = (await importers.importProfilesFromArrayBuffer(path.basename(file),
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)));
  if (!group) throw new Error(`${file}: speedscope knows no such format`);
  told[path.basename(file)] = group.profiles.map((profile) => {
    const own = {};
    profile.forEachFrame((frame) => { own[frame.name] = (own[frame.name] ?? 0) + frame.getSelfWeight(); });
    return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), own };
  });
}
console.log(JSON.stringify(told));
