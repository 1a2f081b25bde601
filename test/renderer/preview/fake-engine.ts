import type {
  CaptureStatus,
  ContextId,
  Entry,
  EntryKey,
  GraphRow,
  Kind,
  OutlineRow,
  ProjectInfo,
  Role,
  Timestamp,
} from '../../../src/core/contract/index.js';
import type { Carrier } from '../../../src/renderer/client';

/** The size of the fake engine's chain, and its failures. */
export interface FakeOptions {
  readonly commits?: number;
  readonly entriesPerCommit?: number;
  /** Milliseconds before each answer. */
  readonly delay?: number;
  /** Procedures that fail, by path such as `context.outline`. */
  readonly failing?: readonly string[];
  /** No sessions found, nothing imported. */
  readonly empty?: boolean;
}

const start = Date.parse('2026-11-20T09:00:00.000Z');
const at = (n: number) => new Date(start + n * 47_000).toISOString() as Timestamp;
const commitId = (n: number) => `ctx-${(n * 2_654_435_761 + 97).toString(16).padStart(12, '0').slice(-12)}` as ContextId;
const prompts = [
  'Fix the flaky test in the queue',
  'Run the suite again and show only failures',
  'Try pnpm instead of npm, and say what changes in the lock file',
  'Why did the second worker never wake up?',
  'Explore the repository and draw me a map of the modules that touch retries',
];
const answer = `The retry path lives in \`src/queue/retry.ts\`. Two things happen there:

1. **Backoff** is computed from the attempt,
2. the job is put back *before* the timer is cleared.

| step | where | cost |
| --- | --- | ---: |
| take | \`take()\` | 2 ms |
| put | \`put()\` | 14 ms |

\`\`\`ts
export function delayOf(attempt: number): number {
  return Math.min(30_000, 250 * 2 ** attempt); // never longer than half a minute
}
\`\`\`

<script>alert('hostile')</script>

![tracker](https://example.com/pixel.png) and [a link](https://example.com/a?b=c).`;

