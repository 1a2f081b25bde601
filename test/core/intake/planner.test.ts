import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Chain } from '../../../src/core/chain/index.js';
import type { ImportProgress, ImportResult } from '../../../src/core/contract/index.js';
import { importPaths, openPlanner, type Planner } from '../../../src/core/intake/index.js';
import { atOnce, checkProject } from '../../../src/core/project/index.js';
import { listRequests } from '../../../src/core/requests/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyProject, scratch } from '../../support/project.js';
import { type Message, openWriter } from '../../support/request-records.js';

const root = join(import.meta.dirname, '../../..');
const outDir = join(root, 'out', 'planner-test');
const transcripts = join(root, '../shared/transcripts');
const hasTranscripts = existsSync(transcripts);
if (!hasTranscripts) console.warn('skipped: the real histories (../shared/transcripts) are not on this machine');

let planner: Planner;
beforeAll(async () => {
  // The thread's script is bundled, as the product's is.
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: {
        input: { planner: join(root, 'src/core/intake/plan-worker.ts') },
        output: { entryFileNames: '[name].js', format: 'esm' },
      },
    },
  });
  planner = openPlanner(join(outDir, 'planner.js'), Date.now);
});
afterAll(() => planner.close());

/** Counts the files that came planned. */
function counting(by: Planner): Planner & { planned: number } {
  const counter = {
    planned: 0,
    close: by.close,
    ask: (request: Parameters<Planner['ask']>[0]) => {
      const asked = by.ask(request);
      return (
        asked && {
          ...asked,
          answer: (ms: number) => {
            const answer = asked.answer(ms);
            if (answer && answer !== 'pending') counter.planned += 1;
            return answer;
          },
        }
      );
    },
  };
  return counter;
}

async function imported(
  chain: Chain,
  paths: readonly string[],
  by?: Planner,
  between: (event: ImportProgress) => void = () => {},
): Promise<ImportResult> {
  const run = importPaths(chain, { paths }, by);
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
    between(step.value);
    await setImmediate();
  }
}

/** All that an import writes, without what is chance. */
const stored = ({ db }: Chain): unknown =>
  Object.fromEntries(
    [
      'SELECT * FROM context ORDER BY seq',
      'SELECT no, key, size, contentType FROM artifact ORDER BY no',
      'SELECT * FROM outline ORDER BY artifact',
      'SELECT * FROM record ORDER BY record',
      'SELECT * FROM started ORDER BY context',
      'SELECT * FROM request ORDER BY no',
      'SELECT * FROM requestMessage ORDER BY no',
      'SELECT * FROM requestPage ORDER BY first',
      'SELECT no, path, format, size, hash, resumeAt, resumeHash, sessionId, title, cwd, tips, pieces FROM source ORDER BY no',
    ].map((sql) => [sql, db.all(sql)]),
  );

const filler = 'x'.repeat(60_000);
const session = (name: string, turns: number): string =>
  Array.from(
    { length: turns },
    (_, n) =>
      prompt(`${name}-u${n}`, `question ${n} ${name}`, { parent: n === 0 ? null : `${name}-a${n - 1}` }) +
      answer(`${name}-a${n}`, `answer ${filler} ${n}`, { parent: `${name}-u${n}` }),
  ).join('');

/** Prompts with their calls and answers, more than what is worth a thread. */
function sessionWithCalls(): string {
  const writer = openWriter('calls');
  const messages: Message[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const asked = `question ${turn} ${filler}`;
    writer.prompt(asked);
    messages.push({ role: 'user', content: asked });
    writer.send({ system: [{ type: 'text', text: 'Be brief.' }], tools: [] }, [...messages]);
    messages.push(writer.reply([{ type: 'text', text: `answer ${turn}` }]));
  }
  return writer.text();
}

/** So much is said, in short, that the outlines are more than may wait to be stored. */
const talkative = (name: string): string =>
  Array.from({ length: 400 }, (_, n) => {
    const said = Array.from({ length: 40 }, (_, at) =>
      answer(`${name}-${n}-${at}`, 'so it is '.repeat(14), { parent: at === 0 ? `${name}-${n}` : `${name}-${n}-${at - 1}` }),
    );
    return prompt(`${name}-${n}`, `question ${n}`, { parent: n === 0 ? null : `${name}-${n - 1}-39` }) + said.join('');
  }).join('');

/** Files of every sort, more than what is worth a thread: long and short, torn, of others, and one that repeats another's lines. */
function folderOfFiles(): string {
  const folder = scratch();
  const long = session('long', 220);
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('1-long.jsonl', long);
  write('2-fork.jsonl', `${long.slice(0, long.lastIndexOf('{'))}${prompt('fork-u', 'instead', { parent: 'long-u219' })}`);
  write('3-torn.jsonl', `${session('torn', 20)}{"type":"user","uuid":"half`);
  write('4-broken.jsonl', `${session('broken', 5)}{"parentUuid":"broken-a4","type":"us\n${prompt('after', 'on', { parent: 'broken-a4' })}`);
  write('5-empty.jsonl', '');
  write('6-other.json', '{"of":"something else"}');
  return folder;
}

