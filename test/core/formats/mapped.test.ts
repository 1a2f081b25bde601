import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, tips } from '../../../src/core/chain/index.js';
import { type Mapping, type MappingGroup, type MappingRule, mapping as mappingForm } from '../../../src/core/contract/index.js';
import { builtInMappings } from '../../../src/core/formats/index.js';
import { listSources, previewMapping } from '../../../src/core/import/index.js';
import { importPaths } from '../../../src/core/import/paths.js';
import { atOnce } from '../../../src/core/project/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { bytesOfFile, importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { reordered } from '../../support/reordered.js';
import { root } from '../../support/source.js';

const fixture = (name: string): string => join(root, 'test', 'fixtures', 'mapped', name);

/** By hand from the files: what the first entries are, how many there are, and one usage. */
const expected: readonly { file: string; agent: string; count: number; first: readonly string[]; pairs: number; usage?: object; machine?: string }[] =
  [
    {
      file: 'openhands-v0.json',
      agent: 'openhands',
      count: 6,
      first: [
        'user text  Please create a simple 2048 game. No nee',
        "assistant text  I'll help you create a simple 2048 game ",
        'assistant tool_call str_replace_editor ',
      ],
      pairs: 1,
      usage: { input: 4, output: 1135, cacheRead: 0, cacheWrite: 3482 },
    },
    {
      file: 'swe-agent.traj',
      agent: 'swe-agent',
      count: 17,
      first: ['system text  SETTING: You are an autonomous programme', "user text  We're currently solving the following is"],
      pairs: 5,
    },
    {
      file: 'mini-swe-agent.traj.json',
      agent: 'mini-swe-agent',
      count: 22,
      first: ['system text  You are a helpful assistant that can int'],
      pairs: 0,
    },
    { file: 'droid.jsonl', agent: 'droid', count: 13, first: ['user text  Update the first comment in @index.ts to'], pairs: 5 },
    {
      file: 'kimi.wire.jsonl',
      agent: 'kimi',
      count: 10,
      first: ['system text  You are Kimi Code CLI, an interactive ge'],
      pairs: 2,
      usage: { input: 10982, output: 75, cacheRead: 1792, cacheWrite: 0 },
    },
    { file: 'adk.session.json', agent: 'adk', count: 6, first: ['user text  hi', 'assistant text  Hello! 👋  How can I help you today? '], pairs: 1 },
    {
      file: 'pydantic-ai.json',
      agent: 'pydantic-ai',
      count: 7,
      first: ['system text  Be concise.', 'user text  Look at this', 'assistant thinking  A tool is needed.', 'assistant tool_call get_weather '],
      pairs: 1,
      usage: { input: 20, output: 14, cacheRead: 100, cacheWrite: 0 },
    },
    {
      file: 'openhands-v1.jsonl',
      agent: 'openhands',
      count: 9,
      first: [
        'assistant thinking  Let me analyze the task. I need to:',
        'assistant text  <think>Let me analyze the task. I need t',
        'assistant tool_call terminal ',
      ],
      pairs: 2,
      machine: 'runtime-sfzcsbejkqbokdub-7c4d4748c7-pb2st',
    },
    {
      file: 'antigravity.jsonl',
      agent: 'antigravity',
      count: 17,
      first: ['user text  <USER_REQUEST>', 'assistant thinking  Listing the directory.', 'assistant tool_call list_dir '],
      pairs: 2,
    },
    { file: 'vercel-ai.json', agent: 'vercel-ai', count: 8, first: ['user text  What is in this picture?'], pairs: 2 },
  ];