/** A fake engine that computes its answers. It serves to look at views, also at large scale. */
export function fakeCarrier(options: FakeOptions = {}): Carrier {
  const { commits: total = 120, entriesPerCommit = 9, delay = 0, failing = [], empty = false } = options;
  let openDir = '';

  const isCompaction = (n: number) => n > 0 && n % 53 === 0;
  const side = (n: number) => n % 17 >= 13;
  const entriesOfCommit = (n: number): Entry[] => {
    if (isCompaction(n)) return [entryOf(n, 0, 'user', 'summary', { text: `This session continues an earlier one.\n\n${answer}` })];
    return Array.from({ length: entriesPerCommit }, (_, i) => {
      if (i === 0) return entryOf(n, i, 'user', 'text', { text: prompts[n % prompts.length] ?? '' });
      if (i === 1)
        return entryOf(n, i, 'assistant', 'thinking', {
          text: 'Let me look at the code first.\n\nThe queue may be drained twice.',
          marks: ['signed'],
        });
      if (i === entriesPerCommit - 1) return entryOf(n, i, 'assistant', 'text', { text: answer });
      const call = `toolu_${n}_${Math.floor(i / 2)}`;
      if (i % 2 === 0) {
        const bash = i % 4 === 0;
        return entryOf(n, i, 'assistant', 'tool_call', {
          toolName: bash ? 'Bash' : 'Edit',
          toolClass: bash ? 'shell' : 'edit',
          toolCallId: call,
          arguments: bash
            ? { command: 'npm test -- --run queue', description: 'Run the queue tests' }
            : {
                file_path: '/work/api/src/queue/retry.ts',
                old_string: 'const max = 3;\nretry(max);',
                new_string: 'const max = 5;\nretry(max, { jitter: true });',
              },
        });
      }
      const failed = n % 7 === 3 && i === 3;
      return entryOf(n, i, 'tool', 'tool_result', {
        toolCallId: `toolu_${n}_${Math.floor((i - 1) / 2)}`,
        text: failed
          ? 'Error: process exited with code 1'
          : Array.from({ length: 34 }, (_, l) => `  ${l % 5 ? '✓' : '·'} queue/retry line ${l} ok`).join('\n'),
        isError: failed,
      });
    });
  };
  const entryOf = (n: number, i: number, role: Role, kind: Kind, rest: Partial<Entry>): Entry => ({
    key: `e${n}.${i}` as EntryKey,
    role,
    kind,
    tokens: Math.max(4, Math.round(JSON.stringify(rest).length / 3.6)),
    at: at(n),
    source: { commit: commitId(n), index: i },
    ...rest,
  });
  const lineage = (n: number, stop: unknown): number[] => {
    const found: number[] = [];
    for (let m = n; m >= 0; m--) {
      if (side(m) && !side(n)) continue;
      found.unshift(m);
      if (stop !== 'root' && isCompaction(m)) break;
    }
    return found;
  };
  const numberOf = (id: string): number => {
    for (let n = 0; n < total; n++) if (commitId(n).startsWith(id)) return n;
    throw new Error(`No commit begins with ${id}`);
  };
  const contexts = new Map<string, Entry[]>();
  const contextOf = (id: string, stop: unknown): Entry[] => {
    const key = `${id} ${stop}`;
    const entries = contexts.get(key) ?? lineage(numberOf(id), stop).flatMap(entriesOfCommit);
    contexts.set(key, entries);
    return entries;
  };
  const commitOf = (n: number): GraphRow['commit'] => ({
    id: commitId(n),
    parent: n === 0 ? null : commitId(side(n) && !side(n - 1) ? n - 1 : !side(n) && side(n - 1) ? n - 5 : n - 1),
    type: isCompaction(n) ? 'compaction' : 'delta',
    artifactRef: `blake3:${'0'.repeat(64)}` as GraphRow['commit']['artifactRef'],
    format: 'claude-code-v1',
    template: 'claude-code',
    principal: null,
    machine: null,
    sessionId: '0cf3db51-0000-4000-8000-000000000000',
    checkpoint: isCompaction(n) ? 'compaction' : 'turn_boundary',
    summary: prompts[n % prompts.length] ?? '',
    tags: [],
    messageCount: entriesPerCommit,
    tokenCount: 900 + ((n * 7_919) % 9_000),
    createdAt: at(n),
  });
  const rowOf = (n: number): GraphRow => {
    const base = { fromLane: 0, toLane: 0 };
    const sided = side(n);
    return {
      commit: commitOf(n),
      lane: sided ? 1 : 0,
      edges: sided ? [base, { fromLane: 1, toLane: side(n - 1) ? 1 : 0 }] : n === 0 ? [] : [base],
      width: sided ? 2 : 1,
      depth: n,
      children: 1,
      contextTokens: 8_000 + (n % 53) * 3_400,
      ...(isCompaction(n) && { replacedTokens: 168_000 }),
      forked: n % 97 === 40,
      ...(n === total - 1 && { tipOf: 'Fix the flaky queue' }),
      ...(sided && !side(n + 1) && { tipOf: 'An abandoned try' }),
      errors: n % 7 === 3 ? 1 : 0,
    };
  };
  const info = (): ProjectInfo => ({
    projectId: 'fake',
    name: openDir.split('/').at(-1)?.replace('.stemma', '') ?? '',
    dir: openDir,
    createdAt: at(0),
    access: { mode: 'read-write' },
    counts: { commits: empty ? 0 : total, entries: total * entriesPerCommit, cards: 0, boxes: 0, artifacts: total },
    bytes: { logical: 18_400_000, stored: 4_100_000 },
    formatVersion: 1,
    tokenizer: 'utf8-quarter-1',
    stand: '0',
    trusted: true,
  });

  const capture = (watching: boolean): CaptureStatus => ({
    watching,
    wanted: watching,
    since: watching ? at(900) : null,
    places: watching ? [{ path: '/home/me/.claude/projects', agent: 'claude-code', there: true }] : [],
    files: [],
    checkpoints: 0,
    last: null,
    problems: [],
  });

  // biome-ignore lint/suspicious/noExplicitAny: the fake engine accepts any input of the contract's client
  const table: Record<string, (input: any) => unknown> = {
    'project.open': ({ dir }) => {
      openDir = dir;
      return info();
    },
    'project.info': info,
    'project.changes': async function* () {
      yield { cursor: total, commits: [], changed: [] };
      await new Promise(() => {});
    },
    'capture.status': () => capture(false),
    'capture.watch': () => capture(true),
    'capture.stop': () => capture(false),
    'library.startup': () => ({ paths: [], project: null, link: null, platform: 'linux' }),
    'library.home': () => ({ dir: '/home/me/Stemma/Histories.stemma' }),
    'library.sample': () => ({ dir: '/home/me/Stemma/Sample.stemma' }),
    'library.recent': () => (empty ? [] : [{ dir: '/home/me/Stemma/Histories.stemma', name: 'Histories', openedAt: at(900), missing: false }]),
    'library.sources': () =>
      empty
        ? []
        : [{ agent: 'claude-code', root: '/home/me/.claude', folders: ['/home/me/.claude/projects'], sessions: 24, projects: 3, bytes: 812_000_000 }],
    'library.sessions': () =>
      empty
        ? []
        : Array.from({ length: 24 }, (_, n) => ({
            path: `/home/me/.claude/projects/p${n % 3}/${n}.jsonl`,
            sessionId: `session-${n}`,
            cwd: `/work/acme/${['api', 'web', 'infra'][n % 3]}`,
            title: prompts[n % prompts.length],
            bytes: 18_400_000 / (n + 1),
            modifiedAt: new Date(Date.now() - n * 9 * 3_600_000).toISOString(),
            subagents: n % 4,
            imported: n % 5 === 0,
          })),
    'source.list': () =>
      empty
        ? []
        : [
            {
              sourceId: 's1',
              path: '/home/me/.claude/projects/p0/0.jsonl',
              format: 'claude-code-v1',
              bytes: 18_400_000,
              hash: `blake3:${'0'.repeat(64)}`,
              tips: [commitId(total - 1)],
              importedAt: at(900),
              title: 'Fix the flaky queue',
              sessionId: '0cf3db51-0000-4000-8000-000000000000',
            },
          ],
    'context.graph': ({ offset, limit }) => ({
      total: empty ? 0 : total,
      rows: empty ? [] : Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, i) => rowOf(total - 1 - offset - i)),
    }),
    'context.show': ({ id }) => ({ ...commitOf(numberOf(id)), children: [], depth: numberOf(id) }),
    'context.outline': ({ id, stop }) => {
      const entries = contextOf(id, stop);
      const rows: OutlineRow[] = entries.map((entry) => ({
        key: entry.key,
        role: entry.role,
        kind: entry.kind,
        tokens: entry.tokens,
        commit: entry.source.commit,
        ...((entry.text ?? entry.toolName) && { head: (entry.toolName ?? entry.text ?? '').slice(0, 160) }),
        ...(entry.toolCallId && { toolCallId: entry.toolCallId }),
        ...(entry.isError && { isError: true }),
      }));
      return { total: rows.length, tokens: rows.reduce((sum, row) => sum + row.tokens, 0), rows };
    },
    'context.entries': ({ id, stop, offset = 0, limit = 10_000 }) => {
      const entries = contextOf(id, stop);
      return { total: entries.length, entries: entries.slice(offset, offset + limit) };
    },
    'context.find': ({ id, stop, text }) => ({
      hits: contextOf(id, stop).flatMap((entry, n) => (JSON.stringify(entry).toLowerCase().includes(text.toLowerCase()) ? [n] : [])),
    }),
    'context.fork': () => commitOf(total - 1),
    'context.diff': () => ({
      base: commitId(3),
      same: 20,
      added: 2,
      removed: 1,
      changed: 1,
      tokens: { a: 9_000, b: 9_900 },
      hunks: [
        { op: 'same', aStart: 0, aCount: 20, bStart: 0, bCount: 20 },
        { op: 'changed', aStart: 20, aCount: 1, bStart: 20, bCount: 1 },
        { op: 'removed', aStart: 21, aCount: 1, bStart: 21, bCount: 0 },
        { op: 'added', aStart: 22, aCount: 0, bStart: 21, bCount: 2 },
      ],
      moved: [{ aStart: 21, bStart: 22, count: 1 }],
    }),
    'export.context': ({ format }) => ({ text: '{"type":"user"}\n', bytes: 16, format, tier: 'native' }),
    'export.resume': ({ agent = 'claude-code' }: { agent?: string }) => ({
      agent,
      path: '/home/me/.claude/projects/-work-acme-api/1d9c.jsonl',
      cwd: '/work/acme/api',
      sessionId: '1d9c',
      command: 'cd /work/acme/api && claude --resume 1d9c',
    }),
    'import.run': async function* ({ paths }: { paths: string[] }) {
      for (let done = 0; done <= 40; done++) {
        await new Promise((resolve) => setTimeout(resolve, 80));
        yield { phase: 'storing', done, total: 40, bytes: done * 400_000, path: paths[0] };
      }
      return {
        sessions: 1,
        commits: 40,
        entries: 300,
        bytes: 16_000_000,
        skipped: [{ path: paths[0], line: 12, reason: 'not JSON' }],
        notes: [],
        tips: [],
        ms: 3_200,
      };
    },
  };

  return async () => ({
    closed: new Promise(() => {}),
    close: () => {},
    link: {
      call: async (path, input) => {
        const name = path.join('.');
        if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
        if (failing.includes(name)) throw new Error(`${name} fails as requested in the address`);
        const procedure = table[name];
        if (!procedure) throw new Error(`The fake engine has no ${name}`);
        return procedure(input);
      },
    },
  });
}
