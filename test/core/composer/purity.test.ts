import { expect, test } from 'vitest';
import { filesBelow, isSource, parseSource } from '../../support/source.js';

/** Imports of a folder's files that are neither their neighbors nor folders which hold nothing but values. */
const reaches = (folder: string, allowed: RegExp): string[] =>
  filesBelow(folder, isSource).flatMap((path) =>
    parseSource(path)
      .requests.filter((request) => !/^\.\/[\w-]+\.js$/.test(request) && !allowed.test(request))
      .map((request) => `${path}: ${request}`),
  );

test('[A-04] the composer reaches no store, chain, clock or file', () => {
  expect(reaches('src/core/composer', /^\.\.\/(base|contract|formats)\/index\.js$/)).toEqual([]);
});

test('rendering a timeline reaches none either, and nothing of the spaces in the store', () => {
  expect(reaches('src/core/timeline/render', /^\.\.\/\.\.\/(base|contract|formats)\/index\.js$/)).toEqual([]);
});

test('what it checks can fail', () => {
  expect(reaches('src/core/timeline/spaces', /^\.\.\/\.\.\/(base|contract|formats)\/index\.js$/).length).toBeGreaterThan(0);
});
