import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../src/core/base/index.js';
import { checkpoint, compact, update } from '../../src/core/chain/index.js';
import { idOf, targets } from '../../src/core/export/documents.js';
import { exportContext, exportRedacted, exportRedactedComparison } from '../../src/core/export/index.js';
import { redactJson, redactor, redactText } from '../../src/core/export/redact/index.js';
import { importPaths } from '../../src/core/import/index.js';
import { atOnce } from '../../src/core/project/index.js';
import { call, prompt, result } from '../support/claude-lines.js';
import { door } from '../support/door.js';
import { emptyChain, scratch } from '../support/project.js';

/** A token of its own for each field. Put together here, so that no scanner takes this file for a leak. */
const token = (field: string): string => `ghp_${Buffer.from(field.padEnd(20, 'x')).toString('hex').slice(0, 36)}`;
const fields = [
  ...['prompt', 'answer', 'thinking', 'toolName', 'argument', 'argumentName', 'nested', 'command', 'result', 'failure', 'author'],
  ...['callId', 'title', 'cwd', 'branch', 'summary', 'compaction', 'template', 'principal', 'mediaType', 'textFile', 'key', 'event'],
];

const assistant = (uuid: string, parent: string, content: object[]): string => {
  const line = JSON.parse(call(uuid, 'x', 'x', {}, { parent }));
  return `${JSON.stringify({ ...line, message: { ...line.message, model: token('author'), content } })}\n`;
};

/** A session with a secret in every field that a history can fill. */
function session() {
  const path = join(scratch(), 's1.jsonl');
  const extra = { cwd: `/work/${token('cwd')}`, gitBranch: token('branch') };
  const key = `a-${token('key')}`;
  const attached = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: `in a file: ${token('textFile')}` } };
  const image = { type: 'image', source: { type: 'base64', media_type: `image/${token('mediaType')}`, data: 'iVBORw0KGgo=' } };
  writeFileSync(
    path,
    [
      `${JSON.stringify({ type: 'summary', summary: token('title'), leafUuid: 'd' })}\n`,
      prompt(key, `use ${token('prompt')}`, { extra }),
      assistant('b', key, [
        { type: 'thinking', thinking: `I know ${token('thinking')}`, signature: 'c2VhbA' },
        { type: 'text', text: `I say ${token('answer')}` },
        {
          type: 'tool_use',
          id: `toolu_${token('callId')}`,
          name: `mcp__${token('toolName')}`,
          input: { a: token('argument'), [token('argumentName')]: [{ deep: [token('nested')] }], command: `echo '{"x":"\\n${token('command')}"}'` },
        },
      ]),
      result('c', `toolu_${token('callId')}`, `it printed ${token('result')}`, { parent: 'b', extra }),
      assistant('d', 'c', [{ type: 'tool_use', id: 'toolu_2', name: 'Read', input: {} }]),
      `${JSON.stringify({ ...JSON.parse(prompt('e', '', { parent: 'd' })), message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: token('failure') }, attached, image] } })}\n`,
      `${JSON.stringify({ type: 'system', subtype: 'informational', content: token('event'), uuid: 'f', parentUuid: 'e', timestamp: '2026-01-01T01:00:00.000Z', sessionId: 's1' })}\n`,
    ].join(''),
  );
  const chain = emptyChain();
  const tip = atOnce(importPaths(chain, { paths: [path] })).tips.at(-1) as ContextId;
  update(chain, tip, { summary: token('summary') });
  const named = checkpoint(chain, {
    parent: tip,
    type: 'delta',
    format: 'claude-code-v1',
    template: token('template'),
    principal: `me@${token('principal')}`,
    checkpoint: 'explicit',
    text: prompt('g', 'go on', { parent: 'f' }),
  });
  const compacted = compact(chain, named.id, `All in all: ${token('compaction')}`);
  return { chain, ids: [tip, named.id, compacted.id] };
}

const contentOf = ({ text, data }: { text?: string; data?: string }): string => text ?? Buffer.from(data ?? '', 'base64').toString('latin1');
const leaksIn = (text: string): string[] => fields.filter((field) => text.includes(token(field)) || text.includes(token(field).slice(4)));

