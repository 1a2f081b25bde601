import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EntryKey, Timestamp } from '../../../../src/core/base/index.js';
import { textAt } from '../../../support/source.js';
import { chatlog } from './chatlog.js';
import { chatlog as byRules } from './chatlog-rules.js';

const options = { newId: () => 'fresh', now: '2026-01-01T00:00:00.000Z' as Timestamp };
const context = { path: 'x.jsonl', known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' as const };
const lines = [
  '{"id":"m1","role":"user","text":"List the files","timestamp":"2026-01-01T00:00:00.000Z"}\n',
  '{"id":"m2","role":"assistant","tool":"list","call":"c1","input":{"path":"."}}\n',
  '{"id":"m3","role":"tool","call":"c1","text":"a.txt"}\n',
  '{"id":"m4","role":"assistant","text":"There is one file."}\n',
  '{"id":"m5","role":"user","text":"Thanks"}\n',
];
const file = Buffer.from(lines.join(''));

test.each(['chatlog.ts', 'chatlog-rules.ts'])('the guide shows %s as these tests compile and run it', (name) => {
  const code = readFileSync(join(import.meta.dirname, name), 'utf8')
    .replaceAll('../../../../src/core/formats/', '../')
    .replaceAll('../../../../src/core/', '../../');
  expect(textAt('docs/add-a-format.md')).toContain(`\`\`\`ts\n${code}\`\`\``);
});

test('the format by rules recognizes its file, cuts it into turns and holds every byte', () => {
  const texts = Buffer.from(lines.filter((line) => line.includes('"text"') && !line.includes('"tool"')).join(''));
  expect([byRules.recognize(texts, 'x.jsonl'), byRules.recognize(Buffer.from('{"type":"user"}\n'), 'x.jsonl')]).toEqual([1, 0]);
  expect(byRules.parse(texts).entries.map(({ key, role }) => [key, role])).toEqual([
    ['chatlog:m1.0', 'user'],
    ['chatlog:m4.0', 'assistant'],
    ['chatlog:m5.0', 'user'],
  ]);
  const { commits } = byRules.plan(texts, context);
  expect(commits.map(({ records }) => records.length)).toEqual([2, 1]);
  expect(Buffer.concat(commits.flatMap(({ ranges }) => ranges.map(({ start, end }) => texts.subarray(start, end))))).toEqual(texts);
});

test('it recognizes its file and reads calls, results and texts', () => {
  expect(chatlog.recognize(file, 'x.jsonl')).toBe(1);
  expect(chatlog.recognize(Buffer.from('{"type":"user"}\n'), 'x.jsonl')).toBe(0);
  expect(chatlog.parse(file).entries.map(({ key, kind, toolCallId }) => [key, kind, toolCallId])).toEqual([
    ['m1.0', 'text', undefined],
    ['m2.0', 'tool_call', 'c1'],
    ['m3.0', 'tool_result', 'c1'],
    ['m4.0', 'text', undefined],
    ['m5.0', 'text', undefined],
  ]);
});

test('a turn is a commit, and the commits hold every byte of the file', () => {
  const plan = chatlog.plan(file, context);
  expect(plan.commits.map(({ summary, records }) => [summary, records.length])).toEqual([
    ['List the files', 4],
    ['Thanks', 1],
  ]);
  const deltas = plan.commits.map(({ ranges }) => Buffer.concat(ranges.map(({ start, end }) => file.subarray(start, end))));
  expect(Buffer.from(chatlog.concat(deltas))).toEqual(file);
  expect(plan.commits.flatMap(({ entries }) => entries.map(({ key }) => key))).toEqual(chatlog.parse(file).entries.map(({ key }) => key));
});

test('what it writes it reads, and a cut keeps the entries up to the given one', () => {
  const { entries } = chatlog.parse(file);
  const again = chatlog.parse(chatlog.write(entries, options)).entries;
  const facts = (all: typeof entries) => all.map(({ key, role, kind, text, arguments: input }) => [key, role, kind, text, input]);
  expect(facts(again)).toEqual(facts(entries));
  expect(chatlog.parse(chatlog.cut(file, 'm3.0' as EntryKey)).entries.map(({ key }) => key)).toEqual(['m1.0', 'm2.0', 'm3.0']);
  expect(() => chatlog.cut(file, 'gone.0' as EntryKey)).toThrow('at is gone.0, but this delta has no such entry');
});

test('a torn line is named, and half a last line waits for the next import', () => {
  const torn = chatlog.parse(Buffer.from(`${lines[0]}{"id":"m2","ro\n${lines[4]}`));
  expect(torn.entries.map(({ key }) => key)).toEqual(['m1.0', 'm5.0']);
  expect(torn.problems.map(({ line }) => line)).toEqual([2]);
  expect(chatlog.plan(file.subarray(0, file.length - 10), context).end).toBe(lines.slice(0, 4).join('').length);
});
