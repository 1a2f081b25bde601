import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../../src/core/base/index.js';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import { idOf, targets } from '../../../../src/core/export/documents.js';
import { exportContext, exportRedacted, exportRedactedComparison, redactor, replacedIn, textsOf } from '../../../../src/core/export/index.js';
import { zipEntries } from '../../../../src/core/formats/index.js';
import { importPaths } from '../../../../src/core/import/index.js';
import { atOnce } from '../../../../src/core/project/index.js';
import { prompt } from '../../../support/claude-lines.js';
import { textOfExport } from '../../../support/exported.js';
import { some } from '../../../support/long.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { isLeft, redacted } from './corpus.js';
import { ordinary, pngWith, type Shape, shapes, tableShapes } from './shapes.js';

type Line = Readonly<Record<string, unknown>>;

/** A session in which each shape stands in its place. */
function session(made: readonly Shape[]): { readonly chain: WriteChain; readonly id: ContextId } {
  const path = join(scratch(), 's1.jsonl');
  const lines: Line[] = [];
  const last = (): string | null => (lines.at(-1)?.uuid as string | undefined) ?? null;
  const sessionId = made.find(({ place }) => place === 'session')?.text ?? 's1';
  const add = (type: 'user' | 'assistant', content: unknown, more: Line = {}, model = 'm'): void => {
    const uuid = `u${lines.length}`;
    const base = JSON.parse(prompt(uuid, '', { parent: last() })) as Line;
    const message = type === 'user' ? { role: 'user', content } : { id: `msg_${uuid}`, role: 'assistant', type: 'message', model, content };
    lines.push({ ...base, type, message, sessionId, ...more });
  };
  const calls = (name: string, input: unknown): void => {
    const id = `t${lines.length}`;
    add('assistant', [{ type: 'tool_use', id, name, input }]);
    add('user', [{ type: 'tool_result', tool_use_id: id, content: 'done' }]);
  };
  const image = (data: string, type = 'image/png'): unknown => ({ type: 'image', source: { type: 'base64', media_type: type, data } });
  const title: Line[] = [];
  for (const { text, place } of made)
    switch (place) {
      case 'argument':
        calls('Bash', { command: text });
        break;
      case 'argument name':
        calls('Bash', { [text]: 1 });
        break;
      case 'argument named password':
        calls('Login', { password: text });
        break;
      case 'argument list':
        calls('Run', { argv: ['password', text] });
        break;
      case 'tool':
        calls(`mcp__${text}`, {});
        break;
      case 'result':
        add('assistant', [{ type: 'tool_use', id: 'r1', name: 'Read', input: {} }]);
        add('user', [{ type: 'tool_result', tool_use_id: 'r1', content: text }]);
        break;
      case 'thinking':
        add('assistant', [{ type: 'thinking', thinking: text, signature: 'c2VhbA' }]);
        break;
      case 'folder':
        add('user', 'in a folder', { cwd: `/work/${text}` });
        break;
      case 'model':
        add('assistant', [{ type: 'text', text: 'answer' }], {}, text);
        break;
      case 'title':
        title.push({ type: 'summary', summary: text, leafUuid: 'u0' });
        break;
      case 'session':
        add('user', 'a named session');
        break;
      case 'media type':
        add('user', [image('iVBORw0KGgo=', `image/${text}`)]);
        break;
      case 'PNG':
      case 'compressed text of PNG':
      case 'profile of PNG':
        add('user', [image(pngWith(text, place).toString('base64'))]);
        break;
      case 'document':
        add('user', [
          { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: Buffer.from(`it says ${text} here`).toString('base64') } },
        ]);
        break;
      case 'two entries':
        add('user', `first ${text.slice(0, 18)}`);
        add('user', `${text.slice(18)} second`);
        break;
      case 'text':
        add('user', text);
        add('assistant', [{ type: 'text', text: 'ok' }]);
    }
  add('assistant', [{ type: 'text', text: 'done' }]);
  writeFileSync(path, [...title, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const chain = emptyChain();
  return { chain, id: atOnce(importPaths(chain, { paths: [path] })).tips.at(-1) as ContextId };
}

/** What a reader finds in an export: its text, its strings without their escapes, and what its files contain. */
function readIn(exported: string): string {
  const unescaped = exported
    .replaceAll(/\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\+(["/nt\\])/g, (_, one: string) => (one === 'n' ? '\n' : one));
  const files = [...exported.matchAll(/[A-Za-z0-9+/_-]{40,}={0,2}/g)].map(([run]) => Buffer.from(run, 'base64'));
  const wrapped = [...unescaped.matchAll(/(?:[A-Za-z0-9+/]{76}\n)+[A-Za-z0-9+/]+={0,2}/g)].map(([run]) => Buffer.from(run, 'base64'));
  const hexes = [...exported.matchAll(/(?:[0-9a-f]{2}){40,}/g)].map(([run]) => Buffer.from(run, 'hex'));
  const bytes = [...files, ...wrapped, ...hexes].flatMap((file) => contentsOf(file));
  return [exported, unescaped, ...bytes].join('\n');
}

/** What a file contains, also in files that are packed in it. */
function contentsOf(file: Buffer, depth = 0): readonly string[] {
  const chunk = Math.max(file.indexOf('zTXt'), file.indexOf('iCCP'));
  const limits = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1_000_000 };
  const packed: readonly (() => readonly Uint8Array[])[] = [
    () => [gunzipSync(file, limits)],
    () => [inflateSync(file, limits)],
    () => [zstdDecompressSync(file, { ...limits, finishFlush: constants.ZSTD_e_flush })],
    () => [...(zipEntries(file)?.values() ?? [])].map((entry) => entry.read()),
    () => (chunk === -1 ? [] : [inflateSync(file.subarray(chunk + 13), limits)]),
  ];
  const inner = packed.flatMap((open) => unpacked(open)).map((one) => Buffer.from(one));
  const text = file.toString('latin1');
  if (depth > 2) return [text];
  const runs = inner.flatMap((one) => [...one.toString('latin1').matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)].map(([run]) => Buffer.from(run, 'base64')));
  return [text, ...[...inner, ...runs].flatMap((one) => contentsOf(one, depth + 1))];
}

function unpacked(open: () => readonly Uint8Array[]): readonly Uint8Array[] {
  try {
    return open();
  } catch {
    return [];
  }
}

/** The parts of a secret that no text may show: all of it, with and without what was put between. */
const isShown = (text: string, { secret, text: around, place }: Shape): boolean =>
  isLeft(text, secret) || (place === 'text' && secret !== around && text.includes(around));

describe('[T60] shapes of secrets that are made anew at each run', () => {
  test.each(
    some(
      shapes().filter(({ place }) => place === 'text'),
      30,
    ),
  )('finds: $name', async (shape) => {
    const text = await redacted(shape.text);
    expect(isLeft(readIn(text), shape.secret), text).toBe(false);
    expect(text).not.toBe(shape.text);
    const json = await redacted(JSON.stringify({ content: JSON.stringify({ deep: shape.text }) }), { isJson: true });
    expect(isShown(readIn(json), shape), json).toBe(false);
  });

  const tables = tableShapes();
  const groups = [...new Set(tables.map(({ name }) => name.split(':')[0]))];
  test.each(groups)('finds each %s whose name stands elsewhere, also in a string in a string', async (group) => {
    const left: string[] = [];
    for (const shape of tables.filter(({ name }) => name.startsWith(`${group}:`))) {
      const text = await redacted(shape.text);
      const json = await redacted(JSON.stringify({ content: JSON.stringify({ deep: shape.text }) }), { isJson: true });
      if (text === shape.text || isLeft(text, shape.secret) || isLeft(json, shape.secret)) left.push(`${shape.name}: ${text}`);
    }
    expect(left).toEqual([]);
  });

  test('changes no ordinary text', { tags: 'long' }, async () => {
    const texts = Array.from({ length: 5 }, ordinary).flat();
    const changed: string[] = [];
    for (const text of texts) {
      const left = await redacted(text);
      if (left !== text) changed.push(`${text} → ${left}`);
    }
    expect(changed).toEqual([]);
  });
});

describe('[T62] every format hides the same shapes', () => {
  const made = shapes();
  const shownIn = (text: string): string[] => {
    const read = readIn(text);
    return made.filter((shape) => isShown(read, shape)).map(({ name }) => name);
  };

  test.each(some(targets.map(idOf), 1))('%s', { timeout: 60_000 }, async (format) => {
    const { chain, id } = session(made);
    const whole = shownIn(textOfExport(exportContext(chain, { id, format, stop: 'root' })));
    expect(whole.length).toBeGreaterThan(made.length / 2);
    expect(shownIn(textOfExport(await exportRedacted(chain, { id, format, stop: 'root' })))).toEqual([]);
  });

  test('a comparison', { tags: 'long', timeout: 60_000 }, async () => {
    const { chain, id } = session(made);
    const { text = '' } = await exportRedactedComparison(chain, { ids: [id, id], stop: 'root' });
    expect(shownIn(text)).toEqual([]);
  });

  test('copies for a hub', { tags: 'long', timeout: 60_000 }, async () => {
    const { chain, id } = session(made);
    const { text = '' } = exportContext(chain, { id, format: 'claude-code-v1', stop: 'root' });
    const redact = redactor(new Map(), { ipAddresses: false });
    await redact.look(textsOf(Buffer.from(text), 'application/jsonl'));
    expect(shownIn(Buffer.from(replacedIn(Buffer.from(text), 'application/jsonl', redact)).toString())).toEqual([]);
  });

  // Each alone, so that no other place of the same kind helps to find it.
  test('a secret alone in its field', { tags: 'long', timeout: 60_000 }, async () => {
    const left: string[] = [];
    for (const shape of made.filter(({ place }) => place !== 'text')) {
      const alone = session([shape]);
      for (const format of ['claude-code-v1', 'markdown', 'html', 'openai-chat-v1'])
        if (isShown(readIn(textOfExport(await exportRedacted(alone.chain, { id: alone.id, format, stop: 'root' }))), shape))
          left.push(`${format} ${shape.name}`);
    }
    expect(left).toEqual([]);
  });
});