describe('[F43] the mappings that Stemma brings along', () => {
  test('a call of OpenHands 0.x has the arguments of the model', () => {
    const chain = emptyChain();
    importInto(chain, fixture('openhands-v0.json'));
    const [tip] = tips(chain, {});
    const [call] = entries(chain, { id: tip?.id as never, stop: 'root' }).entries.filter(({ kind }) => kind === 'tool_call');
    expect(Object.keys(call?.arguments as object)).toEqual(['command', 'path', 'file_text']);
  });

  test.each(expected)('$file says the same with the members of its objects in another order', ({ file, count }) => {
    const path = join(scratch(), file);
    writeFileSync(path, reordered(readFileSync(fixture(file), 'utf8')));
    const [own, other] = [fixture(file), path].map((one) => {
      const chain = emptyChain();
      importInto(chain, one);
      const tip = tips(chain, {})[0]?.id as ContextId;
      return entries(chain, { id: tip, stop: 'root' })
        .entries.filter(({ kind }) => kind !== 'event')
        .map(({ kind, role, text, toolName }) => ({ kind, role, text, toolName }));
    });
    expect(own).toHaveLength(count);
    expect(other).toEqual(own);
  });

  test.each(expected)('$file is read, and comes back byte for byte', ({ file, agent, count, first, pairs, usage, machine = null }) => {
    const chain = emptyChain();
    const path = fixture(file);
    expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [] });
    const all = tips(chain, {});
    expect(new Set(all.map(({ template }) => template))).toEqual(new Set([agent]));
    const [tip] = all;
    expect(tip?.machine).toBe(machine);
    const told = said(chain, tip?.id as never, 'root');
    expect(told.slice(0, first.length)).toEqual(first);
    const list = entries(chain, { id: tip?.id as never, stop: 'root' }).entries.filter(({ kind }) => kind !== 'event');
    expect(list).toHaveLength(count);
    const calls = new Set(list.flatMap(({ kind, toolCallId }) => (kind === 'tool_call' && toolCallId ? [toolCallId] : [])));
    expect(list.filter(({ kind, toolCallId }) => kind === 'tool_result' && calls.has(toolCallId ?? ''))).toHaveLength(pairs);
    if (usage) expect(chain.db.all('SELECT input, output, cacheRead, cacheWrite FROM usageCall ORDER BY no')[0]).toEqual(usage);
    expect(bytesOfFile(chain, path).equals(readFileSync(path))).toBe(true);
    expect(importInto(chain, path)).toMatchObject({ commits: 0 });
  });

  test('each has the documented form, and says what it was tested on or counts as experimental', () => {
    for (const one of builtInMappings) expect(mappingForm.parse(one)).toEqual(one);
    const tested = new Set(builtInMappings.filter(({ testedOn }) => testedOn !== undefined).map(({ name }) => name));
    expect(expected.map(({ agent }) => agent).filter((name) => !tested.has(name))).toEqual([]);
    const met = new Set(builtInMappings.filter((one) => one.testedOn !== undefined && !one.experimental).map(({ name }) => name));
    const experimental = new Set(builtInMappings.map(({ name }) => name).filter((name) => !met.has(name)));
    // The window marks these (src/renderer/parts/agents.ts).
    expect([...experimental].toSorted()).toEqual(['goose', 'managed-agent', 'openai-agents', 'pydantic-ai', 'specstory', 'vercel-ai', 'zed']);
  });
});

const mine: Mapping = {
  stemmaMapping: 1,
  name: 'my-tool',
  sessions: '$.chats[*]',
  records: '$.turns[*]',
  session: { id: '$.id', title: '$.name', cwd: '$.folder' },
  record: { id: '$.n', parent: '$.after', at: '$.time' },
  entries: [
    { when: "@.who == 'human'", kind: 'text', role: 'user', text: '$.said' },
    {
      when: "@.who != 'human'",
      each: '$.parts[*]',
      of: [
        { when: '@.think', kind: 'thinking', text: '$.think' },
        {
          when: '@.say',
          kind: 'text',
          role: { path: '^$.who', map: { bot: 'assistant' } },
          text: '$.say',
          usage: { input: '^$.cost.in', output: '^$.cost.out' },
        },
        { when: '@.run', kind: 'tool_call', toolName: '$.run', toolCallId: '$.id', arguments: { path: '$.with', json: true } },
        { when: '@.got', kind: 'tool_result', toolCallId: '$.id', text: '$.got', isError: '@.bad == true' },
      ],
    },
  ],
};
const chats = {
  chats: [
    {
      id: 'c1',
      name: 'First chat',
      folder: '/work',
      turns: [
        { n: 1, who: 'human', said: 'Hello', time: '2026-01-01T00:00:00Z', odd: { kept: true } },
        {
          n: 2,
          who: 'bot',
          time: 1767225601,
          parts: [{ think: 'Hm.' }, { say: 'Hi' }, { run: 'ls', id: 't1', with: '{"path":"."}' }],
          cost: { in: 5, out: 2 },
        },
        { n: 3, who: 'tool', parts: [{ got: 'no such folder', id: 't1', bad: true }] },
        { n: 4, who: 'bot', after: 1, parts: [{ say: 'Another answer' }] },
      ],
    },
    {
      id: 'c2',
      turns: [
        { n: 1, who: 'human', said: 'Only this' },
        { n: 2, who: 'nobody' },
      ],
    },
  ],
};

