import { describe, expect, test } from 'vitest';
import { agentIn, claudeCode } from '../../../../src/core/formats/index.js';
import {
  assistant,
  boundary,
  coverage,
  deltaOf,
  fileOf,
  type Line,
  lastTip,
  lineage,
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

const twoTurns = [
  snapshot,
  user('u1', null, 'first'),
  assistant('a1', 'u1', 'one'),
  queued,
  user('u2', 'a1', 'second'),
  assistant('a2', 'u2', 'two'),
  snapshot,
];

describe('commits', () => {
  test('[F1] [F2] a file of one chain is cut at its prompts, and its deltas equal the file', () => {
    const file = fileOf(...twoTurns);
    const planned = plan(file);
    expect(planned.commits.map(({ summary: text, parent, checkpoint }) => [text, parent, checkpoint])).toEqual([
      ['first', null, 'turn_boundary'],
      ['second', { plan: 0 }, 'turn_boundary'],
    ]);
    expect(Buffer.concat(planned.commits.map((commit) => deltaOf(file, commit)))).toEqual(file);
    expect(planned.side).toEqual([]);
    expect(planned.sessionId).toBe('11111111-1111-4111-8111-111111111111');
    expect(planned.commits[0]?.principal).toBe('claude-code@/work');
    expect(planned.commits[1]?.records).toEqual(['u2', 'a2']);
    expect(planned.commits[1]?.createdAt).toBe('2026-01-01T00:00:05.000Z');
  });

  test('each round of tool calls is a commit with granularity tool_call', () => {
    const file = fileOf(
      user('u1', null, 'do'),
      assistant('a1', 'u1', [use('X')]),
      result('r1', 'a1', 'X'),
      assistant('a2', 'r1', [use('Y')]),
      result('r2', 'a2', 'Y'),
      assistant('a3', 'r2', 'ok'),
    );
    expect(plan(file).commits).toHaveLength(1);
    const rounds = plan(file, { granularity: 'tool_call' });
    expect(rounds.commits.map(({ records, checkpoint }) => [records, checkpoint])).toEqual([
      [['u1', 'a1', 'r1'], 'tool_call'],
      [['a2', 'r2'], 'tool_call'],
      [['a3'], 'turn_boundary'],
    ]);
    expect(Buffer.concat(rounds.commits.map((commit) => deltaOf(file, commit)))).toEqual(file);
  });

  test("a local command opens the next prompt's turn, and an expanded one is a turn", () => {
    const command = '<command-name>/model</command-name>\n<command-args>opus</command-args>';
    const local = [
      user('c0', 'a1', '<local-command-caveat>Caveat</local-command-caveat>', { isMeta: true }),
      user('c1', 'c0', command),
      user('c2', 'c1', '<local-command-stdout>Set</local-command-stdout>'),
    ];
    const file = fileOf(
      user('u1', null, 'first'),
      assistant('a1', 'u1', 'one'),
      ...local,
      user('u2', 'c2', 'second'),
      assistant('a2', 'u2', 'two'),
      user('s1', 'a2', '<command-name>/review</command-name>'),
      user('s2', 's1', [{ type: 'text', text: 'Review it all' }], { isMeta: true }),
      assistant('a3', 's2', 'fine'),
      user('u4', 'a3', 'third'),
    );
    expect(plan(file).commits.map(({ summary: text, records }) => [text, records.length])).toEqual([
      ['first', 2],
      ['second', 5],
      ['/review', 3],
      ['third', 1],
    ]);
  });

  test("a person's title outranks the agent's, and a later title an earlier one", () => {
    expect(
      plan(
        fileOf(
          ...twoTurns,
          { type: 'custom-title', customTitle: 'Mine' },
          { type: 'ai-title', aiTitle: 'Its' },
          { type: 'summary', summary: 'S', leafUuid: 'a2' },
        ),
      ).title,
    ).toBe('Mine');
    expect(
      plan(fileOf({ type: 'summary', summary: 'old', leafUuid: 'x' }, { type: 'summary', summary: 'new', leafUuid: 'x' }, ...twoTurns)).title,
    ).toBe('new');
    expect(plan(fileOf(...twoTurns)).title).toBeUndefined();
  });

  test('[F23] a commit without a time takes it from the line before', () => {
    const planned = plan(
      fileOf(
        user('u1', null, 'first', { timestamp: '2026-02-01T10:00:00+01:00' }),
        assistant('a1', 'u1', 'one', { timestamp: 'nonsense' }),
        user('u2', 'a1', 'second', { timestamp: 'soon' }),
        user('u3', 'u2', 'third', { timestamp: '2025-01-01T00:00:00.000Z' }),
      ),
    );
    expect(planned.commits.map(({ createdAt }) => createdAt)).toEqual([
      '2026-02-01T09:00:00.000Z',
      '2026-02-01T09:00:00.000Z',
      '2025-01-01T00:00:00.000Z',
    ]);
  });
});

describe('the tree', () => {
  const rewound = [
    user('u1', null, 'ask'),
    assistant('a1', 'u1', 'answer'),
    user('u2', 'a1', 'go left'),
    assistant('a2', 'u2', 'left'),
    user('v2', 'a1', 'go right'),
    assistant('b2', 'v2', 'right'),
  ];

  test('[F3] a rewound prompt is a branch with a shared part, and the last leaf is resumed', () => {
    const planned = plan(fileOf(...rewound));
    expect(planned.commits.map(({ summary: text, parent }) => [text, parent])).toEqual([
      ['ask', null],
      ['go left', { plan: 0 }],
      ['go right', { plan: 0 }],
    ]);
    expect(planned.tips).toEqual([{ plan: 1 }, { plan: 2 }]);
    expect(seenAt(planned, 2)).toEqual(['ask', 'answer', 'go right', 'right']);
    const lateLeft = plan(fileOf(...rewound, user('u3', 'a2', 'further left')));
    expect(lateLeft.commits[lastTip(lateLeft)]?.summary).toBe('further left');
  });

  test('[F3] parallel tool calls and progress are one conversation', () => {
    const lines = [
      user('u1', null, 'do'),
      assistant('a1', 'u1', [use('X')], { id: 'm' }),
      assistant('a2', 'a1', [use('Y')], { id: 'm' }),
      progress('p1', 'a1'),
      result('r1', 'a1', 'X'),
      progress('p2', 'a2'),
      result('r2', 'p2', 'Y'),
      assistant('a3', 'r2', 'both done'),
    ];
    const planned = plan(fileOf(...lines));
    expect(planned.commits).toHaveLength(1);
    expect(planned.tips).toEqual([{ plan: 0 }]);
  });

  test('a rewind into a round of calls includes the whole round', () => {
    const planned = plan(
      fileOf(
        user('u1', null, 'do'),
        assistant('a1', 'u1', [use('X')]),
        result('r1', 'a1', 'X', 'it was 7'),
        assistant('a2', 'r1', 'seven'),
        user('v1', 'a1', 'other'),
        assistant('b1', 'v1', 'fine'),
      ),
    );
    expect(seenAt(planned, lastTip(planned))).toEqual(['do', 'X', 'it was 7', 'other', 'fine']);
  });

  test('a command before a resumed session is a branch, and no turn in the other', () => {
    const closing = { ...assistant('b1', 'c0', 'x'), message: { model: '<synthetic>', content: [{ type: 'text', text: 'No response requested.' }] } };
    const caveat = user('c0', 'a1', '<local-command-caveat>Caveat</local-command-caveat>', { isMeta: true });
    const planned = plan(
      fileOf(
        user('u1', null, 'ask'),
        assistant('a1', 'u1', 'answer'),
        caveat,
        user('c1', 'c0', '<command-name>/exit</command-name>'),
        user('c2', 'c1', '<local-command-stdout>Bye</local-command-stdout>'),
        closing,
        user('u2', 'b1', 'next day'),
      ),
    );
    expect(planned.commits.map(({ summary: text, parent }) => [text, parent])).toEqual([
      ['ask', null],
      ['/exit', { plan: 0 }],
      ['next day', { plan: 0 }],
    ]);
  });

  test('a second answer to one prompt is a branch', () => {
    const planned = plan(fileOf(user('u1', null, 'ask'), assistant('a1', 'u1', 'no'), assistant('b1', 'u1', 'yes')));
    expect(planned.tips.map((tip) => ('plan' in tip ? seenAt(planned, tip.plan) : []))).toEqual([
      ['ask', 'no'],
      ['ask', 'yes'],
    ]);
  });

  test('a leaf of bookkeeping is no branch', () => {
    const planned = plan(
      fileOf(
        user('u1', null, 'ask'),
        assistant('a1', 'u1', 'answer'),
        system('s1', 'a1', 'turn_duration'),
        user('u2', 'a1', 'next'),
        progress('p1', null),
      ),
    );
    expect(planned.tips).toHaveLength(1);
    expect(planned.commits).toHaveLength(2);
  });

  test('[F11] unclear links are resolved as the agent does, with a note', () => {
    const cases: readonly (readonly [string, readonly Line[], readonly string[], RegExp])[] = [
      [
        'a parent that is not there',
        [user('u1', null, 'a'), assistant('a1', 'u1', 'b'), user('u2', 'nowhere', 'c')],
        ['a', 'b', 'c'],
        /nowhere does not exist: read as a child/,
      ],
      ['its own parent', [user('u1', null, 'a'), assistant('a1', 'u1', 'b'), user('u2', 'u2', 'c')], ['a', 'b', 'c'], /names itself as its parent/],
      [
        'a cycle',
        [user('u1', null, 'a'), assistant('a1', 'u1', 'b'), user('u2', 'a2', 'c'), assistant('a2', 'u2', 'd')],
        ['a', 'b', 'c', 'd'],
        /is a descendant of the record/,
      ],
      ['the first of a file', [user('u1', 'elsewhere', 'a'), assistant('a1', 'u1', 'b')], ['a', 'b'], /elsewhere does not exist: read as a root/],
    ];
    for (const [name, lines, seen, note] of cases) {
      const planned = plan(fileOf(...lines));
      expect(seenAt(planned, lastTip(planned)), name).toEqual(seen);
      expect(planned.notes.map(({ reason }) => reason).join('\n'), name).toMatch(note);
      expect(planned.skipped, name).toEqual([]);
    }
  });

  test('a record written before its parent comes after it', () => {
    const file = fileOf(user('u1', null, 'a'), assistant('a1', 'u1', 'b'), assistant('a2', 'u2', 'd'), user('u2', 'a1', 'c'), user('u3', 'a2', 'e'));
    const planned = plan(file);
    expect(seenAt(planned, lastTip(planned))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(coverage(file, planned).every((times) => times === 1)).toBe(true);
  });

  test('[F11] of two records with one id the last is read, and the other is named', () => {
    const file = fileOf(user('u1', null, 'a'), assistant('a1', 'u1', 'wrong'), assistant('a1', 'u1', 'right'), user('u2', 'a1', 'c'));
    const planned = plan(file);
    expect(seenAt(planned, lastTip(planned))).toEqual(['a', 'right', 'c']);
    expect(planned.skipped).toEqual([{ line: 2, reason: expect.stringContaining('Another record with the id a1 comes later') }]);
    expect(planned.side).toHaveLength(1);
  });
});

describe('compactions', () => {
  const before = [user('u1', null, 'ask'), assistant('a1', 'u1', 'answer')];
  const after = [user('u2', 's1', 'on'), assistant('a2', 'u2', 'further')];

  test('[F5] boundary and summary are one commit on top of the commit before', () => {
    const planned = plan(fileOf(...before, boundary('b1', 'a1'), summary('s1', 'b1'), ...after));
    expect(planned.commits.map(({ type, parent, records }) => [type, parent, records])).toEqual([
      ['delta', null, ['u1', 'a1']],
      ['compaction', { plan: 0 }, ['b1', 's1']],
      ['delta', { plan: 1 }, ['u2', 'a2']],
    ]);
    expect(seenAt(planned, 2)).toEqual(['What happened so far.', 'on', 'further']);
  });

  test('[F4] a root with a missing parent joins the record before it, with a note', () => {
    for (const named of [undefined, 'nowhere']) {
      const planned = plan(fileOf(...before, boundary('b1', named), summary('s1', 'b1'), ...after));
      expect(planned.commits[1]?.parent).toEqual({ plan: 0 });
      expect(planned.notes).toHaveLength(1);
    }
  });

  test('[F5] a boundary with an empty logical parent follows its parent, without a note', () => {
    const empty = system('b1', 'a1', 'compact_boundary', { logicalParentUuid: '', content: 'Conversation compacted' });
    const planned = plan(fileOf(...before, empty, summary('s1', 'b1'), ...after));
    expect(planned.commits[1]?.parent).toEqual({ plan: 0 });
    expect(planned.notes).toEqual([]);
  });

  test('[F5] kept messages follow the summary and also stay where they were', () => {
    const file = fileOf(...before, boundary('b1', 'a1', ['a1']), summary('s1', 'b1'), ...after);
    const planned = plan(file);
    expect(seenAt(planned, 2)).toEqual(['What happened so far.', 'answer', 'on', 'further']);
    expect(coverage(file, planned).every((times) => times === 1)).toBe(true);
    const compaction = planned.commits[1];
    expect(compaction && claudeCode.parse(deltaOf(file, compaction)).entries).toEqual(compaction?.entries);
  });

  test('[R2] a rewind to a kept message continues the compaction, cut at that message', () => {
    const kept = [
      ...before,
      user('u2', 'a1', 'more'),
      assistant('a2', 'u2', 'again'),
      boundary('b1', 'a2', ['a1', 'u2', 'a2']),
      summary('s1', 'b1'),
      user('u3', 's1', 'on'),
    ];
    const last = plan(fileOf(...kept, user('v3', 'a2', 'another way')));
    expect(seenAt(last, lastTip(last))).toEqual(['What happened so far.', 'answer', 'more', 'again', 'another way']);
    const file = fileOf(...kept, user('v3', 'a1', 'earlier'));
    const earlier = plan(file);
    expect(seenAt(earlier, lastTip(earlier))).toEqual(['What happened so far.', 'answer', 'earlier']);
    expect(coverage(file, earlier).every((times) => times === 1)).toBe(true);
  });

  test('a rewind to a message that a compaction dropped has the old history', () => {
    const planned = plan(
      fileOf(
        ...before,
        user('u2', 'a1', 'more'),
        assistant('a2', 'u2', 'again'),
        boundary('b1', 'a2', ['a2']),
        summary('s1', 'b1'),
        user('v2', 'a1', 'back'),
      ),
    );
    expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'back']);
  });
});

