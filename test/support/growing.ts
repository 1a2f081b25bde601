import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { SourceAgent } from '../../src/core/contract/index.js';
import { linesOf, session } from '../core/formats/copilot-cli/lines.js';
import { recorded } from './opencode.js';
import { root } from './source.js';

/** A history of an agent that a test writes in steps, as the agent does. */
export interface Growing {
  readonly agent: SourceAgent;
  /** The path of the history below the agent's own folder. */
  readonly place: string;
  /** Writes one more part at each step. The agent keeps its database open. */
  readonly write: (path: string) => Iterable<void>;
}

const fixture = (name: string): string => join(root, 'test', 'fixtures', name);

/** A file of lines that grows at its end. Most steps end in the middle of a line. */
const lines = (agent: SourceAgent, place: string, text: string): Growing => ({
  agent,
  place,
  *write(path) {
    const parts = 12;
    for (let at = 0; at < parts; at++) {
      appendFileSync(path, text.slice(Math.floor((text.length * at) / parts), Math.floor((text.length * (at + 1)) / parts)));
      yield;
    }
  },
});
const linesIn = (agent: SourceAgent, place: string, name: string): Growing => lines(agent, place, readFileSync(fixture(name), 'utf8'));

/** A document that is written whole at every change. Its list has one item more at each step, and is half written once. */
const document = (agent: SourceAgent, place: string, name: string, list: string): Growing => ({
  agent,
  place,
  *write(path) {
    const whole = JSON.parse(readFileSync(fixture(name), 'utf8')) as Record<string, object[]>;
    const items = whole[list] ?? [];
    for (let count = 1; count <= items.length; count += Math.ceil(items.length / 10)) {
      const text = JSON.stringify({ ...whole, [list]: items.slice(0, count) });
      if (count > 2 && count < 5) {
        writeFileSync(path, text.slice(0, text.length / 2));
        yield;
      }
      writeFileSync(path, text);
      yield;
    }
  },
});

/** A database whose agent keeps it open, with all writes in its log. */
function* inDatabase(path: string, begin: (db: Database.Database) => readonly (() => void)[]): Generator<void> {
  const db = new Database(path);
  onTestFinished(() => void db.close());
  db.pragma('journal_mode = WAL');
  db.pragma('wal_autocheckpoint = 0');
  for (const step of begin(db)) {
    db.transaction(step)();
    yield;
  }
}

type Row = Readonly<Record<string, unknown>>;
const rowsIn = (name: string, table: string): Row[] => {
  const from = new Database(fixture(name), { readonly: true });
  try {
    return from.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all() as Row[];
  } finally {
    from.close();
  }
};
const inserter = (db: Database.Database, table: string) => (row: Row) =>
  void db.prepare(`INSERT OR REPLACE INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`).run(...Object.values(row));

const goose: Growing = {
  agent: 'goose',
  place: 'sessions/sessions.db',
  write: (path) =>
    inDatabase(path, (db) => {
      for (const table of ['sessions', 'usage_ledger', 'messages']) {
        const columns = Object.keys(rowsIn('mapped/goose.db', table)[0] ?? {});
        db.exec(`CREATE TABLE ${table} (${columns})`);
        if (table !== 'messages') for (const row of rowsIn('mapped/goose.db', table)) inserter(db, table)(row);
      }
      return rowsIn('mapped/goose.db', 'messages').map((row) => () => inserter(db, 'messages')(row));
    }),
};

const kilo: Growing = {
  agent: 'kilo',
  place: 'kilo.db',
  write: (path) =>
    inDatabase(path, (db) => {
      const tour = recorded('tour');
      for (const table of ['session', 'message', 'part'] as const)
        db.exec(`CREATE TABLE ${table} (${Object.keys(tour[table][0] ?? {}).map((column) => (column === 'id' ? 'id text PRIMARY KEY' : column))})`);
      db.exec('CREATE TABLE kilo_board (id text); CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer)');
      const [first] = tour.session;
      if (first) inserter(db, 'session')(first);
      const messages = tour.message.filter((row) => row.session_id === first?.id).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
      return messages.map((row, seq) => () => {
        for (const part of tour.part.filter((one) => one.message_id === row.id)) inserter(db, 'part')(part);
        inserter(db, 'message')(row);
        inserter(db, 'event_sequence')({ aggregate_id: row.session_id, seq });
      });
    }),
};

