import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesFolder, differences, importedValues, rightValues } from '../support/cases.js';

describe('histories modelled on public reports', () => {
  test('[N20] every case has its right values or a test of its own below', () => {
    const folders = readdirSync(casesFolder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
    expect(Object.keys(rightValues).filter((name) => !folders.includes(name))).toEqual([]);
  });

  test.each(Object.entries(rightValues))('[N20] %s', async (name, right) => {
    expect(differences(right, await importedValues(right, [join(casesFolder, name, right.path ?? '.')]))).toEqual({});
  });
});