describe('subagents', () => {
  const side = { isSidechain: true };

  test('[F6] subagent records in the main file are a chain started by their call', () => {
    const planned = plan(
      fileOf(
        user('u1', null, 'ask'),
        assistant('a1', 'u1', [use('T', 'Task', { prompt: 'look', subagent_type: 'Explore' })]),
        user('x1', null, 'look', side),
        assistant('x2', 'x1', 'found', side),
        result('r1', 'a1', 'T', 'found'),
        assistant('a2', 'r1', 'thanks'),
      ),
    );
    const chain = planned.commits.find(({ template }) => template === 'claude-code/Explore');
    expect(chain).toMatchObject({ parent: null, startedBy: { toolCallId: 'T' }, records: ['x1', 'x2'] });
    expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'T', 'found', 'thanks']);
    expect(planned.commits[0]?.records).toContain('call:T');
  });

  test("[F6] a subagent's file is linked by its metadata file", () => {
    const own = plan(fileOf(user('x1', null, 'look', side), assistant('x2', 'x1', 'found', side)), {
      path: '/p/11111111-1111-4111-8111-111111111111/subagents/agent-a1.jsonl',
      meta: { agentType: 'Explore', toolUseId: 'T' },
    });
    expect(own.commits[0]).toMatchObject({ template: 'claude-code/Explore', startedBy: { toolCallId: 'T' } });
    expect(own.sessionId).toBe('11111111-1111-4111-8111-111111111111');
  });

  test('[F6] the session names the call of a subagent without a metadata file', () => {
    const session = fileOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', [use('S', 'Task', { prompt: 'no' }), use('T', 'Task', { prompt: 'look', subagent_type: 'Explore' })]),
      result('r1', 'a1', 'T', 'found', { toolUseResult: { agentId: 'x1' } }),
      assistant('a2', 'r1', 'the agent is "x1", the call "T"'),
    );
    expect(agentIn(session, 'x1')).toEqual({ toolUseId: 'T', agentType: 'Explore' });
    expect(agentIn(session, 'x2')).toBeUndefined();
  });
});

