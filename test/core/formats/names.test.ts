import { expect, test } from 'vitest';
import { findFormat, formats, isFormatName } from '../../../src/core/formats/index.js';

test('the list of names has every format, older versions included, and nothing else', () => {
  const all = formats.flatMap((format) => [format.id, ...(format.older ?? []).map(({ id }) => id)]);
  for (const id of all) expect([id, isFormatName(id), findFormat(id) !== undefined]).toEqual([id, true, true]);
  expect(isFormatName('other-v1')).toBe(false);
});
