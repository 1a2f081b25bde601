/**
 * The page globals that modules of the window read while they load: address, storage and theme. Import it before any module
 * of the window. These tests check markup; behavior is tested in a real browser (test/e2e).
 */
const remembered = new Map<string, string>();

Object.assign(globalThis, {
  window: globalThis,
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
