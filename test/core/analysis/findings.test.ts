import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';
import { laterRefusal } from '../../support/refusal.js';

/** Lines of a Claude Code session: prompts, tool calls and their results. */
function sessionOf(id: string, steps: readonly Step[]): string {
  let at = Date.parse('2026-03-01T10:00:00.000Z');
  let parent: string | null = null;
  const lines: string[] = [];
  const add = (type: string, message: object, more: object = {}): void => {
    const uuid = `${id}-${lines.length}`;
    at += 1_000;
    lines.push(
      JSON.stringify({
        type,
        uuid,
        parentUuid: parent,
        sessionId: id,
        cwd: '/repo',
        timestamp: new Date(at).toISOString(),
        version: '2.0.0',
        message,
        ...more,
      }),
    );
    parent = uuid;
  };
  for (const [place, step] of steps.entries()) {
    if ('prompt' in step) {
      add('user', { role: 'user', content: step.prompt });
      continue;
    }
    if ('waitMs' in step) {
      at += step.waitMs;
      continue;
    }
    if ('compactedTo' in step) {
      const logicalParentUuid = parent;
      parent = null;
      add('system', {}, { subtype: 'compact_boundary', content: 'Conversation compacted', logicalParentUuid });
      add('user', { role: 'user', content: step.compactedTo }, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
      continue;
    }
    const call = `${id}-call-${place}`;
    add('assistant', {
      id: `msg-${id}-${place}`,
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [{ type: 'tool_use', id: call, name: step.tool, input: step.input }],
      usage: { input_tokens: 5, output_tokens: 5, ...step.usage },
      stop_reason: 'tool_use',
    });
    if (!step.isOpen)
      add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: 'done', ...(step.fails && { is_error: true }) }] });
  }
  return lines.map((line) => `${line}\n`).join('');
}

type Step =
  | { readonly prompt: string }
  | { readonly waitMs: number }
  | { readonly compactedTo: string }
  | {
      readonly tool: string;
      readonly input: object;
      readonly fails?: boolean;
      readonly isOpen?: boolean;
      readonly usage?: Readonly<Record<string, number>>;
    };

const prompt = { prompt: 'Please do it' };
const read = (file: string): Step => ({ tool: 'Read', input: { file_path: file } });
const edit = (file: string): Step => ({ tool: 'Edit', input: { file_path: file, old_string: 'a', new_string: 'b' } });
const bash = (command: string, fails = false): Step => ({ tool: 'Bash', input: { command }, fails });
const counted = (usage: Readonly<Record<string, number>>): Step => ({ tool: 'Read', input: { file_path: '/repo/a.md' }, usage });
const written = { cache_creation_input_tokens: 60_000, cache_read_input_tokens: 0 };
const todo = (...tasks: readonly (readonly [string, string])[]): Step => ({
  tool: 'TodoWrite',
  input: { todos: tasks.map(([content, status]) => ({ content, status, activeForm: content })) },
});
const tasks = todo(['Write the parser', 'completed'], ['Write the tests', 'pending']);

const fixture = (name: string): string => join(import.meta.dirname, '..', '..', 'fixtures', name);

/** The rules that find something in a session of these steps. */
async function foundIn(steps: readonly Step[]) {
  const opened = door();
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, sessionOf('s', steps));
  for await (const _ of await opened.client.import.run({ paths: [path] }));
  const { findings, problems } = await opened.client.finding.list({});
  expect(problems).toEqual([]);
  return { ...opened, findings, rules: [...new Set(findings.map(({ rule }) => rule))].sort() };
}

