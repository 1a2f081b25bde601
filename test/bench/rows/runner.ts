import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fork } from '../../../src/core/chain/index.js';
import { createEngine } from '../../../src/core/project/index.js';
import { followJob, startJob } from '../../../src/core/runner/index.js';
import { anthropicProvider } from '../../../src/main/providers/index.js';
import { median, type Part, type Row, type Run } from '../measure.js';

const pieces = 200;
const pieceMs = 2;

/** A model on loopback that streams a reply of 200 pieces, 500 a second: several times as fast as a real one. */
async function slowModel() {
  const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const usage = { input_tokens: 100, output_tokens: pieces };
    response.write(event('message_start', { message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage } }));
    response.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }));
    let sent = 0;
    const began = performance.now();
    const timer = setInterval(() => {
      // A late timer sends what is due.
      for (; sent < pieces && performance.now() - began >= sent * pieceMs; sent++)
        response.write(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'some words ' } }));
      if (sent < pieces) return;
      clearInterval(timer);
      response.end(
        event('content_block_stop', { index: 0 }) +
          event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: pieces } }) +
          event('message_stop', {}),
      );
    }, pieceMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const provider = anthropicProvider({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: async () => 'sk-none' });
  return { provider, close: () => server.close() };
}

function openWorld(folder: string, provider: ReturnType<typeof anthropicProvider>) {
  const at = mkdtempSync(join(folder, 'runner-'));
  const startup = { paths: [], project: null };
  const engine = createEngine({ dataDir: join(at, 'data'), agentRoots: [], sampleDir: at, startup, platform: 'linux', providers: [provider] });
  const project = engine.create({ dir: join(at, 'project') });
  return { engine, project, parts: engine.runner(project) };
}

/** T30: a run of one call by the model performer, recorded and proved, over the bare call of the provider. */
async function overhead(folder: string, { quick }: Run): Promise<Row[]> {
  const { provider, close } = await slowModel();
  const { engine, project, parts } = openWorld(folder, provider);
  const asked = fork(project.chain, { id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Say some words.' } }] });
  const performer = { provider: provider.id, model: 'claude-sonnet-4-5' };
  const body = { max_tokens: 1_000, messages: [{ role: 'user', content: 'Say some words.' }] };
  const times = { bare: [] as number[], performed: [] as number[] };
  for (let round = -1; round < (quick ? 3 : 9); round++) {
    let from = performance.now();
    for await (const _ of provider.stream({ model: performer.model, body, headers: {} }, undefined));
    const bare = performance.now() - from;
    from = performance.now();
    const { jobId } = startJob(parts, { what: { commit: asked.id }, performer });
    for await (const _ of followJob(parts, jobId));
    if (round < 0) continue;
    times.bare.push(bare);
    times.performed.push(performance.now() - from);
  }
  const [bareMs, performedMs] = [median(times.bare), median(times.performed)];
  engine.close();
  close();
  const what = 'model performer: one recorded call over the bare provider call on loopback';
  const note = `a reply of ${pieces} pieces, ${1_000 / pieceMs} a second`;
  return [{ id: 'T30', what, ratio: performedMs / bareMs, must: 1.15, stretch: 1.05, better: 'less', note, figures: { bareMs, performedMs } }];
}

const parallelRuns = 50;

/** The longest pause of the engine while 50 runs stream at the same time, over 200 ms. */
async function parallel(folder: string): Promise<Row[]> {
  const { provider, close } = await slowModel();
  const { engine, project, parts } = openWorld(folder, provider);
  const performer = { provider: provider.id, model: 'claude-sonnet-4-5' };
  const jobs = Array.from({ length: parallelRuns }, (_, number) => {
    const edits = [{ op: 'append' as const, entry: { role: 'user' as const, kind: 'text' as const, text: `Say some words ${number}.` } }];
    return startJob(parts, { what: { commit: fork(project.chain, { id: null, edits }).id }, performer });
  });
  let longestMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }, 5);
  const from = performance.now();
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  clearInterval(timer);
  const allMs = performance.now() - from;
  const ended = project.chain.db.all<{ status: string }>('SELECT status FROM job');
  engine.close();
  close();
  if (jobs.length !== parallelRuns || ended.some(({ status }) => status !== 'success')) throw new Error('not all runs ended with success');
  const what = `the longest pause of the engine while ${parallelRuns} runs stream, ms over 200`;
  return [{ id: 'T30-parallel', what, ratio: longestMs / 200, must: 1, stretch: 0.25, better: 'less', figures: { longestMs, allMs } }];
}

/** The rows of the runner. */
export const runnerParts: readonly Part[] = [
  { rows: ['T30'], run: overhead },
  { rows: ['T30-parallel'], run: parallel },
];