const openClaw: Growing = {
  agent: 'openclaw',
  place: 'agents/main/agent/openclaw-agent.sqlite',
  write: (path) =>
    inDatabase(path, (db) => {
      db.exec('CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)');
      const events = readFileSync(fixture('pi/tour.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row);
      return events.map((event, seq) => () => {
        const event_json = JSON.stringify(seq === 0 ? { ...event, version: 4 } : event);
        inserter(db, 'transcript_events')({ session_id: 's1', seq, event_json });
      });
    }),
};

/** The editor streams an answer into its bubble, and names bubbles in the data of their conversation. */
const cursor: Growing = {
  agent: 'cursor',
  place: 'globalStorage/state.vscdb',
  write: (path) =>
    inDatabase(path, (db) => {
      db.exec('CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value TEXT)');
      const put = (key: string, value: object): void => inserter(db, 'cursorDiskKV')({ key, value: JSON.stringify(value) });
      const named: object[] = [];
      const bubble = (id: string, type: number, more: object, status: string) => (): void => {
        if (!named.some((one) => (one as { bubbleId: string }).bubbleId === id)) named.push({ bubbleId: id, type });
        put(`bubbleId:c1:${id}`, { type, bubbleId: id, ...more });
        put('composerData:c1', { name: 'Fix it', createdAt: 1_770_000_000_000, status, fullConversationHeadersOnly: named });
      };
      const tool = { name: 'read_file', toolCallId: 't1', params: '{"path":"a"}' };
      return [
        bubble('b1', 1, { text: 'Fix it' }, 'generating'),
        bubble('b2', 2, { text: 'Let me' }, 'generating'),
        bubble('b2', 2, { text: 'Let me look.' }, 'generating'),
        bubble('b3', 2, { toolFormerData: { ...tool, status: 'loading' } }, 'generating'),
        bubble('b3', 2, { toolFormerData: { ...tool, status: 'completed', result: 'one' } }, 'generating'),
        bubble('b4', 2, { text: 'It is' }, 'generating'),
        bubble('b4', 2, { text: 'It is fine.' }, 'completed'),
        bubble('b5', 1, { text: 'Thanks' }, 'generating'),
        bubble('b6', 2, { text: 'You are welcome.' }, 'completed'),
      ];
    }),
};

/** Each state of the store of the command line is a root that names the blobs of its messages. */
const cursorCommandLine: Growing = {
  agent: 'cursor',
  place: 'chats/a/b/store.db',
  write: (path) =>
    inDatabase(path, (db) => {
      db.exec('CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)');
      const ids: string[] = [];
      return ['Fix it', 'It is fine.', 'Thanks', 'You are welcome.'].map((content, at) => () => {
        const id = String(at).padStart(64, '0');
        ids.push(id);
        inserter(db, 'blobs')({ id, data: Buffer.from(JSON.stringify({ role: at % 2 ? 'assistant' : 'user', content })) });
        const named = ids.map((one) => Buffer.concat([Buffer.from([0x0a, 32]), Buffer.from(one, 'hex')]));
        const latestRootBlobId = `root-${at}`;
        inserter(db, 'blobs')({ id: latestRootBlobId, data: Buffer.concat(named) });
        const meta = { agentId: 'chat-1', latestRootBlobId, name: 'Fix it' };
        inserter(db, 'meta')({ key: '0', value: Buffer.from(JSON.stringify(meta)).toString('hex') });
      });
    }),
};

/** A conversation of OpenHands is a folder with a file for each event. */
const openHands: Growing = {
  agent: 'openhands',
  place: 'conversations/a1b2/base_state.json',
  *write(path) {
    writeFileSync(path, '{"id": "a1b2"}');
    mkdirSync(join(dirname(path), 'events'));
    const message = (role: string, text: string): string =>
      JSON.stringify({ id: text, kind: 'MessageEvent', source: role, llm_message: { role, content: [{ type: 'text', text }] } });
    const events = readFileSync(fixture('mapped/openhands-v1.jsonl'), 'utf8').trim().split('\n');
    for (const [at, event] of [...events, message('assistant', 'Done'), message('user', 'Thanks')].entries()) {
      writeFileSync(join(dirname(path), 'events', `event-${String(at).padStart(5, '0')}-${at}.json`), event);
      yield;
    }
  },
};

const request = (id: string, text: string, result: object = {}): object => ({
  requestId: id,
  timestamp: 1_770_000_000_000,
  message: { text },
  response: [{ value: `${text}!` }],
  ...result,
});

/** VS Code appends operations to the log of a chat while it answers. */
const vscodeLog: Growing = {
  agent: 'vscode',
  place: 'workspaceStorage/a1/chatSessions/2.jsonl',
  write: (path) =>
    lines(
      'vscode',
      '',
      [
        { kind: 0, v: { version: 3, sessionId: 's', creationDate: 1, requests: [request('a', 'One')] } },
        { kind: 2, k: ['requests', 0, 'response'], v: [{ value: ' And more.' }] },
        { kind: 1, k: ['requests', 0, 'result'], v: {} },
        { kind: 2, k: ['requests'], v: [request('b', 'Two')] },
        { kind: 1, k: ['requests', 1, 'result'], v: {} },
        { kind: 2, k: ['requests'], i: 1, v: [request('c', 'Three', { result: {} })] },
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    ).write(path),
};

/** Every agent that writes its history while it works, other than those with tests of their own. */
export const growing: readonly Growing[] = [
  lines('copilot', 'session-state/1/events.jsonl', linesOf(session)),
  linesIn('qwen', 'projects/-work/chats/1.jsonl', 'qwen-code/019f0000-004.jsonl'),
  linesIn('droid', 'sessions/-work/1.jsonl', 'mapped/droid.jsonl'),
  linesIn('kimi', 'sessions/wd_p_1/session_1/agents/main/wire.jsonl', 'mapped/kimi.wire.jsonl'),
  linesIn('antigravity', 'brain/1/.system_generated/logs/transcript.jsonl', 'mapped/antigravity.jsonl'),
  linesIn('cursor', 'projects/p/agent-transcripts/t.jsonl', 'cursor/agent-transcript-simple.jsonl'),
  document('cline', 'data/sessions/1795/1795.messages.json', 'cline/sdk-session.messages.json', 'messages'),
  document('vscode', 'workspaceStorage/a1/chatSessions/1.json', 'vscode-chat/copilot_session_simple.json', 'requests'),
  vscodeLog,
  openHands,
  goose,
  kilo,
  openClaw,
  cursor,
  cursorCommandLine,
];
