import { expect, test } from 'vitest';
import { filesBelow, isSource, parseSource } from '../../support/source.js';

/** Imports of a folder's files other than files of the same folder and folders without effects. */
const reaches = (folder: string, allowed: RegExp): string[] =>
  filesBelow(folder, isSource).flatMap((path) =>
    parseSource(path)
      .requests.filter((request) => !/^\.\/[\w-]+\.js$/.test(request) && !allowed.test(request))
      .map((request) => `${path}: ${request}`),
  );

test('[A-04] the composer imports no store, chain, clock or file', () => {
  expect(reaches('src/core/composer', /^\.\.\/(base|contract|formats)\/index\.js$/)).toEqual([]);
});

test('the rendering of timelines imports none of these, and no stored spaces', () => {
  expect(reaches('src/core/timeline/render', /^\.\.\/\.\.\/(base|contract|formats)\/index\.js$/)).toEqual([]);
});

test('these checks can fail', () => {
  expect(reaches('src/core/timeline/spaces', /^\.\.\/\.\.\/(base|contract|formats)\/index\.js$/).length).toBeGreaterThan(0);
});
