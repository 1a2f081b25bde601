import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claudeCode, type ParsedEntry, wireMessages } from '../../../../src/core/formats/index.js';
import { runs } from '../../../support/properties.js';
import {
  assistant,
  boundary,
  coverage,
  deltaOf,
  fileOf,
  type Line,
  lastTip,
  plan,
  progress,
  queued,
  reminder,
  result,
  seenAt,
  snapshot,
  summary,
  system,
  use,
  user,
} from './records.js';

const sound = [user('u1', null, 'ask'), assistant('a1', 'u1', 'answer')];
const bytes = (...values: readonly number[]): string => Buffer.from(values).toString('latin1');
/** A file whose text gives its bytes, so that a test can write any. */
const rawFile = (...parts: readonly (Line | string)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(fileOf(part)))));

describe('unreadable content is named and skipped, and everything around it is read', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['no JSON', '// a comment\n', /not JSON/],
    ['half a record in the midst', '{"type":"user","uuid":"x1","message":{"content":"cut of', /./],
    ['NUL bytes', `${'\0'.repeat(64)}\n`, /NUL/],
    [
      'bytes that are no UTF-8',
      `{"type":"user","uuid":"x1","parentUuid":null,"message":{"role":"user","content":"${bytes(0xff, 0xfe)}"}}\n`,
      /not UTF-8/,
    ],
    ['JSON that is no record', '[1,2,3]\n', /not a record/],
    ['a number', '12\n', /not a record/],
  ];
  for (const [name, torn, reason] of cases)
    test(`[F10] ${name}`, () => {
      const line = torn.endsWith('\n') ? torn : `${torn}\n`;
      const file = rawFile(...sound, line, user('u2', 'a1', 'on'));
      const planned = plan(file);
      expect(planned.skipped).toEqual([{ line: 3, reason: expect.stringMatching(reason) }]);
      expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'on']);
      expect(planned.side).toEqual([{ start: fileOf(...sound).length, end: fileOf(...sound).length + line.length }]);
      expect(coverage(file, planned).every((times) => times === 1)).toBe(true);
    });

  test('[F10] two records on one line are both read', () => {
    const [first, second] = sound.map((line) => Buffer.from(fileOf(line)).toString().trimEnd());
    const file = rawFile(`${first}${second}\n`, user('u2', 'a1', 'on'));
    const planned = plan(file);
    expect(planned.skipped).toEqual([]);
    expect(planned.notes).toEqual([{ line: 1, reason: expect.stringContaining('2 records on one line') }]);
    expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'on']);
  });

  test('[F10] half a record before a whole one: the half is named, the whole one is read', () => {
    const half = '{"parentUuid":"a1","type":"user","uuid":"x1","message":{"role":"user","content":"lost';
    const file = rawFile(...sound, `${half}${Buffer.from(fileOf(user('u2', 'a1', 'on'))).toString()}`);
    const planned = plan(file);
    expect(planned.skipped).toHaveLength(1);
    expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'on']);
  });

  test("a child of a torn record becomes a child of that record's parent", () => {
    const torn = '{"parentUuid":"a1","type":"assistant","uuid":"x1","message":{"content":"lo\n';
    const planned = plan(rawFile(...sound, user('v1', 'u1', 'other'), torn, user('u2', 'x1', 'on')));
    expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'on']);
  });

  test('a byte order mark, carriage returns, blank lines and a missing last newline are not errors', () => {
    const text = [...sound, user('u2', 'a1', 'on')].map((line) => Buffer.from(fileOf(line)).toString().trimEnd()).join('\r\n\r\n');
    const file = Buffer.from(`\ufeff${text}`);
    const planned = plan(file);
    expect(planned.skipped).toEqual([]);
    expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'on']);
    expect(Buffer.concat(planned.commits.map((commit) => deltaOf(file, commit)))).toEqual(file);
  });

  test('[F11] keys such as __proto__ are data', () => {
    const file = rawFile(
      '{"type":"user","uuid":"u1","parentUuid":null,"__proto__":{"isMeta":true},"message":{"role":"user","content":"ask","__proto__":{"content":"no"}}}\n',
    );
    expect(plan(file).commits[0]?.entries).toMatchObject([{ text: 'ask' }]);
    expect(({} as Record<string, unknown>).isMeta).toBeUndefined();
  });

  test('fields of the wrong type do no harm', () => {
    const odd: Line[] = [
      { ...user('u1', null, 'ask'), message: null },
      { ...user('u2', 'u1', 7), timestamp: 12, parentUuid: 'u1' },
      { ...assistant('a1', 'u2', []), message: { content: [null, 3, { type: 'tool_use' }, { type: 'text' }, { type: 'thinking' }] } },
      { ...result('r1', 'a1', 'X', [null, { type: 'image' }, { type: 'image', source: { type: 'base64' } }]), toolUseResult: 4 },
      { ...system('s1', 'r1', 'compact_boundary'), compactMetadata: [1] },
      { ...user('c1', 's1', [[]]), isCompactSummary: true },
      { type: 'attachment', uuid: 't1', parentUuid: 'c1', attachment: 'x', rendered: [null, { content: 3 }, { content: [{ text: 'seen' }] }] },
      { type: 'api-request', uuid: 'q', parentUuid: 't1' },
      { type: 'summary', summary: 3 },
      { type: 'content-replacement', replacements: [null, { toolUseId: 'X' }] },
      { type: 5, uuid: 'z', parentUuid: null },
    ];
    const file = fileOf(...odd);
    const planned = plan(file);
    expect(coverage(file, planned).every((times) => times === 1)).toBe(true);
    expect(planned.skipped).toEqual([]);
    for (const commit of planned.commits) expect(claudeCode.parse(deltaOf(file, commit)).entries).toEqual(commit.entries);
  });

  test('a huge line and a line of many beginnings cost their length, not its square', { tags: 'long' }, () => {
    const long = user('u2', 'a1', 'x'.repeat(8_000_000));
    const endless = `${'{"type":'.repeat(200_000)}\n`;
    const quotes = `{"a":"${'\\'.repeat(500_001)}"\n`;
    const file = rawFile(...sound, endless, quotes, long);
    const planned = plan(file);
    expect(planned.skipped.map(({ line }) => line)).toEqual([3, 4]);
    expect(planned.commits).toHaveLength(2);
  });

  test('many children of one parent, and many torn lines, cost linear time', { tags: 'long' }, () => {
    const many = 8_000;
    const on = (make: (at: number) => Line | string): Uint8Array =>
      Buffer.concat([fileOf(user('u1', null, 'ask'), assistant('a1', 'u1', 'answer')), fileOf(...Array.from({ length: many }, (_, at) => make(at)))]);
    const cases: readonly (readonly [Uint8Array, number])[] = [
      [on((at) => result(`r${at}`, 'a1', `t${at}`)), 1],
      [on((at) => assistant(`b${at}`, 'a1', 'more', { id: 'm' })), 1],
      [on((at) => (at % 2 ? result(`r${at}`, 'a1', `t${at}`) : user(`p${at}`, 'a1', 'again'))), many / 2],
      [
        on((at) =>
          at < many / 2 ? `{"parentUuid":"g${at - 1}","type":"user","uuid":"g${at}","message":"lost\n` : user(`p${at}`, `g${many / 2 - 1}`, 'on'),
        ),
        1,
      ],
    ];
    for (const [file, tips] of cases) {
      const planned = plan(file);
      expect(planned.tips).toHaveLength(tips);
      expect(wireMessages(planned.commits.at(-1)?.entries ?? []).length).toBeGreaterThan(0);
    }
  });

  test('lone surrogates are read as text', () => {
    const file = rawFile('{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"a\\ud800b"}}\n');
    const planned = plan(file);
    expect(planned.skipped).toEqual([]);
    expect(deltaOf(file, planned.commits[0] as (typeof planned.commits)[number])).toEqual(file);
  });

  test('an empty file, one of blank lines and one of another kind have no conversation', () => {
    for (const text of ['', '\n\n', '{"role":"user"}\n', 'hello\nworld\n']) {
      const file = Buffer.from(text);
      const planned = plan(file);
      expect(planned.commits).toEqual([]);
      expect(coverage(file, planned).every((times) => times === 1)).toBe(true);
    }
  });
});

