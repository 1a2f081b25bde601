// The cases with other ids, times, versions, line ends, orders and ends: each has its right values.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject, parseJson } from '../../src/core/base/index.js';
import { casesFolder, differences, importedValues, type Right, rightValues } from '../support/cases.js';
import { scratch } from '../support/project.js';
import { reordered } from '../support/reordered.js';

const isText = (path: string): boolean => /\.jsonl?$/.test(path);
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'README.md')
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Copies what is imported of a case to a new folder, with changed names and texts. Returns the path to import. */
function changedCopy(
  name: string,
  { path = '.' }: Right,
  change: (text: string, path: string) => string | Buffer,
  rename = (one: string) => one,
): string {
  const folder = scratch();
  for (const file of filesOf(join(casesFolder, name))) {
    const target = join(folder, rename(relative(join(casesFolder, name), file)));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, isText(file) ? change(readFileSync(file, 'utf8'), file) : readFileSync(file));
  }
  return join(folder, rename(path));
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const otherIds = (text: string): string =>
  text.replaceAll(uuid, (id) => {
    const hex = createHash('sha256').update(id).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  });
const eachLine = (text: string, change: (line: string) => string): string => text.split('\n').map(change).join('\n');
const isLines = (path: string): boolean => path.endsWith('.jsonl');

/** A record of a kind that no reader knows, in the manner of the record before it. */
const withUnknown = (line: string): string => {
  const record = parseJson(line);
  if (!isObject(record)) return line;
  const { timestamp, sessionId, payload } = record;
  const unknown = {
    timestamp,
    ...(sessionId !== undefined && { sessionId }),
    type: 'brand_new_record',
    ...(payload !== undefined && { payload: { n: 1 } }),
  };
  return `${line}\n${JSON.stringify(unknown)}`;
};

const changes: Readonly<Record<string, (text: string, path: string) => string>> = {
  'with line ends of Windows': (text, path) => (isLines(path) ? text.replaceAll(/\r?\n/g, '\r\n') : text),
  'with a mark of the byte order': (text) => `\uFEFF${text.replace(/^\uFEFF/, '')}`,
  'with a torn last line': (text, path) => (isLines(path) ? `${text}{"type":"assistant","message":{"id":"torn` : text),
  'with NULs at the end': (text, path) => (isLines(path) ? `${text}${'\0'.repeat(512)}` : text),
  'with empty lines': (text, path) => (isLines(path) ? eachLine(text, (line) => (line === '' ? line : `${line}\n`)) : text),
  'with the members of each object in another order': (text) => reordered(text),
  'with records of an unknown kind': (text, path) => (isLines(path) ? eachLine(text, withUnknown) : text),
  'of a later version': (text) => text.replaceAll(/"((?:cli_|copilot|claude_code_)?[vV]ersion)":\s*"[^"]*"/g, '"$1":"99.1.0"'),
  'in another folder': (text) => text.replaceAll('/home/dev/', '/srv/people/somebody else/'),
  'half a year later': (text) => text.replaceAll(/2026-09-(0\d)T/g, '2027-03-$1T'),
};

async function differencesOf(values: (name: string, right: Right) => ReturnType<typeof importedValues>, isLeftOut: RegExp = /^$/) {
  const found: Record<string, unknown> = {};
  for (const [name, right] of Object.entries(rightValues)) {
    if (isLeftOut.test(name)) continue;
    const different = differences(right, await values(name, right));
    if (Object.keys(different).length > 0) found[name] = different;
  }
  return found;
}

/** The lines of this case are broken by what is tried here. */
const leftOut: Readonly<Record<string, RegExp>> = {
  'with line ends of Windows': /^copilot-raw-newline$/,
  'with empty lines': /^copilot-raw-newline$/,
};

describe('histories modelled on public reports', { tags: 'long', timeout: 120_000 }, () => {
  test.each(Object.entries(changes))('[N20] %s', async (what, change) => {
    expect(await differencesOf((name, right) => importedValues(right, [changedCopy(name, right, change)]), leftOut[what])).toEqual({});
  });

  test('[N20] with other ids', async () => {
    expect(await differencesOf((name, right) => importedValues(right, [changedCopy(name, right, otherIds, otherIds)]))).toEqual({});
  });

  test('[N20] imported twice, and once more from another folder', async () => {
    const found = await differencesOf((name, right) => {
      const [one, other] = [changedCopy(name, right, (text) => text), changedCopy(name, right, (text) => text)];
      return importedValues(right, [one], [one], [other]);
    });
    expect(found).toEqual({});
  });

  test('[N20] file by file, the last one first', async () => {
    const found = await differencesOf((name, right) => {
      const path = join(casesFolder, name, right.path ?? '.');
      const files = right.path === undefined ? filesOf(path).filter((file) => !file.endsWith('.meta.json')) : [path];
      return importedValues(right, ...files.toReversed().map((file) => [file]));
    });
    expect(found).toEqual({});
  });

  // The log of a headless run is read whole.
  test.each([1, 3, 8])('[N20] first without the last %i lines, then whole', async (lines) => {
    const found = await differencesOf(async (name, right) => {
      const whole = changedCopy(name, right, (text) => text);
      const part = changedCopy(name, right, (text, path) => {
        const all = text.split('\n');
        return isLines(path) && all.length > lines + 2 ? `${all.slice(0, -1 - lines).join('\n')}\n` : text;
      });
      const grown = scratch();
      const at = join(grown, 'case');
      cpSync(part, at, { recursive: true });
      return importedValuesOfGrowing(right, at, whole);
    }, /^(?:claude-stream-json|gemini-stream-json|codex-exec-json)$/);
    expect(found).toEqual({});
  });
});

/** Imports a path, replaces what lies there, and imports it again. */
const importedValuesOfGrowing = (right: Right, at: string, whole: string): ReturnType<typeof importedValues> =>
  importedValues(right, [at], () => cpSync(whole, at, { recursive: true, force: true }), [at]);
