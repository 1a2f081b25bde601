import './page.js';
import { expect, test } from 'vitest';
import { contract } from '../../src/core/contract/index.js';
import { filesBelow, isSource, textAt } from '../support/source.js';
import { engineOnly } from './engine-only.js';

const procedures = Object.entries(contract).flatMap(([namespace, inside]) => Object.keys(inside).map((name) => `${namespace}.${name}`));

/** The procedures that the window's code calls, on its client or on one that it was given. */
const called = new Set(
  filesBelow('src/renderer', isSource).flatMap((path) =>
    [...textAt(path).matchAll(/\b(?:api|client)\s*\.(\w+)\s*\.(\w+)/g)].map(([, namespace, name]) => `${namespace}.${name}`),
  ),
);

test('[W10] every procedure is in the window, or is listed as engine only with a reason', () => {
  expect(procedures.filter((name) => !called.has(name) && !(name in engineOnly))).toEqual([]);
});

test('[W10] the list of engine-only procedures names only procedures that exist', () => {
  expect(Object.keys(engineOnly).filter((name) => !procedures.includes(name))).toEqual([]);
});

test('[W10] no procedure that the window calls is listed as engine only, and each has a reason', () => {
  expect(Object.keys(engineOnly).filter((name) => called.has(name))).toEqual([]);
  expect(Object.entries(engineOnly).filter(([, reason]) => reason.length < 20 || /no page/i.test(reason))).toEqual([]);
});
