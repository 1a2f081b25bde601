import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { entries, materializedBytes, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { idOf, targets } from '../../../src/core/export/documents.js';
import { exportContext, exportFormats, resumeIn } from '../../../src/core/export/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { createProject } from '../../../src/core/project/index.js';
import { prompt } from '../../support/claude-lines.js';
import { textOfExport } from '../../support/exported.js';
import { emptyChain, heldClock, scratch, scratchUntilEnd } from '../../support/project.js';
import { root } from '../../support/source.js';

function imported(chain: WriteChain, ...paths: string[]) {
  const steps = importPaths(chain, { paths });
  for (;;) {
    const step = steps.next();
    if (step.done) return { chain, result: step.value };
  }
}

const sample = join(root, 'resources/sample');
interface Line {
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly logicalParentUuid?: string;
  readonly sessionId?: string;
}
const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

function checkpointsIn(database: Buffer): string {
  const db = new Database(database);
  const { text } = db.prepare('SELECT CAST(checkpoint AS TEXT) AS text FROM checkpoints').get() as { text: string };
  db.close();
  return text;
}

describe('exports of the sample', () => {
  // No test changes the project, so all share one.
  const dir = scratchUntilEnd();
  const project = createProject({ dir: join(dir, 'test') }, heldClock());
  const { result } = imported(project.chain, sample);
  const sampleProject = { chain: project.chain, result, all: tips(project.chain, {}) };
  const opened = () => sampleProject;
  afterAll(() => project.close());

  test('the sample imports without a skip', () => {
    const { result, all } = opened();
    expect({ sessions: result.sessions, skipped: result.skipped }).toEqual({ sessions: 4, skipped: [] });
    expect(all.length).toBeGreaterThanOrEqual(5);
  });

  test.each(targets.map(idOf))('every tip can be exported as %s, with its last reply in it', (format) => {
    const { chain, all } = opened();
    for (const tip of all) {
      const made = exportContext(chain, { id: tip.id, format });
      expect(Buffer.byteLength(made.text ?? '') + Buffer.from(made.data ?? '', 'base64').length).toBe(made.bytes);
      const data = Buffer.from(made.data ?? '', 'base64');
      const isDatabase = data.subarray(0, 6).toString() === 'SQLite';
      const text = isDatabase ? checkpointsIn(data) : textOfExport(made);
      const words = entries(chain, { id: tip.id }).entries.findLast((entry) => entry.kind === 'text' && entry.role === 'assistant')?.text;
      const line = (words ?? '').split('\n')[0] ?? '';
      const quoted = (words: string) => JSON.stringify(words).slice(1, -1);
      // As it is, in JSON, or in JSON within JSON.
      expect([line, quoted(line), quoted(quoted(line))].some((form) => text.includes(form))).toBe(true);
    }
  });

  test('[F14] every line has the new session id and follows an earlier line', () => {
    const { chain, all } = opened();
    for (const tip of all) {
      const lines = linesOf(exportContext(chain, { id: tip.id, format: 'claude-code-v1' }).text ?? '');
      const ids = new Set(lines.flatMap((line) => line.sessionId ?? []));
      expect(ids.size).toBe(1);
      expect(ids.has(tip.sessionId ?? '')).toBe(false);
      const before = new Set<string>();
      for (const { uuid, parentUuid, logicalParentUuid } of lines) {
        for (const named of [parentUuid, logicalParentUuid]) if (named) expect(before).toContain(named);
        if (uuid) before.add(uuid);
      }
    }
  });

  test('[F20] the tier says whether an export is native, translated or rendered', () => {
    const { chain, all } = opened();
    const id = all[0]?.id as never;
    const tiers = Object.fromEntries(targets.map((target) => [idOf(target), exportContext(chain, { id, format: idOf(target) }).tier]));
    expect(tiers).toMatchObject({
      html: 'rendered',
      'claude-code-v1': 'native',
      'codex-v1': 'translated',
      'pi-v1': 'translated',
      'anthropic-messages-v1': 'translated',
      'openai-chat-v1': 'translated',
      markdown: 'rendered',
    });
  });

  test('[F32] an export loses exactly what the list of formats predicts', { tags: 'long' }, () => {
    const { chain, all } = opened();
    for (const tip of all) {
      const formats = exportFormats(chain, { id: tip.id, stop: 'compaction' });
      expect(formats.map(({ format }) => format)).toEqual(targets.map(idOf));
      for (const { format, tier, lossCounts } of formats)
        expect({ format, tier, lossCounts }).toEqual({
          format,
          ...(({ tier, lossCounts }) => ({ tier, lossCounts }))(exportContext(chain, { id: tip.id, stop: 'compaction', format })),
        });
    }
  });

  test.each(['html', 'markdown'])('[F32] %s is written in parts: file and text are equal, and a failure leaves no file', (format) => {
    const { chain, all } = opened();
    const id = all[0]?.id as never;
    const path = join(scratch(), 'out');
    const { text, bytes } = exportContext(chain, { id, format });
    expect(exportContext(chain, { id, format, path })).toMatchObject({ path, bytes });
    expect(readFileSync(path, 'utf8')).toBe(text);
    const broken = join(scratch(), 'broken');
    const fail = (): never => {
      throw new Error('the disk is gone');
    };
    const failing = { ...chain, artifacts: { ...chain.artifacts, readInTurn: fail } } as typeof chain;
    expect(() => exportContext(failing, { id, format, path: broken })).toThrow('the disk is gone');
    expect(existsSync(broken)).toBe(false);
  });

  test('an unknown format is refused with the list of known ones', () => {
    const { chain, all } = opened();
    expect(() => exportContext(chain, { id: all[0]?.id as never, format: 'html5' })).toThrow(/html5.*html, markdown.*claude-code-v1/);
  });

  test('[F15] an existing file is never overwritten', () => {
    const { chain, all } = opened();
    const path = join(scratch(), 'taken.jsonl');
    writeFileSync(path, 'mine');
    const id = all[0]?.id as never;
    expect(() => exportContext(chain, { id, format: 'claude-code-v1', path })).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  test('[F15] resuming a context twice writes two files with two ids', () => {
    const { chain, all } = opened();
    const home = scratch();
    mkdirSync(join(home, 'projects'));
    const id = all.find((tip) => tip.sessionId)?.id as never;
    const [one, two] = [
      resumeIn(chain, [{ agent: 'claude-code', root: home }], { id, cwd: '/home/sam/larder' }),
      resumeIn(chain, [{ agent: 'claude-code', root: home }], { id, cwd: '/home/sam/larder' }),
    ];
    expect(one.path).not.toBe(two.path);
    expect(existsSync(one.path) && existsSync(two.path)).toBe(true);
    expect(readdirSync(join(home, 'projects'))).toEqual(['-home-sam-larder']);
    expect(one.command).toBe(`cd /home/sam/larder && claude --resume ${one.sessionId}`);
  });
});

test('[F9] a line of an unknown kind keeps its place in the chain and in exports', () => {
  const unknown = '{"type":"from-next-year","__proto__":{"polluted":true},"uuid":"x1","parentUuid":"u1","payload":[1,{"deep":"x"}]}\n';
  const bare = `${JSON.stringify({ type: 'mode', mode: 'of-next-year' })}\n`;
  const file = join(scratch(), '00000000-0000-4000-8000-000000000009.jsonl');
  const text = prompt('u1', 'hello') + unknown + bare + prompt('u2', 'and more', { parent: 'x1' });
  writeFileSync(file, text);
  const { chain, result } = imported(emptyChain(), file);
  const [tip] = tips(chain, {});
  expect(result.skipped).toEqual([]);
  expect(Buffer.from(materializedBytes(chain, { id: tip?.id as never, stop: 'root' }).bytes).toString()).toBe(text);
  expect(requireFormat('claude-code-v1').parse(Buffer.from(unknown)).problems).toEqual([]);
});