/** Trees of any shape: any record can be the child of any other, of none, or of a missing one. */
const anyLines = fc
  .array(fc.record({ kind: fc.nat(13), parent: fc.nat(40), id: fc.nat(30), side: fc.nat(20) }), { minLength: 1, maxLength: 40 })
  .map((steps) =>
    steps.map(({ kind, parent, id, side }, at): Line => {
      const uuid = id < 27 ? `n${at}` : `n${id}`;
      const on = parent > 37 ? null : parent > 34 ? `gone${parent}` : `n${parent > 20 ? at - 1 : parent}`;
      const rest = side === 0 ? { isSidechain: true } : {};
      switch (kind) {
        case 0:
        case 1:
        case 2:
          return user(uuid, on, `prompt ${at}`, rest);
        case 3:
        case 4:
          return assistant(uuid, on, `answer ${at}`, { ...rest, id: `m${id}` });
        case 5:
          return assistant(uuid, on, [use(`call${at}`, 'Task', { prompt: `prompt ${at + 1}` })], { ...rest, id: `m${id}` });
        case 6:
          return result(uuid, on, `call${parent}`, `result ${at}`, rest);
        case 7:
          return boundary(uuid, on ?? undefined, [`n${parent}`, `n${at - 1}`]);
        case 8:
          return summary(uuid, on ?? `n${at - 1}`);
        case 9:
          return progress(uuid, on);
        case 10:
          return reminder(uuid, on, `reminder ${at}`);
        case 11:
          return system(uuid, on, 'turn_duration');
        case 12:
          return queued;
        default:
          return snapshot;
      }
    }),
  );

