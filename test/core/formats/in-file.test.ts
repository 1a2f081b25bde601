import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entries, tips } from '../../../src/core/chain/index.js';
import { type FileBytes, importableFormats, type Lines, type Member, maxWholeBytes, ShellTooLarge } from '../../../src/core/formats/index.js';
import { spansInFile } from '../../../src/core/formats/otlp/parse-large.js';
import { valueAt, valuesInFile } from '../../../src/core/formats/shared/json-items.js';
import { bytesOfFile, importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { filesBelow, root } from '../../support/source.js';

/** A file of which only the last part that was read is in memory: earlier parts are overwritten. */
function inParts(bytes: Uint8Array): FileBytes {
  let last = new Uint8Array();
  return {
    length: bytes.length,
    subarray(start, end) {
      last.fill(0);
      last = new Uint8Array(bytes.subarray(start, end));
      return last;
    },
  };
}

const textOf = ({ bytes }: Lines): string => Buffer.from(bytes.subarray(0, bytes.length)).toString();
const told = (members: readonly Member[] | undefined) => members?.map((member) => ({ ...member, lines: textOf(member.lines()) }));

const samples = filesBelow('test/fixtures', (path) => /\.(?:jsonl?|eval)$/.test(path)).flatMap((path) => {
  const bytes = readFileSync(join(root, path));
  const reader = importableFormats.find(({ exports }) => exports?.recognize(bytes.subarray(0, 16_384), path))?.exports;
  return reader?.membersInFile ? [{ path, bytes, reader }] : [];
});

describe.each(samples)('$path', ({ bytes, reader }) => {
  test('[F50] has the same conversations in a file as in memory', () => {
    const whole = reader.members(bytes);
    const large = reader.membersInFile?.(inParts(bytes));
    // A log of operations or a list of events can only be read as one value.
    if (large === undefined && whole !== undefined) expect(bytes.toString('utf8', 0, 400)).toMatch(/^\{"kind"|"events"/);
    else expect(told(large)).toEqual(told(whole));
  });

  test('[F50] has the same bytes in any part that is read, and the records of its scan', () => {
    for (const member of reader.membersInFile?.(inParts(bytes)) ?? []) {
      const lines = member.lines();
      const text = Buffer.from(textOf(lines));
      const step = Math.max(1, Math.floor(text.length / 7));
      for (let start = 0; start < text.length; start += step)
        expect(Buffer.from(lines.bytes.subarray(start, Math.min(text.length, start + step + 3)))).toEqual(text.subarray(start, start + step + 3));
      const records = lines.scan?.pieces.map(({ record }) => record) ?? [];
      expect(records.map((record) => JSON.stringify(record)).join('\n')).toBe(text.toString().trimEnd());
    }
  });
});

test('[F50] there are samples of each kind of document', () => {
  expect([...new Set(samples.map(({ path }) => path.split('/')[2]))].sort()).toEqual([
    'atif',
    'inspect-eval',
    'langsmith',
    'otel',
    'otlp',
    'vscode-chat',
  ]);
});

test('[F50] the many spans of a large file share the getter of their events', () => {
  const spans = samples.filter(({ path }) => path.includes('/otlp/')).flatMap(({ bytes }) => spansInFile(inParts(bytes)));
  const withEvents = spans.filter(({ events }) => events.length > 0);
  expect(withEvents.length).toBeGreaterThan(0);
  expect(withEvents.filter((span) => Object.hasOwn(span, 'events'))).toEqual([]);
});

const valuesOf = (text: string, isLarge: (path: string) => boolean = (path) => path === 'a.b') => {
  const file = inParts(Buffer.from(text));
  return [...valuesInFile(file, isLarge)].map(({ shell, lists }) => ({
    shell,
    lists: lists.map(({ path, items }) => [path, items.map((range) => valueAt(file, range))]),
  }));
};

test('[F50] the items of a large list are found whatever their texts hold', () => {
  const items = [1, 'x', '"]},{[\\', { deep: [[{}], ']'] }, [], null, 'ä"\u2028'];
  const text = JSON.stringify({ before: '"a":{"b":[', a: { z: [1, 2], b: items, y: '\\' }, b: [3] }, null, 1);
  expect(valuesOf(text)).toEqual([{ shell: { before: '"a":{"b":[', a: { z: [1, 2], b: [], y: '\\' }, b: [3] }, lists: [['a.b', items]] }]);
  expect(valuesOf(`[1,{"x":2}]\n{"a":{"b":[ 7 ]}}{"c":3}`, (path) => path === '' || path === 'a.b')).toEqual([
    { shell: [], lists: [['', [1, { x: 2 }]]] },
    { shell: { a: { b: [] } }, lists: [['a.b', [7]]] },
    { shell: { c: 3 }, lists: [] },
  ]);
});

test('[F50] a text that ends at the border of two parts is read whole', () => {
  const part = 1024 * 1024;
  for (const end of [part - 2, part - 1, part, part + 1]) {
    const item = `${'x'.repeat(end - '{"a":{"b":["'.length - 2)}\\"`;
    const text = `{"a":{"b":["${item}",2]},"c":"${'y'.repeat(part)}\\\\"}`;
    const [{ lists, shell } = { lists: [], shell: undefined }] = valuesOf(text);
    expect(lists).toEqual([['a.b', [JSON.parse(`"${item}"`), 2]]]);
    expect(shell).toEqual((({ c }) => ({ a: { b: [] }, c }))(JSON.parse(text) as { c: string }));
  }
});

test('[F10, F50] documents with broken brackets or too much beside their lists do no harm', { tags: 'long' }, () => {
  for (const text of ['{"a":{"b":[}}]', '{"a":{"b":[1,]}}', '[[[', ']]', '{"a":', '"', '{"a":{"b":["', '{"a":{"b":[{]}]}}']) valuesOf(text);
  expect(() => valuesOf(`{"c":"${'y'.repeat(33 * 1024 * 1024)}"}`)).toThrow(ShellTooLarge);
});

test('[F21, F50] a document larger than what memory holds is imported and comes back whole', { tags: 'long' }, () => {
  const steps = Array.from({ length: 40 }, (_, at) => ({
    step_id: at + 1,
    ...(at % 2 === 0 ? { source: 'user', message: `Prompt ${at}` } : { source: 'agent', message: `Answer ${at}` }),
  }));
  const path = join(scratch(), 'trajectory.json');
  const document = JSON.stringify({ schema_version: 'ATIF-v1.6', session_id: 'large', agent: { name: 'a', version: '1' }, steps });
  // Space between two steps makes it large, and costs little time.
  const bytes = Buffer.from(document.replace('},{', `},${' '.repeat(maxWholeBytes)}{`));
  writeFileSync(path, bytes);
  const chain = emptyChain();
  expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [], commits: steps.length / 2 });
  const [tip] = tips(chain, {});
  expect(tip && entries(chain, { id: tip.id }).entries.at(-1)?.text).toBe(`Answer ${steps.length - 1}`);
  expect(bytesOfFile(chain, path).equals(bytes)).toBe(true);
  expect(importInto(chain, path).commits).toBe(0);
});
