import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { materializedBytes } from '../../../src/core/chain/index.js';
import { exportContext, exportRedacted } from '../../../src/core/export/index.js';
import { redact } from '../../../src/core/export/redact.js';
import { importPaths } from '../../../src/core/intake/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain, scratch } from '../../support/project.js';

// Put together here, so that nobody's scanner takes this file for a leak.
const token = `ghp_${'16C7e42F292c6912E7710c838347Ae178B4a'}`;
const awsKey = `wJalrXUtnFEMIaK7MDENGabPxRfiCYzzz${'TQWERTY'}`;

function session() {
  const path = join(scratch(), 's1.jsonl');
  const lines = [
    prompt('a', `my token is ${token}, mail ada@example.org`),
    call('b', 't1', 'Write', { file_path: '/home/ada/x/.env', [`/home/ada/${token}`]: 1, aws_secret_access_key: awsKey }, { parent: 'a' }),
    result('c', 't1', `{"aws_secret_access_key": "${awsKey}"} -home-ada-x C:\\Users\\bob\\x`, { parent: 'b' }),
    answer('d', `Say "${awsKey}" and ${token} to Ada@example.org`, { parent: 'c' }),
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
  test.each(['claude-code-v1', 'anthropic-messages-v1', 'openai-chat-v1', 'pi-v1', 'codex-v1', 'markdown'])(
    '%s: nothing of it is left, the rest stays valid, and the chain keeps its bytes',
    async (format) => {
      const { chain, id } = session();
      const before = materializedBytes(chain, { id });
      const open = exportContext(chain, { id, format }).text ?? '';
      expect(open).toContain(token);
      const { text = '', redactions = [], bytes } = await exportRedacted(chain, { id, format });
      for (const secret of [token, awsKey, 'home/ada', 'home-ada', 'ada@example', 'Ada@example', 'Users\\\\bob']) expect(text).not.toContain(secret);
      expect(Buffer.byteLength(text)).toBe(bytes);
      expect(text.split('\n').length).toBe(open.split('\n').length);
      if (format.startsWith('anthropic') || format.startsWith('openai')) JSON.parse(text);
      else if (format !== 'markdown') for (const line of text.split('\n').filter(Boolean)) JSON.parse(line);
      for (const { placeholder, count } of redactions) expect(text.split(placeholder).length - 1).toBe(count);
      expect(redactions.map(({ kind }) => kind).sort()).toEqual(['email', 'path', 'path', 'secret', 'secret']);
      expect(materializedBytes(chain, { id })).toEqual(before);
    },
  );

  test('a dry run says what a second run then does, and neither writes nor returns content', async () => {
    const { chain, id } = session();
    const path = join(scratch(), 'out.jsonl');
    const looked = await exportRedacted(chain, { id, format: 'claude-code-v1', path, dryRun: true });
    expect(looked).not.toHaveProperty('text');
    expect(looked).not.toHaveProperty('path');
    const written = await exportRedacted(chain, { id, format: 'claude-code-v1', path });
    expect(written).toMatchObject({ path, redactions: looked.redactions });
  });

  test('a format that is no text is refused', async () => {
    const { chain, id } = session();
    await expect(exportRedacted(chain, { id, format: 'events-v1' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  test('what holds nothing stays byte for byte, numbers and spaces among it', async () => {
    const json = '{ "a": 12345678901234567890, "b": "\\u00e9 \\\\\\"", "": [1.0, "x"] }\n';
    expect(await redact(json, 'json', new Map())).toEqual({ text: json, redactions: [] });
  });

  test('the longer of two names is taken whole', async () => {
    const { text, redactions } = await redact('/home/al/x and /home/alice/y, not /homes/al', 'plain', new Map());
    expect(text).toBe('[path-1]/x and [path-2]/y, not /homes/al');
    expect(redactions).toHaveLength(2);
  });
});