const damage = fc.array(
  fc.record({ at: fc.nat(10_000), what: fc.constantFrom('cut', 'flip', 'nul', 'newline', 'double', 'brace'), size: fc.nat(300) }),
  { maxLength: 4 },
);
function damaged(file: Uint8Array, acts: readonly { at: number; what: string; size: number }[]): Uint8Array {
  return acts.reduce<Uint8Array>((whole, { at, what, size }) => {
    const place = whole.length === 0 ? 0 : at % whole.length;
    const before = whole.subarray(0, place);
    const after = whole.subarray(place);
    switch (what) {
      case 'cut':
        return Buffer.concat([before, after.subarray(size)]);
      case 'flip':
        return Buffer.concat([before, Buffer.from([size % 256]), after.subarray(1)]);
      case 'nul':
        return Buffer.concat([before, Buffer.alloc(size), after]);
      case 'newline':
        return Buffer.concat([before, Buffer.from('\n'), after]);
      case 'double':
        return Buffer.concat([before, after.subarray(0, size), after]);
      default:
        return Buffer.concat([before, Buffer.from('}{"type":'), after]);
    }
  }, file);
}

/** An entry without the exact range of its record, which on a torn line depends on the fragments around it. */
const bare = ({ raw: _, ...entry }: ParsedEntry): unknown => entry;

function checkPlan(file: Uint8Array, planned: ReturnType<typeof plan>, from = 0): void {
  const times = coverage(file, planned);
  expect(times.subarray(from).findIndex((count) => count !== 1)).toBe(-1);
  expect(times.subarray(0, from).findIndex((count) => count !== 0)).toBe(-1);
  for (const [number, commit] of planned.commits.entries()) {
    if (commit.parent && 'plan' in commit.parent) expect(commit.parent.plan).toBeLessThan(number);
    expect(claudeCode.parse(deltaOf(file, commit)).entries.map(bare)).toEqual(commit.entries.map(bare));
    for (const { raw, key } of commit.entries)
      expect(Buffer.from(deltaOf(file, commit).subarray(raw?.start, raw?.end)).toString()).toContain(`"uuid":"${key.split('.')[0]}"`);
  }
  for (const tip of planned.tips) if ('plan' in tip) expect(tip.plan).toBeLessThan(planned.commits.length);
}

describe('any file', () => {
  test('[F2] [F10] each byte has one place, parents come first, and deltas read as planned', () => {
    fc.assert(
      fc.property(anyLines, damage, fc.constantFrom('turn_boundary' as const, 'tool_call' as const), (lines, acts, granularity) => {
        const file = damaged(fileOf(...lines), acts);
        checkPlan(file, plan(file, { granularity }));
      }),
      { numRuns: runs(300) },
    );
  });

  test('[F2] [F8] a file imported in two parts adds only what is new', () => {
    fc.assert(
      fc.property(anyLines, damage, fc.nat(10_000), (lines, acts, place) => {
        const file = damaged(fileOf(...lines), acts);
        const part = file.subarray(0, file.length === 0 ? 0 : place % file.length);
        const first = plan(part);
        checkPlan(part, first);
        const held = new Set(first.commits.flatMap(({ records }) => records));
        const second = plan(file, { resumeAt: first.end, known: { has: (uuid) => held.has(uuid) } });
        checkPlan(file, second, first.end);
        for (const { parent } of second.commits) if (parent && 'record' in parent) expect(held.has(parent.record)).toBe(true);
        for (const uuid of second.commits.flatMap(({ records }) => records)) if (!uuid.startsWith('call:')) expect(held.has(uuid)).toBe(false);
      }),
      { numRuns: runs(300) },
    );
  });

  test('[F1] a file of one chain equals its deltas, in any number of imports', () => {
    const chain = fc.array(fc.constantFrom('prompt', 'answer', 'note', 'snapshot'), { minLength: 1, maxLength: 25 }).map((kinds) => {
      let parent: string | null = null;
      return kinds.map((kind, at): Line => {
        if (kind === 'snapshot') return snapshot;
        const on = parent;
        parent = `n${at}`;
        return kind === 'prompt' ? user(parent, on, `p${at}`) : kind === 'answer' ? assistant(parent, on, `a${at}`) : progress(parent, on);
      });
    });
    fc.assert(
      fc.property(chain, fc.array(fc.nat(10_000), { maxLength: 3 }), (lines, places) => {
        const file = fileOf(...lines);
        const ends = [...places.map((place) => place % (file.length + 1)).sort((a, b) => a - b), file.length];
        const held = new Set<string>();
        const deltas: Uint8Array[] = [];
        let resumeAt = 0;
        for (const end of ends) {
          const part = file.subarray(0, end);
          const planned = plan(part, { resumeAt, known: { has: (uuid) => held.has(uuid) } });
          for (const uuid of planned.commits.flatMap(({ records }) => records)) held.add(uuid);
          deltas.push(...planned.commits.map((commit) => deltaOf(part, commit)));
          resumeAt = planned.end;
        }
        // Lines before the first record belong to no commit until it arrives, and a newline alone is not waited for.
        if (plan(file.subarray(0, ends[0])).commits.length === 0) return;
        const whole = Buffer.from(claudeCode.concat(deltas)).toString();
        expect(whole.endsWith('\n') ? whole : `${whole}\n`).toBe(Buffer.from(file).toString());
      }),
      { numRuns: runs(200) },
    );
  });
});