describe('findings', () => {
  test.each<[string, readonly Step[], readonly string[]]>([
    ['a session without any', [prompt, read('/repo/a.ts'), edit('/repo/a.ts'), bash('npm test')], []],
    ['the same call five times', [prompt, ...Array.from({ length: 5 }, () => bash('ls'))], ['repeated-call']],
    ['the same call four times', [prompt, ...Array.from({ length: 4 }, () => bash('ls'))], []],
    ['an edit of a file that was not read', [prompt, edit('/repo/a.ts'), bash('npm test')], ['edit-without-read']],
    ['five failures in a row', [prompt, ...[1, 2, 3, 4, 5].map((n) => bash(`make ${n}`, true))], ['error-retried']],
    [
      'failures with a success in between are none',
      [prompt, ...[1, 2, 3].map((n) => bash(`make ${n}`, true)), bash('ls'), ...[4, 5].map((n) => bash(`make ${n}`, true))],
      [],
    ],
    ['source without a test afterwards', [prompt, read('/repo/a.ts'), bash('npm test'), edit('/repo/a.ts')], ['test-never-run']],
    ['text files need no test', [prompt, read('/repo/a.md'), edit('/repo/a.md')], []],
    ['rm -rf', [prompt, bash('cd /repo && rm -rf build')], ['destructive-command']],
    ['git reset --hard', [prompt, bash('git reset --hard HEAD~1')], ['destructive-command']],
    ['a forced push', [prompt, bash('git push origin main --force')], ['destructive-command']],
    ['rm of one file', [prompt, bash('rm build/x.o')], []],
    ['a key in a prompt', [{ prompt: `Use the key sk-${'aB3'.repeat(12)}` }, bash('ls')], ['secret-in-prompt']],
    ['a word with sk-', [{ prompt: 'Assess the risk-free task-list' }, bash('ls')], []],
    ['a cache that expired in a long break', [prompt, counted(written), { waitMs: 7_200_000 }, prompt, counted(written)], ['cache-lost']],
    ['a cache that was read again', [prompt, counted(written), prompt, counted({ cache_read_input_tokens: 60_000 })], []],
    [
      'a small loss of cached tokens',
      [
        prompt,
        counted({ ...written, cache_creation_input_tokens: 9_000 }),
        { waitMs: 7_200_000 },
        prompt,
        counted({ ...written, cache_creation_input_tokens: 9_000 }),
      ],
      [],
    ],
    ['a context over 90 %', [prompt, counted({ input_tokens: 185_000 })], ['context-full']],
    ['a context of 85 %', [prompt, counted({ input_tokens: 170_000 })], []],
    ['a compaction that dropped an open task', [prompt, tasks, { compactedTo: 'The parser is written.' }, prompt], ['task-dropped']],
    ['a compaction that names the open task', [prompt, tasks, { compactedTo: 'Next: write the tests.' }, prompt], []],
    ['a session that ends in a call', [prompt, { tool: 'Bash', input: { command: 'ls' }, isOpen: true }], ['not-resumable']],
  ])('[Q7] %s', async (_, steps, rules) => {
    expect((await foundIn(steps)).rules).toEqual(rules);
  });

  test('[Q7] kept findings are those of the rules over all sessions, after every change', { tags: 'long' }, async () => {
    const { client } = door();
    const folder = scratch();
    const steps = [prompt, edit('/repo/a.ts'), ...[1, 2, 3, 4, 5].map(() => bash('rm -rf build', true))];
    const write = (id: string): string => {
      const path = join(folder, `${id}.jsonl`);
      writeFileSync(path, sessionOf(id, steps));
      return path;
    };
    const compare = async (): Promise<number> => {
      const { rules } = await client.finding.rules({});
      for (const { rule, sql, found } of rules) {
        const { columns, rows } = await client.analysis.sql({ sql });
        const kept = await client.finding.list({ rule });
        expect([rule, kept.total, found]).toEqual([rule, rows.length, rows.length]);
        const [session, detail] = [columns.indexOf('session_id'), columns.indexOf('detail')];
        const key = (a: unknown, b: unknown): string => `${a} ${b}`;
        expect(kept.findings.map((one) => key(one.sessionId, one.detail)).sort()).toEqual(rows.map((row) => key(row[session], row[detail])).sort());
      }
      const { total, findings } = await client.finding.list({});
      const pages = [];
      for (let offset = 0; offset < total; offset += 7) pages.push(...(await client.finding.list({ offset, limit: 7 })).findings);
      expect(pages).toEqual(findings);
      return total;
    };
    for await (const _ of await client.import.run({ paths: [fixture('usage'), fixture('codex'), write('one'), write('two')] }));
    const first = await compare();
    expect(first).toBeGreaterThan(5);
    for await (const _ of await client.import.run({ paths: [write('three'), fixture('subagents')] }));
    const second = await compare();
    expect(second).toBeGreaterThan(first);
    await client.session.delete({ sessionId: 'two' });
    expect(await compare()).toBeLessThan(second);
    await client.session.delete({ sessionId: 'two', deleted: false });
    expect(await compare()).toBe(second);
  });

  test('[T42] the rules are applied to changed sessions only', async () => {
    const { client, chain } = await foundIn([prompt, bash('rm -rf build')]);
    const folder = scratch();
    const add = async (id: string): Promise<void> => {
      const path = join(folder, `${id}.jsonl`);
      writeFileSync(path, sessionOf(id, [prompt, bash('rm -rf build')]));
      for await (const _ of await client.import.run({ paths: [path] }));
    };
    for (let number = 0; number < 30; number++) await add(`s${number}`);
    await client.finding.list({});
    chain.db.run("UPDATE finding SET detail = 'kept'");
    await add('new');
    await client.session.rename({ sessionId: 's3', title: 'Renamed' });
    const { findings } = await client.finding.list({ rule: 'destructive-command' });
    expect(findings.filter(({ detail }) => detail !== 'kept').map(({ sessionId }) => sessionId)).toEqual(['new', 's3']);
    expect(findings.find(({ sessionId }) => sessionId === 's3')?.sessionTitle).toBe('Renamed');
    expect(findings).toHaveLength(32);
  });

  test('[Q7] numbers and prices are written as the window writes them', async () => {
    const lost = await foundIn([prompt, counted(written), { waitMs: 7_200_000 }, prompt, counted(written)]);
    expect(lost.findings[0]?.detail).toMatch(/^\d+,\d{3} tokens were paid again(, for \$\d+\.\d\d)?: the cache had expired$/);
    const full = await foundIn([prompt, counted({ input_tokens: 185_000 })]);
    expect(full.findings[0]?.detail).toBe('The context held 185,000 of 200,000 tokens');
  });

  test('[Q7] each names its session, commit and entry', async () => {
    const { client, findings } = await foundIn([prompt, bash('git clean -fdx')]);
    const [one] = findings;
    if (!one?.commit) throw new Error('nothing was found');
    expect(one).toMatchObject({ rule: 'destructive-command', sessionId: 's', severity: 'high', detail: 'Ran git clean -fdx' });
    const { entries } = await client.context.entries({ id: one.commit });
    expect(entries.some(({ key }) => key === one.entryKey)).toBe(true);
    expect((await client.finding.list({ sessionId: 'other' })).total).toBe(0);
    expect(await laterRefusal(client.finding.list({ rule: 'nope' }))).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('[Q7] ten rules are built in; own ones are in a folder, and a wrong one is named', async () => {
    const { client, engine } = await foundIn([prompt, bash('ls -la')]);
    const folder = join(engine.options.dataDir, 'rules');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'lists.sql'),
      "-- title: Lists files\n-- severity: low\nSELECT session_id, commit_id, entry_key, at, command AS detail FROM tool_calls WHERE command LIKE 'ls%'",
    );
    writeFileSync(join(folder, 'wrong.sql'), 'DELETE FROM artifact');
    writeFileSync(join(folder, 'shapeless.sql'), 'SELECT 1 AS x');
    const { rules } = await client.finding.rules({});
    expect(rules.filter(({ isBuiltIn }) => isBuiltIn)).toHaveLength(10);
    expect(rules.every(({ title, what, isBuiltIn }) => !isBuiltIn || (title.length > 5 && what.length > 20))).toBe(true);
    expect(rules.find(({ rule }) => rule === 'lists')).toMatchObject({ title: 'Lists files', severity: 'low', found: 1, isBuiltIn: false });
    const { problems } = await client.finding.list({});
    expect(problems.map(({ rule }) => rule).sort()).toEqual(['shapeless', 'wrong']);
  });
});