const written = (content: unknown, name = 'chats.json'): string => {
  const path = join(scratch(), name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('[F43] a mapping that a person wrote', () => {
  test('a preview shows what it makes of a file, and imports nothing', () => {
    const preview = previewMapping(written(chats), mine);
    expect(preview.sessions).toEqual([
      { id: 'c1', title: 'First chat', records: 4, entries: 6 },
      { id: 'c2', records: 2, entries: 1 },
    ]);
    expect(preview.unread).toBe(1);
    expect(preview.entries.map(({ role, kind, text, toolName, isError, at }) => [role, kind, text ?? toolName, isError ?? false, at])).toEqual([
      ['user', 'text', 'Hello', false, '2026-01-01T00:00:00.000Z'],
      ['assistant', 'thinking', 'Hm.', false, '2026-01-01T00:00:01.000Z'],
      ['assistant', 'text', 'Hi', false, '2026-01-01T00:00:01.000Z'],
      ['assistant', 'tool_call', 'ls', false, '2026-01-01T00:00:01.000Z'],
      ['tool', 'tool_result', 'no such folder', true, undefined],
      ['assistant', 'text', 'Another answer', false, undefined],
    ]);
    expect(previewMapping(written('{"other": 1}'), mine).problem).toBe('sessions ($.chats[*]) selects nothing in this file');
    const { sessions: _, ...lines } = mine;
    expect(previewMapping(written('{"other": 1}'), lines).problem).toBe('records ($.turns[*]) selects nothing in this file');
    const none = { ...mine, entries: mine.entries.slice(0, 1), records: '$.turns[1:]' };
    expect(previewMapping(written(chats), none).problem).toBe('no rule of entries finds an entry in the 4 records');
    expect(previewMapping(written('plain text'), mine).problem).toBe('the file is neither JSON nor lines of JSON');
    expect(previewMapping('/nowhere/at-all.json', mine).problem).toContain('does not exist');
  });

  test('the list of sessions says that it was a mapping of the person', () => {
    const chain = emptyChain();
    atOnce(importPaths(chain, { paths: [written(chats)], mapping: mine }));
    importInto(chain, join(root, 'test/fixtures/mapped/droid.jsonl'));
    importInto(chain, join(root, 'test/fixtures/pi/tour.jsonl'));
    const own = listSessions(chain, {}).sessions.map(({ agent, hasOwnMapping }) => `${agent} ${hasOwnMapping ?? false}`);
    expect([...new Set(own)].toSorted()).toEqual(['droid false', 'my-tool true', 'pi false']);
  });

  test('[F9] a record or part without a matching rule is a hidden event that the preview counts', () => {
    const path = written(
      JSON.stringify([
        {
          type: 'say',
          parts: [
            { kind: 'odd', x: 1 },
            { kind: 'words', text: 'Hello' },
          ],
        },
        { type: 'mystery', y: 2 },
      ]),
    );
    const mapping: Mapping = {
      stemmaMapping: 1,
      name: 'odd-tool',
      entries: [{ when: "@.type == 'say'", each: '$.parts[*]', of: [{ when: "@.kind == 'words'", kind: 'text', role: 'user', text: '$.text' }] }],
    };
    expect(previewMapping(path, mapping)).toMatchObject({ sessions: [{ records: 2, entries: 1 }], unread: 1 });
    const chain = emptyChain();
    const { tips: all } = atOnce(importPaths(chain, { paths: [path], mapping }));
    const found = entries(chain, { id: all[0] as ContextId, hidden: true }).entries;
    expect(found.map(({ kind, toolName, text, result }) => [kind, toolName ?? text, result])).toEqual([
      ['event', 'odd', { kind: 'odd', x: 1 }],
      ['text', 'Hello', undefined],
      ['event', 'mystery', { type: 'mystery', y: 2 }],
    ]);
    const odd = written(JSON.stringify([{ type: 'say', parts: [{ kind: 'odd' }] }]));
    expect(previewMapping(odd, mapping).problem).toBe('no rule of entries finds an entry in the record');
  });

  test('sessions, branches, pairs and unknown records are imported, and the file comes back', () => {
    const chain = emptyChain();
    const path = written(chats);
    const result = atOnce(importPaths(chain, { paths: [path], mapping: mine }));
    expect(result).toMatchObject({ sessions: 2, skipped: [] });
    const branches = tips(chain, { sessionId: 'c1' }).map(({ id }) => said(chain, id, 'root'));
    expect(branches.toSorted((a, b) => a.length - b.length)).toEqual([
      ['user text  Hello', 'assistant text  Another answer'],
      ['user text  Hello', 'assistant thinking  Hm.', 'assistant text  Hi', 'assistant tool_call ls ', 'tool tool_result ls no such folder'],
    ]);
    expect(bytesOfFile(chain, path).equals(readFileSync(path))).toBe(true);
    const lines = listSources(chain).find(({ sessionId }) => sessionId === 'c2');
    expect(bytesOfFile(chain, lines?.path ?? '').toString()).toContain('"who":"nobody"');
    expect(listSources(chain).find(({ sessionId }) => sessionId === 'c1')).toMatchObject({ title: 'First chat', cwd: '/work', format: 'mapped-v1' });
    // A grown file adds only what is new, under the same keys.
    const [first] = chats.chats;
    const more = { chats: [{ ...first, turns: [...(first?.turns ?? []), { n: 5, who: 'human', said: 'More', after: 4 }] }, chats.chats[1]] };
    writeFileSync(path, JSON.stringify(more));
    expect(atOnce(importPaths(chain, { paths: [path], mapping: mine }))).toMatchObject({ commits: 1, entries: 1 });
  });

  test('JSON Lines are a list of records, and a file without an entry is named', () => {
    const chain = emptyChain();
    const lines = ['{"r":"user","t":"One"}', 'not json', '{"r":"assistant","t":"Two"}'].join('\n');
    const simple: Mapping = { stemmaMapping: 1, name: 'lines', entries: [{ kind: 'text', role: '$.r', text: '$.t' }] };
    const path = written(lines, 'lines.jsonl');
    expect(previewMapping(path, simple)).toMatchObject({ broken: [2], unread: 0 });
    expect(atOnce(importPaths(chain, { paths: [path], mapping: simple }))).toMatchObject({
      sessions: 1,
      entries: 2,
      skipped: [{ path, line: 2, reason: 'not JSON' }],
    });
    expect(tips(chain, {}).map(({ id, sessionId }) => [sessionId, said(chain, id, 'root')])).toEqual([
      ['lines', ['user text  One', 'assistant text  Two']],
    ]);
    const empty = written('[]', 'empty.json');
    const refused = atOnce(importPaths(chain, { paths: [empty], mapping: simple })).skipped;
    expect(refused.map(({ path: where, reason }) => [basename(where), reason])).toEqual([['empty.json', 'the mapping finds no entries in it']]);
  });

  test('a wrong mapping is refused, and the message names what is wrong', () => {
    const bad = { ...mine, records: '$.turns[' };
    expect(() => previewMapping(written(chats), bad)).toThrow('records: "$.turns[" is no JSONPath');
    const [asked, group] = mine.entries as [MappingRule, MappingGroup];
    const filter: Mapping = { ...mine, entries: [asked, { ...group, of: [{ kind: 'text', when: "@.a == 'b" }] }] };
    expect(() => previewMapping(written(chats), filter)).toThrow('entries.1.of.0.when: ');
    const role: Mapping = { ...mine, entries: [{ ...asked, role: 'human' }] };
    expect(() => previewMapping(written(chats), role)).toThrow('entries.0.role: "human" is no role. Use a path, or one of system, user');
    expect(() => mappingForm.parse({ ...mine, extra: 1 })).toThrow('extra');
    expect(() => mappingForm.parse({ ...mine, stemmaMapping: 2 })).toThrow();
  });

  test('[F10] hostile values are texts and keys like any other', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    expect(previewMapping(written(`{"chats": ${deep}}`), mine).problem).toBeDefined();
    const odd = written(
      '{"chats":[{"id":"__proto__","turns":[{"n":"__proto__","who":"human","said":"\\ud800"},{"n":"__proto__","who":"human","said":"x"}]}]}',
    );
    const chain = emptyChain();
    expect(atOnce(importPaths(chain, { paths: [odd], mapping: mine }))).toMatchObject({ sessions: 1, entries: 2 });
  });
});
