import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { atOnce } from '../../../src/core/base/index.js';
import { addCommit } from '../../../src/core/chain/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { indexInPieces, query } from '../../../src/core/search/index.js';
import { bulk, discard, scratchEngine } from '../engine.js';
import { chance, turns, widely, wideWord } from '../material.js';
import { median, medians, type Part, type Row, type Run, timed } from '../measure.js';

/** The raw index of the same texts: contentless FTS5 with our tokenizer and batch size. */
function openRaw(folder: string) {
  const at = mkdtempSync(join(folder, 'fts-'));
  const db = new Database(join(at, 'raw.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE VIRTUAL TABLE raw USING fts5(words, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_'")`);
  const insert = db.prepare('INSERT INTO raw (rowid, words) VALUES (?, ?)');
  const ranked = db.prepare('SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 20');
  return {
    fill: (texts: readonly string[]): void => {
      for (let start = 0; start < texts.length; start += 5_120)
        db.transaction(() => {
          for (const [place, text] of texts.slice(start, start + 5_120).entries()) insert.run(start + place + 1, text);
        })();
    },
    ask: (question: string): number[] => ranked.pluck().all(question) as number[],
    /** Indexes the texts of deltas as they are parsed, with a row that says where each lies. */
    fillFrom: (deltas: readonly string[]): void => {
      db.exec('CREATE TABLE place (no INTEGER PRIMARY KEY, context INTEGER, place INTEGER, kind TEXT)');
      const add = db.prepare('INSERT INTO place (context, place, kind) VALUES (?, ?, ?)');
      for (let start = 0; start < deltas.length; start += 1_024)
        db.transaction(() => {
          for (const [number, delta] of deltas.slice(start, start + 1_024).entries())
            for (const [place, text] of textsOf([delta]).entries()) insert.run(add.run(start + number, place, 'text').lastInsertRowid, text);
        })();
    },
    close: (): void => {
      db.close();
      rmSync(at, { recursive: true, force: true });
    },
  };
}

/** The searchable entries of the material. */
const textsOf = (deltas: readonly string[]): string[] =>
  deltas.flatMap((delta) =>
    requireFormat('claude-code-v1')
      .parse(Buffer.from(delta))
      .entries.map(({ text, toolName, arguments: given }) =>
        [toolName, ...(given ? Object.values(given as Record<string, string>) : []), text].filter(Boolean).join('\n'),
      ),
  );

/** Queries of one or two words of all frequencies. */
function questions(count: number, seed: number): string[] {
  const next = chance(seed);
  const word = (): string => wideWord(Math.floor(30_000 ** next()));
  return Array.from({ length: count }, (_, place) => (place % 2 ? word() : `${word()} ${word()}`));
}

function indexing(folder: string, { quick }: Run): Row[] {
  const deltas = turns(quick ? 1_000 : 5_000, 41, widely);
  const texts = textsOf(deltas);
  const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6;
  const ms = medians({
    raw: timed({ prepare: () => openRaw(folder), run: (raw) => raw.fill(texts), clean: (raw) => raw.close() }),
    bare: timed({ prepare: () => openRaw(folder), run: (raw) => raw.fillFrom(deltas), clean: (raw) => raw.close() }),
    ours: timed({
      prepare: () => {
        const engine = scratchEngine(folder);
        bulk(engine.chain, deltas);
        return engine;
      },
      run: ({ chain }: Project) => {
        atOnce(indexInPieces(chain));
      },
      clean: discard,
    }),
  });
  const raw = openRaw(folder);
  raw.fill(texts);
  const engine = scratchEngine(folder);
  bulk(engine.chain, deltas);
  atOnce(indexInPieces(engine.chain));
  const asked = questions(300, 42);
  const timesOf = (ask: (question: string) => unknown): number[] =>
    asked.map((question) => {
      const from = performance.now();
      ask(question);
      return performance.now() - from;
    });
  const rawOf = (question: string): string =>
    question
      .split(' ')
      .map((word) => `"${word}"`)
      .join(' AND ');
  const owners = deltas.flatMap((delta) => textsOf([delta]).map(() => delta));
  const rounds = Array.from({ length: 5 }, () => ({
    raw: timesOf((question) => raw.ask(rawOf(question))),
    // Snippets are cut from the content, so the deltas of the hits are parsed.
    bare: timesOf((question) => textsOf(raw.ask(rawOf(question)).map((no) => owners[no - 1] ?? ''))),
    // A trailing space ends the last word, as in the raw query.
    ours: timesOf((question) => query(engine.chain, { text: `${question} ` })),
  }));
  raw.close();
  discard(engine);
  const p50 = (who: 'raw' | 'bare' | 'ours'): number => median(rounds.map((round) => median(round[who])));
  const row = { id: 'T21', better: 'less' as const };
  return [
    {
      ...row,
      what: 'full text built from commits over raw FTS5 contentless of the same text',
      ratio: ms.ours / ms.raw,
      floor: { of: 'parsing the deltas and indexing their texts by a bare script', ratio: ms.bare / ms.raw },
      must: 1.25,
      stretch: 1.1,
      figures: { textMB: megabytes, rawMBs: (megabytes / ms.raw) * 1_000, oursMBs: (megabytes / ms.ours) * 1_000 },
    },
    {
      ...row,
      id: 'T21 query',
      what: 'a search with its 20 snippets over the raw ranked query, p50',
      ratio: p50('ours') / p50('raw'),
      floor: { of: 'the raw query, and parsing the deltas of its 20 hits', ratio: p50('bare') / p50('raw') },
      must: 1.5,
      stretch: 1.2,
      figures: { rawMs: p50('raw'), oursMs: p50('ours') },
    },
  ];
}

/** Commits of fifty messages each, in one transaction. */
function fill({ chain }: Project, entries: number): void {
  const next = chance(43);
  const perCommit = 50;
  chain.artifacts.transaction(() => {
    for (let made = 0; made < entries; made += perCommit) {
      const messages = Array.from({ length: perCommit }, (_, place) => ({ role: place % 2 ? 'assistant' : 'user', content: widely(next, 90) }));
      const { no, ref } = chain.artifacts.put(Buffer.from(JSON.stringify({ messages })), { contentType: 'application/json' });
      addCommit(chain, {
        parent: null,
        type: 'delta',
        artifact: no,
        ref,
        format: 'openai-chat-v1',
        template: 'bench',
        checkpoint: 'explicit',
        messageCount: perCommit,
        tokenCount: 1_200,
        errors: 0,
        entries: perCommit,
        forked: false,
      });
    }
  });
}

function million(folder: string, { quick }: Run): Row[] {
  const engine = scratchEngine(folder);
  const entries = quick ? 40_000 : 1_000_000;
  fill(engine, entries);
  const from = performance.now();
  atOnce(indexInPieces(engine.chain));
  const indexSeconds = (performance.now() - from) / 1_000;
  const held = engine.chain.db.one<{ entries: number }>('SELECT COUNT(*) AS entries FROM searchWords_docsize')?.entries ?? 0;
  if (held !== entries) throw new Error(`${held} of ${entries} entries are in the index`);
  const kinds = {
    common: `${wideWord(1)} `,
    two: `${wideWord(2)} ${wideWord(3)} `,
    usual: `${wideWord(60)} `,
    rare: `${wideWord(20_000)} `,
    beginning: wideWord(30).slice(0, 1),
    phrase: `"${wideWord(1)} ${wideWord(2)}"`,
    none: `${wideWord(1)} nosuchword `,
  };
  const times = Object.fromEntries(
    Object.entries(kinds).map(([kind, text]) => [
      kind,
      median(
        Array.from({ length: 5 }, () => {
          // Clear caches of the last query.
          engine.chain.parsed.clear();
          const start = performance.now();
          query(engine.chain, { text });
          return performance.now() - start;
        }),
      ),
    ]),
  );
  discard(engine);
  return [
    {
      id: 'W8',
      what: `first 20 hits in ${entries / 1e6} million entries, the slowest of ${Object.keys(kinds).length} kinds of questions, in ms`,
      ratio: Math.max(...Object.values(times)),
      must: 50,
      stretch: 15,
      better: 'less',
      figures: { ...times, indexSeconds },
      ...(quick && { note: 'quick: 40,000 entries' }),
    },
  ];
}

export const searchParts: readonly Part[] = [
  { rows: ['T21'], run: indexing },
  { rows: ['W8'], run: million },
];
