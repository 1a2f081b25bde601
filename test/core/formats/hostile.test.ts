import { describe, expect, test } from 'vitest';
import { StemmaError } from '../../../src/core/base/index.js';
import { type Format, formats, type ImportableFormat, importableFormats } from '../../../src/core/formats/index.js';
import { everySort } from '../../support/every-sort.js';
import { some } from '../../support/long.js';

/** Content that attacks readers: brackets without end, and values that nest deeper than a stack. */
const depth = 6_000;
const deep = { list: `${'['.repeat(depth)}${']'.repeat(depth)}`, object: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}` };
const asText = JSON.stringify(`{"a":${deep.list}}`);

const options = { newId: () => 'new', now: '2026-02-01T00:00:00.000Z' as never, sessionId: '22222222-2222-4222-8222-222222222222', cwd: '/work' };
const context = { path: '/x/y.jsonl', known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' as const };

/** JSON texts in which one field at a time has another value. */
function* replaced(text: string, value: string): Generator<string> {
  const seen = new Set<string>();
  for (const [whole, name = '', old = ''] of text.matchAll(/("\w+": ?)("(?:[^"\\]|\\.)*"|\[\]|\{\}|[^\s"[{,}\]]+)/g)) {
    if (seen.has(name)) continue;
    seen.add(name);
    const at = text.indexOf(whole) + name.length;
    yield `${text.slice(0, at)}${value}${text.slice(at + old.length)}`;
  }
}

/** Calls every function of a format. It may refuse the content but never fail. Returns the number of entries. */
function readAll(format: Format, bytes: Buffer): number {
  const { entries } = format.parse(bytes);
  format.parse(format.concat([bytes, bytes]));
  refusing(() => format.session?.(bytes, options));
  const last = entries.at(-1);
  if (last) refusing(() => format.cut(bytes, last.key));
  const importable = importableFormats.find(({ id }) => id === format.id);
  if (importable) planAll(importable, bytes);
  return entries.length;
}

function planAll(format: ImportableFormat, bytes: Buffer): void {
  format.recognize(bytes, context.path);
  format.peek(bytes, bytes);
  format.progress?.(bytes, 'turn_boundary');
  for (const commit of format.plan(bytes, context).commits) expect(commit.entries).toBeInstanceOf(Array);
  if (format.exports?.recognize(bytes)) for (const member of format.exports.members(bytes) ?? []) member.lines();
}

function refusing(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
  }
}

const inJson = formats.filter(({ contentType }) => /json/.test(contentType));

describe('[F10] hostile content', () => {
  test.each(some(inJson, 1))('a field that nests deeper than a stack ($id)', (format) => {
    const delta = Buffer.from(format.write(everySort, options));
    let seen = 0;
    for (const value of [deep.list, deep.object, asText])
      for (const hostile of replaced(String(delta), value)) seen += readAll(format, Buffer.from(hostile));
    // The agent's own format is tested more deeply elsewhere.
    if (format.session)
      for (const hostile of replaced(Buffer.from(format.session(delta, options)).toString(), deep.list))
        seen += readAll(format, Buffer.from(hostile));
    expect(seen).toBeGreaterThan(0);
  });

  test.each(formats)('brackets that never close ($id)', (format) => {
    for (const text of ['{', '[', '{"a":', '{\n', '[\n', '{"type":', '{"id":', '{"timestamp":', '{"info":', '\n"messages":['])
      expect(readAll(format, Buffer.from(text.repeat(3_000)))).toBeLessThan(3_001);
  });
});

test('a name with a line break names no record that is written', () => {
  const entries = [{ role: 'user', kind: 'text', text: 'hi', key: 'evil\nname.0' }] as const;
  for (const id of ['claude-code-v1', 'codex-v1', 'gemini-v1', 'opencode-v1', 'pi-v1', 'cardbox-v1']) {
    const format = formats.find((each) => each.id === id) as Format;
    const written = Buffer.from(format.write?.(entries as never, options) ?? '').toString();
    // A card has the keys of its entries, beside its own id.
    const [named = ''] = written.split('entryKeys');
    expect([id, named.includes('hi'), named.includes('evil')]).toEqual([id, true, false]);
  }
});
