/**
 * The peer, in its own process: LangGraph's SQLite checkpointer stores a thread, one `put` per turn, reads its state back,
 * and continues from its middle. Prints milliseconds and bytes as JSON.
 *
 *   langgraph FOLDER TURNS plain|lc
 */
import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { turns } from './material.js';
import { median } from './measure.js';

const [folder, count, kind] = process.argv.slice(2);
if (!folder || !count) throw new Error('usage: langgraph FOLDER TURNS plain|lc');
const length = Number(count);

// This file runs from its build.
const peer = createRequire(join(process.cwd(), 'test', 'peers', 'package.json'));
const { AIMessage, HumanMessage, ToolMessage } = peer('@langchain/core/messages') as typeof import('@langchain/core/messages');
const { uuid6 } = peer('@langchain/langgraph-checkpoint') as typeof import('@langchain/langgraph-checkpoint');
const { SqliteSaver } = peer('@langchain/langgraph-checkpoint-sqlite') as typeof import('@langchain/langgraph-checkpoint-sqlite');

interface Line {
  readonly uuid: string;
  readonly message: { readonly role: string; readonly content: string | readonly Record<string, unknown>[] };
}

/** A LangChain message. */
function messageOf({ uuid: id, message: { role, content } }: Line): unknown {
  if (role === 'assistant') return new AIMessage({ id, content: content as never });
  const result = typeof content === 'string' ? undefined : content.find((block) => block.type === 'tool_result');
  if (result) return new ToolMessage({ id, content: String(result.content), tool_call_id: String(result.tool_use_id) });
  return new HumanMessage({ id, content: content as never });
}

const made = turns(length + 10).map((text) => {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return kind === 'lc' ? lines.map(messageOf) : lines;
});

const saver = SqliteSaver.fromConnString(join(folder, 'langgraph.db'));
const thread = { thread_id: 'bench', checkpoint_ns: '' };

/** One turn on top of a checkpoint. LangGraph stores the whole state again. */
async function put(from: string | undefined, step: number, messages: readonly unknown[]): Promise<string> {
  const checkpoint = {
    v: 4,
    id: uuid6(step),
    ts: new Date().toISOString(),
    channel_values: { messages },
    channel_versions: { messages: step + 1 },
    versions_seen: {},
  };
  const config = { configurable: { ...thread, ...(from !== undefined && { checkpoint_id: from }) } };
  await saver.put(config, checkpoint, { source: 'loop', step, parents: {} });
  return checkpoint.id;
}

const bytes = (): number => readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  globalThis.gc?.();
  const from = performance.now();
  await work();
  return performance.now() - from;
};

const state: unknown[] = [];
const ids: string[] = [];
const writeMs = await timed(async () => {
  for (let step = 0; step < length; step++) {
    state.push(...(made[step] ?? []));
    ids.push(await put(ids.at(-1), step, state));
  }
});
saver.db.pragma('wal_checkpoint(TRUNCATE)');
const written = bytes();

const reads: number[] = [];
for (let round = 0; round < 5; round++)
  reads.push(
    await timed(async () => {
      const tuple = await saver.getTuple({ configurable: { ...thread, checkpoint_id: ids.at(-1) } });
      const held = tuple?.checkpoint.channel_values.messages;
      if (!Array.isArray(held) || held.length !== state.length) throw new Error('the state differs from the stored one');
    }),
  );

const middle = length >> 1;
const half = made.slice(0, middle + 1).flat();
const forkMs = await timed(async () => {
  let from = ids[middle];
  for (let step = 0; step < 10; step++) {
    half.push(...(made[length + step] ?? []));
    from = await put(from, length + step, half);
  }
});

console.log(JSON.stringify({ writeMs, stateMs: median(reads), forkMs, bytes: written }));
