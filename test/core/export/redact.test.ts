import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { materializedBytes } from '../../../src/core/chain/index.js';
import { idOf, targets } from '../../../src/core/export/documents.js';
import { exportContext, exportRedacted } from '../../../src/core/export/index.js';
import { redactJson, redactor, redactText } from '../../../src/core/export/redact/index.js';
import { entriesIn, type Format, formats, requireFormat } from '../../../src/core/formats/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { textOfExport as contentOf } from '../../support/exported.js';
import { emptyChain, scratch } from '../../support/project.js';

// Put together here, so that no scanner reports this file.
const token = `ghp_${'16C7e42F292c6912E7710c838347Ae178B4a'}`;
const awsKey = `wJalrXUtnFEMIaK7MDENGabPxRfiCYzzz${'TQWERTY'}`;

function session(...more: string[]) {
  const path = join(scratch(), 's1.jsonl');
  const lines = [
    prompt('a', `my token is ${token}, mail ada@example.org`),
    call('b', 't1', 'Write', { file_path: '/home/ada/x/.env', [`/home/ada/${token}`]: 1, aws_secret_access_key: awsKey }, { parent: 'a' }),
    result('c', 't1', `{"aws_secret_access_key": "${awsKey}"} -home-ada-x C:\\Users\\bob\\x`, { parent: 'b' }),
    answer('d', `Say "${awsKey}" and ${token} to Ada@example.org`, { parent: 'c' }),
    ...more,
  ];
  writeFileSync(path, lines.join(''));
  const chain = emptyChain();
  const steps = importPaths(chain, { paths: [path] });
  for (;;) {
    const step = steps.next();
    if (step.done) return { chain, id: step.value.tips.at(-1) as never };
  }
}

describe('[F30] redacted exports', () => {
  test.each(targets.map(idOf))('%s: no secret is left, the rest stays valid, and the chain keeps its bytes', async (format) => {
    const { chain, id } = session();
    const before = materializedBytes(chain, { id });
    expect(contentOf(exportContext(chain, { id, format }))).toContain(token);
    const made = await exportRedacted(chain, { id, format });
    const text = contentOf(made);
    for (const secret of [token, awsKey, 'home/ada', 'home-ada', 'ada@example', 'Ada@example', 'Users\\\\bob']) expect(text).not.toContain(secret);
    expect(Buffer.from(made.data ?? made.text ?? '', made.data ? 'base64' : 'utf8').length).toBe(made.bytes);
    const kinds = made.redactions?.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(['email', 'path', 'path', 'secret', 'secret']);
    expect(materializedBytes(chain, { id })).toEqual(before);
    const target = targets.find((one) => idOf(one) === format);
    if (target?.format) {
      const saidIn = (file: { text?: string; data?: string }) =>
        entriesIn(target.format as Format, Buffer.from(file.data ?? file.text ?? '', file.data ? 'base64' : 'utf8'));
      const kinds = (entries: ReturnType<typeof saidIn>) => entries.map(({ role, kind }) => `${role} ${kind}`);
      expect(kinds(saidIn(made))).toEqual(kinds(saidIn(exportContext(chain, { id, format }))));
    }
  });

  test.each(['claude-code-v1', 'anthropic-messages-v1', 'openai-chat-v1', 'pi-v1', 'codex-v1', 'markdown'])(
    '%s: same lines as without redaction, and the counts of placeholders are true',
    async (format) => {
      const { chain, id } = session();
      const open = exportContext(chain, { id, format }).text ?? '';
      const { text = '', redactions = [] } = await exportRedacted(chain, { id, format });
      expect(text.split('\n').length).toBe(open.split('\n').length);
      for (const { placeholder, count } of redactions) expect(text.split(placeholder).length - 1).toBe(count);
    },
  );

  const thought = (text: string, signature: string): string =>
    JSON.stringify({
      ...JSON.parse(answer('e', 'x', { parent: 'd' })),
      message: {
        id: 'm9',
        role: 'assistant',
        model: 'x',
        content: [
          { type: 'thinking', thinking: text, signature },
          { type: 'text', text: 'so' },
        ],
      },
    }).concat('\n');

  test.each(formats.filter(({ tier }) => tier === 'translated').map(({ id }) => id))(
    '%s: changed thinking loses its signature, which is reported; other thinking keeps it',
    async (format) => {
      const sealed = 'c2VhbGVkIHdpdGggdGhlIHNlY3JldA';
      const changed = session(thought(`mail ada@example.org`, sealed));
      const kept = session(thought('nothing of note', sealed));
      const whole = (one: typeof kept): string => contentOf(exportContext(one.chain, { id: one.id, format }));
      const isHeld = whole(kept).includes(sealed);
      expect(isHeld).toBe(requireFormat(format).holds.includes('signature'));
      const out = await exportRedacted(changed.chain, { id: changed.id, format });
      expect(contentOf(out)).not.toContain(sealed);
      expect(contentOf(out)).not.toContain('ada@example');
      if (isHeld) {
        expect(out.lossCounts.map(({ what }) => what).join()).toMatch(/signature of the thinking|unsigned thinking/);
        const same = await exportRedacted(kept.chain, { id: kept.id, format });
        expect(contentOf(same)).toContain(sealed);
        expect(same.lossCounts.map(({ what }) => what)).not.toContain('signature of the thinking');
      }
    },
  );

  test('a dry run predicts the real run, and neither writes nor returns content', async () => {
    const { chain, id } = session();
    const path = join(scratch(), 'out.jsonl');
    const looked = await exportRedacted(chain, { id, format: 'claude-code-v1', path, dryRun: true });
    expect(looked).not.toHaveProperty('text');
    expect(looked).not.toHaveProperty('path');
    const written = await exportRedacted(chain, { id, format: 'claude-code-v1', path });
    expect(written).toMatchObject({ path, redactions: looked.redactions });
  });

  test('JSON without secrets stays byte for byte the same', async () => {
    const json = '{ "a": 12345678901234567890, "b": "\\u00e9 \\\\\\"", "": [1.0, "x"] }\n';
    const none = redactor(new Map(), { ipAddresses: false });
    expect(await redactJson(json, none)).toBe(json);
    expect(none.made()).toEqual([]);
  });

  const plain = async (text: string): Promise<string> => redactText(text, redactor(new Map(), { ipAddresses: false }));

  test('the longer of two known names is replaced whole', async () => {
    expect(await plain('/home/al/x and /home/alice/y, not /homes/al')).toBe('[path-1]/x and [path-2]/y, not /homes/al');
  });

  test('home folders are found on every system; what only looks like an address stays', async () => {
    expect(await plain('/var/home/ada/x file:///Users/bob C:/Users/eve /mnt/c/Users/eve/y')).toBe('[path-1]/x file://[path-2] [path-3] [path-4]/y');
    expect(await plain('icon@2x.png git@github.com:a/b.git lodash@4.17.21 a@b')).toBe('icon@2x.png git@github.com:a/b.git lodash@4.17.21 a@b');
  });

  test('the same secret has the same placeholder in every part of a document', async () => {
    const { chain, id } = session();
    const { text = '', redactions = [] } = await exportRedacted(chain, { id, format: 'html' });
    for (const { placeholder, count } of redactions) expect(count).toBeLessThanOrEqual(text.split(placeholder).length);
    expect(new Set(redactions.map(({ placeholder }) => placeholder)).size).toBe(redactions.length);
  });
});