describe('forks and growth', () => {
  const shared = [user('u1', null, 'ask'), assistant('a1', 'u1', 'answer')];
  const known = (...uuids: readonly string[]) => ({ known: { has: (uuid: string) => uuids.includes(uuid) } });

  test('[F7] repeated records are side data, and new ones continue the origin', () => {
    const file = fileOf({ type: 'mode', mode: 'normal' }, ...shared, user('v2', 'a1', 'in a fork'), assistant('b2', 'v2', 'yes'));
    const planned = plan(file, known('u1', 'a1'));
    expect(planned.commits.map(({ parent, records }) => [parent, records])).toEqual([[{ record: 'a1' }, ['v2', 'b2']]]);
    expect(coverage(file, planned).every((times) => times === 1)).toBe(true);
    expect(planned.tips).toEqual([{ plan: 0 }]);
    expect(plan(file, known('u1', 'a1', 'v2', 'b2'))).toMatchObject({ commits: [], tips: [{ record: 'b2' }] });
  });

  test('[F7] a fork with new ids is recognized by the ids that it names', () => {
    const file = fileOf(
      ...shared.map((line) => ({
        ...line,
        uuid: `n-${String(line.uuid)}`,
        parentUuid: line.parentUuid === null ? null : `n-${String(line.parentUuid)}`,
        forkedFrom: { sessionId: 'o', messageUuid: line.uuid },
      })),
      user('v2', 'n-a1', 'in a fork'),
    );
    expect(plan(file, known('u1', 'a1')).commits.map(({ parent, records }) => [parent, records])).toEqual([[{ record: 'a1' }, ['v2']]]);
    expect(plan(file).commits).toHaveLength(2);
  });

  test('[F8] a grown file adds only its new turns, wherever it was cut', () => {
    const file = fileOf(...twoTurns, user('u3', 'a2', 'third'), assistant('a3', 'u3', 'three'));
    const lineEnds = [...file.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at + 1);
    for (const end of lineEnds) {
      const first = plan(file.subarray(0, end));
      const held = new Set(first.commits.flatMap(({ records }) => records));
      const second = plan(file, { resumeAt: first.end, known: { has: (uuid) => held.has(uuid) } });
      const deltas = [...first.commits.map((commit) => deltaOf(file, commit)), ...second.commits.map((commit) => deltaOf(file, commit))];
      if (first.commits.length > 0) expect(Buffer.concat(deltas), `cut at ${end}`).toEqual(file);
      for (const { parent } of second.commits.slice(0, 1)) expect(parent === null || 'record' in parent, `cut at ${end}`).toBe(true);
    }
    const again = plan(file, { resumeAt: file.length, known: { has: () => true } });
    expect(again.commits).toEqual([]);
    expect(again.side).toEqual([]);
  });

  test('[F8] half a last line is left for the next import', () => {
    const whole = fileOf(...twoTurns, user('u3', 'a2', 'third'));
    const half = whole.subarray(0, whole.length - 40);
    const first = plan(half);
    expect(first.end).toBeLessThan(half.length);
    expect(first.skipped).toEqual([{ line: 8, reason: expect.stringContaining('the last line is incomplete') }]);
    expect(coverage(half, first).every((times) => times === 1)).toBe(true);
    const held = new Set(first.commits.flatMap(({ records }) => records));
    const second = plan(whole, { resumeAt: first.end, known: { has: (uuid) => held.has(uuid) } });
    expect(second.commits.map(({ parent, records }) => [parent, records])).toEqual([[{ record: 'a2' }, ['u3']]]);
    expect(
      Buffer.concat([...first.commits.map((commit) => deltaOf(whole, commit)), ...second.commits.map((commit) => deltaOf(whole, commit))]),
    ).toEqual(whole);
  });

  test('[F8] a last line without a newline is imported, and the later newline adds none', () => {
    const whole = fileOf(...shared, user('u2', 'a1', 'on'));
    const first = plan(whole.subarray(0, whole.length - 1));
    expect(first.end).toBe(whole.length - 1);
    const grown = Buffer.concat([whole, fileOf(assistant('a2', 'u2', 'more'))]);
    const second = plan(grown, { resumeAt: first.end });
    const deltas = [...first.commits.map((commit) => deltaOf(whole, commit)), ...second.commits.map((commit) => deltaOf(grown, commit))];
    expect(Buffer.from(claudeCode.concat(deltas))).toEqual(grown);
  });

  test('a rewind into the stored part names the record that it continues', () => {
    const file = fileOf(...twoTurns, user('v2', 'a1', 'other way'));
    const start = fileOf(...twoTurns).length;
    const planned = plan(file, { resumeAt: start, known: { has: (uuid) => /^[ua]\d$/.test(uuid) } });
    expect(planned.commits.map(({ parent, records }) => [parent, records])).toEqual([[{ record: 'a1' }, ['v2']]]);
    expect(planned.tips).toEqual([{ record: 'a2' }, { plan: 0 }]);
  });
});

test('an answer that a file holds twice is gathered from both copies', () => {
  const planned = plan(
    fileOf(
      user('u1', null, 'ask'),
      assistant('a1', 'u1', 'answer', { id: 'm' }),
      user('v1', null, 'ask'),
      assistant('b1', 'v1', 'answer', { id: 'm' }),
      user('v2', 'b1', 'on'),
    ),
  );
  expect(seenAt(planned, lastTip(planned))).toEqual(['ask', 'answer', 'answer', 'on']);
  expect(lineage(planned, lastTip(planned))).toHaveLength(2);
});

test('reminders are entries in their places', () => {
  const planned = plan(
    fileOf(user('u1', null, 'ask'), reminder('t1', 'u1', '<system-reminder>now</system-reminder>'), assistant('a1', 't1', 'answer')),
  );
  expect(planned.commits[0]?.entries.map(({ text, role, marks }) => [text, role, marks])).toEqual([
    ['ask', 'user', undefined],
    ['<system-reminder>now</system-reminder>', 'system', ['meta', 'attachment', 'note']],
    ['answer', 'assistant', undefined],
  ]);
});
