// SPDX-License-Identifier: Apache-2.0
// What is a mistake, not what is taste: clang-format's counterpart for scripts is the reader.
const browser = ["window", "document", "console", "location", "history", "navigator", "fetch",
  "setTimeout", "clearTimeout", "setInterval", "clearInterval", "requestAnimationFrame",
  "cancelAnimationFrame", "performance", "getComputedStyle", "matchMedia", "localStorage",
  "sessionStorage", "devicePixelRatio", "innerWidth", "innerHeight", "scrollX", "scrollY",
  "AbortController", "EventSource", "URL", "URLSearchParams", "ResizeObserver", "MutationObserver",
  "IntersectionObserver", "Event", "KeyboardEvent", "PointerEvent", "CustomEvent", "HTMLElement",
  "Element", "Node", "NodeFilter", "Path2D", "OffscreenCanvas", "CSS", "Image", "Blob", "XMLSerializer",
  "TextDecoder", "TextEncoder", "DOMParser", "FormData", "queueMicrotask", "structuredClone",
  "getSelection", "customElements", "visualViewport", "addEventListener", "removeEventListener",
  "dispatchEvent", "scrollTo", "scrollBy", "alert", "confirm", "CanvasRenderingContext2D"];
const node = ["process", "Buffer", "console", "setTimeout", "clearTimeout", "URL",
  "URLSearchParams", "fetch", "globalThis", "performance", "AbortController"];
const names = (list) => Object.fromEntries(list.map((name) => [name, "readonly"]));

const rules = {
  "array-callback-return": "error", "constructor-super": "error", "for-direction": "error",
  "getter-return": "error", "no-case-declarations": "error", "no-class-assign": "error",
  "no-compare-neg-zero": "error", "no-cond-assign": "error", "no-const-assign": "error",
  "no-constant-condition": ["error", { checkLoops: false }], "no-debugger": "error",
  "no-dupe-args": "error", "no-dupe-class-members": "error", "no-dupe-else-if": "error",
  "no-dupe-keys": "error", "no-duplicate-case": "error", "no-empty": "error",
  "no-eval": "error", "no-ex-assign": "error", "no-fallthrough": "error",
  "no-func-assign": "error", "no-global-assign": "error", "no-implied-eval": "error",
  "no-import-assign": "error", "no-inner-declarations": "error", "no-invalid-regexp": "error",
  "no-irregular-whitespace": "error", "no-loss-of-precision": "error",
  "no-misleading-character-class": "error", "no-new-native-nonconstructor": "error",
  "no-obj-calls": "error", "no-redeclare": "error", "no-self-assign": "error",
  "no-shadow": "error", "no-sparse-arrays": "error", "no-this-before-super": "error",
  "no-throw-literal": "error", "no-undef": "error", "no-unreachable": "error",
  "no-unsafe-finally": "error", "no-unsafe-negation": "error",
  "no-unsafe-optional-chaining": "error", "no-unused-expressions": "error",
  "no-unused-labels": "error", "no-unused-vars": ["error", { args: "after-used" }],
  "no-use-before-define": ["error", { functions: false, classes: false }],
  "no-useless-catch": "error", "no-useless-escape": "error", "no-var": "error",
  "no-with": "error", "prefer-const": "error", "require-yield": "error", "use-isnan": "error",
  "valid-typeof": "error", eqeqeq: "error",
};

export default [
  { files: ["web/**/*.js"], languageOptions: { globals: names(browser), sourceType: "module" }, rules },
  // in front of modules: no imports
  { files: ["web/fathom.js"], languageOptions: { sourceType: "script" } },
  // what runs in the page is written in the middle of what drives the browser
  { files: ["tests/**/*.mjs"], languageOptions: { globals: names([...browser, ...node]) }, rules },
  { ignores: ["web/vendor/**", "build*/**", "**/node_modules/**"] },
];