describe('[T62] redaction reaches every field', () => {
  test.each(targets.map(idOf))('%s leaks no field, with the whole history or the context', async (format) => {
    const { chain, ids } = session();
    for (const id of ids)
      for (const stop of ['root', 'compaction'] as const) {
        const made = await exportRedacted(chain, { id, stop, format });
        expect(leaksIn(contentOf(made)), `${id} ${stop}`).toEqual([]);
        expect(leaksIn(JSON.stringify(made.redactions)), 'the list of what was replaced').toEqual([]);
      }
  });

  test('the fields are in the exports when nothing is redacted, so that the test can fail', () => {
    const { chain, ids } = session();
    const all = targets.flatMap((target) =>
      ids.flatMap((id) => (['root', 'compaction'] as const).map((stop) => contentOf(exportContext(chain, { id, stop, format: idOf(target) })))),
    );
    // The names of files and images are in no format that writes neither.
    expect(fields.filter((field) => !all.some((text) => text.includes(token(field))))).toEqual([]);
  });

  test('a comparison leaks no field', async () => {
    const { chain, ids } = session();
    const { text = '', redactions } = await exportRedactedComparison(chain, { ids, stop: 'root' });
    expect(leaksIn(text)).toEqual([]);
    expect(redactions?.length).toBeGreaterThan(1);
  });

  test('the procedures of the contract replace IP addresses when asked, with or without `redact`', async () => {
    const { client } = door();
    const text = prompt('a', `host 203.0.113.9 with ${token('prompt')}`);
    const made = await client.context.checkpoint({
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      template: 't',
      checkpoint: 'explicit',
      text,
    });
    const say = async (input: object) => (await client.export.context({ id: made.id, format: 'markdown', ...input })).text;
    expect(await say({ redact: true })).toContain('host 203.0.113.9 with [secret-1]');
    expect(await say({ redactIps: true })).toContain('host [ip-1] with [secret-1]');
    const other = await client.context.fork({ id: made.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: '198.51.100.4' } }] });
    const compared = await client.export.comparison({ ids: [made.id, other.id], redactIps: true });
    expect(compared.text).toMatch(/\[ip-\d\]/);
    // The address is in the title of the fork and in its changed text.
    expect(compared.redactions).toMatchObject([{ kind: 'ip', count: 2 }]);
  });
});

describe('[T63] a transcript cannot turn redaction off', () => {
  const plain = (text: string): Promise<string> => redactText(text, redactor(new Map(), { ipAddresses: false }));

  // secretlint reads comments that switch it off: a transcript may contain such a comment.
  test('a comment for secretlint hides no secret', async () => {
    const shopify = `shpss_${'0123456789abcdef'.repeat(2)}`;
    const text = `# secretlint-disable\n/* secretlint-disable */\n// secretlint-disable-next-line\n${shopify} ${token('prompt')}\n# secretlint-disable`;
    expect(await plain(text)).not.toMatch(/shpss|ghp_/);
  });

  // A placeholder in the transcript could pass for one of ours.
  test('a placeholder before a secret does not hide it', async () => {
    expect(await plain(`password=[secret-1] ${token('prompt')}`)).toBe('password=[secret-1] [secret-1]');
  });

  // One letter before a token would hide it from a rule that wants a word boundary.
  test.each(['\\n', '\\t', '\\\\n', '%20', '\\u0022', '\\x3d', '\u001b[31m', '_', '-', '=', '/', '"'])(
    '%j directly before a token does not hide it',
    async (before) => {
      expect(await plain(`a${before}${token('prompt')}`)).not.toContain(token('prompt').slice(4, 30));
    },
  );

  test('a secret that is split by an edit of JSON is found in each level of strings', async () => {
    const deep = JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ password: 'hunter2hunter2', t: token('prompt') }) }) });
    const left = await redactJson(deep, redactor(new Map(), { ipAddresses: false }));
    expect(left).not.toMatch(/hunter2|ghp_/);
    expect(JSON.parse(JSON.parse(JSON.parse(left).a).b)).toEqual({ password: '[secret-1]', t: '[secret-2]' });
  });

  test('ids stay linked: the same secret in a key and in a reference has one placeholder', async () => {
    const { chain, ids } = session();
    const { text = '' } = await exportRedacted(chain, { id: ids[0] as ContextId, stop: 'root', format: 'claude-code-v1' });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { uuid?: string; parentUuid?: string | null });
    const known = new Set(lines.map(({ uuid }) => uuid));
    expect(lines.filter(({ parentUuid }) => parentUuid && !known.has(parentUuid))).toEqual([]);
  });
});
