/**
 * As much of a page as modules of the window look at while they load: a place in the address, remembered choices, and a
 * system theme. Import it before anything of the window; drawing is tested on markup, behavior in a real browser (test/e2e).
 */
const remembered = new Map<string, string>();

Object.assign(globalThis, {
  location: { hash: '', origin: 'http://127.0.0.1' },
  history: { state: null, pushState() {}, replaceState() {} },
  localStorage: {
    getItem: (name: string) => remembered.get(name) ?? null,
    setItem: (name: string, value: string) => void remembered.set(name, value),
  },
  matchMedia: () => ({ matches: false, addEventListener() {}, removeEventListener() {} }),
  addEventListener() {},
});

export {};