describe('threads that plan beside the one that stores', () => {
  test('[F2, F21] what is stored is the same with them and without', async () => {
    const folder = folderOfFiles();
    const alone = emptyProject();
    const helped = emptyProject();
    const count = counting(planner);
    const { ms: _, ...expected } = await imported(alone.chain, [folder]);
    expect(await imported(helped.chain, [folder], count)).toMatchObject(expected);
    expect(expected).toMatchObject({ commits: 220 + 1 + 20 + 6, sessions: 4 });
    expect(count.planned).toBe(4);
    expect(stored(helped.chain)).toEqual(stored(alone.chain));
    expect(atOnce(checkProject(helped)).problems).toEqual([]);
    // What is stored is not planned again, and what has grown is planned from where it ended.
    appendFileSync(join(folder, '1-long.jsonl'), prompt('later', 'on', { parent: 'long-a219' }));
    expect(await imported(helped.chain, [folder], count)).toMatchObject({ commits: 1 });
    expect(count.planned).toBe(4);
  });

  test.skipIf(!hasTranscripts)('[F2, F21] real histories of every format are stored the same with them and without', async () => {
    const folder = scratch();
    for (const [at, name] of readdirSync(transcripts, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.jsonl?$/.test(path))
      .entries()) {
      mkdirSync(join(folder, String(at)));
      copyFileSync(join(transcripts, name), join(folder, String(at), name.replaceAll(/[/\\]/g, '_')));
    }
    const [alone, helped] = [emptyProject(), emptyProject()];
    const count = counting(planner);
    const { ms: _, ...expected } = await imported(alone.chain, [folder]);
    expect(await imported(helped.chain, [folder], count)).toMatchObject(expected);
    expect(count.planned).toBeGreaterThan(20);
    expect(stored(helped.chain)).toEqual(stored(alone.chain));
  });

  test('[R3] calls that are read while the file is planned are stored the same', async () => {
    const path = join(scratch(), 'calls.jsonl');
    writeFileSync(path, sessionWithCalls());
    const [alone, helped] = [emptyProject(), emptyProject()];
    const count = counting(planner);
    await imported(alone.chain, [path]);
    await imported(helped.chain, [path], count);
    expect(count.planned).toBe(1);
    expect(stored(helped.chain)).toEqual(stored(alone.chain));
    const proofs = listRequests(helped.chain, {}).map(({ proof, messageCount }) => [proof, messageCount]);
    expect(proofs).toEqual(Array.from({ length: 40 }, (_, n) => ['digest', 2 * n + 1]));
  });

  test('a file that changes after it was planned is read as it is now', async () => {
    const folder = folderOfFiles();
    const { chain } = emptyProject();
    let changed = false;
    await imported(chain, [folder], planner, ({ path }) => {
      if (changed || !path?.endsWith('1-long.jsonl')) return;
      changed = true;
      // By the second turn of the first file the threads have been given the others.
      appendFileSync(join(folder, '3-torn.jsonl'), '"}\n');
      appendFileSync(join(folder, '4-broken.jsonl'), answer('more', 'indeed', { parent: 'after' }));
    });
    expect(changed).toBe(true);
    expect(chain.db.one('SELECT 1 FROM record WHERE record = ?', 'more')).toBeDefined();
  });

  test('one that does not start, or breaks, is as if there were none', async () => {
    const folder = folderOfFiles();
    const alone = emptyProject();
    await imported(alone.chain, [folder]);
    const scripts = { 'missing.mjs': undefined, 'ends.mjs': 'process.exit(1)', 'throws.mjs': "throw new Error('no')", 'syntax.mjs': 'not a script' };
    for (const [name, text] of Object.entries(scripts)) {
      const entry = join(folder, name);
      if (text !== undefined) writeFileSync(entry, text);
      const broken = openPlanner(entry, Date.now);
      onTestFinished(broken.close);
      const { chain } = emptyProject();
      const count = counting(broken);
      await imported(chain, [folder], count);
      expect(count.planned).toBe(0);
      expect(stored(chain)).toEqual(stored(alone.chain));
    }
  });

  test('one that goes away in the middle of a file is as if there were none', async () => {
    const folder = folderOfFiles();
    const entry = join(folder, 'breaks.mjs');
    // The first commits are handed over, the next are not.
    writeFileSync(
      entry,
      `import { MessagePort } from 'node:worker_threads';
       const { postMessage } = MessagePort.prototype;
       let handed = 0;
       MessagePort.prototype.postMessage = function (message, ...others) {
         if (Array.isArray(message) && ++handed > 1) throw new Error('no');
         return postMessage.call(this, message, ...others);
       };
       await import(${JSON.stringify(pathToFileURL(join(outDir, 'planner.js')).href)});`,
    );
    const broken = openPlanner(entry, Date.now);
    onTestFinished(broken.close);
    const many = scratch();
    writeFileSync(join(many, 'many.jsonl'), talkative('many'));
    const [alone, helped] = [emptyProject(), emptyProject()];
    const count = counting(broken);
    const { ms: _, ...expected } = await imported(alone.chain, [many]);
    expect(await imported(helped.chain, [many], count)).toMatchObject(expected);
    expect(count.planned).toBe(1);
    expect(stored(helped.chain)).toEqual(stored(alone.chain));
  });

  test('an import that is left in the middle lets go of what was planned ahead', async () => {
    const folder = scratch();
    for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `${name}.jsonl`), talkative(name));
    const left = importPaths(emptyProject().chain, { paths: [folder] }, planner);
    for (const { done } of left) if (done > 0) break;
    const count = counting(planner);
    const { chain } = emptyProject();
    expect(await imported(chain, [folder], count)).toMatchObject({ commits: 3 * 400, skipped: [] });
    expect(count.planned).toBe(3);
  });

  test('little is not worth a thread', async () => {
    const path = join(scratch(), 'short.jsonl');
    writeFileSync(path, session('short', 3));
    const count = counting(planner);
    expect(await imported(emptyProject().chain, [path], count)).toMatchObject({ commits: 3 });
    expect(count.planned).toBe(0);
  });
});
