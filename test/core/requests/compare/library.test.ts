import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import { diffParts, getPart, listParts } from '../../../../src/core/requests/index.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { openWriter, type Shape } from '../../../support/request-records.js';

const text = (words: string) => ({ type: 'text', text: words });
const tool = (name: string, description: string) => ({ name, description, input_schema: { type: 'object' } });

/** Two sessions with the older prompt and one with the newer; the tools change in the middle of the last one. */
function imported(): WriteChain {
  const older: Shape = { system: [text('You help.\nBe brief.\nAsk first.')], tools: [tool('Read', 'reads'), tool('Bash', 'runs')] };
  const newer: Shape = { system: [text('You help.\nBe thorough.\nAsk first.')], tools: older.tools };
  const more: Shape = { system: newer.system, tools: [tool('Bash', 'runs a command'), tool('Read', 'reads'), tool('Web', 'fetches')] };
  const shapes: Record<string, Shape[]> = { s1: [older, older], s2: [older], s3: [newer, more, more] };
  const folder = scratch();
  for (const [session, sent] of Object.entries(shapes)) {
    const writer = openWriter(session);
    const messages: { role: string; content: string | ReturnType<typeof text>[] }[] = [];
    for (const shape of sent) {
      writer.prompt('go on');
      messages.push({ role: 'user', content: 'go on' });
      writer.send(shape, [...messages]);
      messages.push(writer.reply([text('yes')]) as never);
    }
    writeFileSync(join(folder, `${session}.jsonl`), writer.text());
  }
  const chain = emptyChain();
  importInto(chain, folder);
  return chain;
}

describe('the library of system prompts and tool sets', () => {
  test('each distinct one stands once, with who used it, when, how often, and what it costs', () => {
    const rows = listParts(imported());
    const briefly = rows.map(({ kind, head, calls, sessions, sections, agents, versions }) => [
      kind,
      head,
      calls,
      sessions,
      sections,
      agents,
      versions,
    ]);
    const by = [['sdk'], ['2.1.329']];
    expect(briefly).toHaveLength(4);
    expect(briefly).toEqual(
      expect.arrayContaining([
        ['system', 'You help. Be brief. Ask first.', 3, 2, 1, ...by],
        ['system', 'You help. Be thorough. Ask first.', 3, 1, 1, ...by],
        ['tools', 'Read, Bash', 4, 3, 2, ...by],
        ['tools', 'Bash, Read, Web', 2, 1, 3, ...by],
      ]),
    );
    for (const { tokens, first, last } of rows) {
      expect(tokens).toBeGreaterThan(5);
      expect(first <= last).toBe(true);
    }
  });

  test('what changed from one to another: lines of a prompt, tools by name', () => {
    const chain = imported();
    const rows = listParts(chain);
    const idOf = (head: string): string => rows.find((row) => row.head.startsWith(head))?.partId ?? '';
    expect(getPart(chain, idOf('You help. Be brief')).sections).toMatchObject([{ name: 'System prompt', text: 'You help.\nBe brief.\nAsk first.' }]);
    expect(diffParts(chain, idOf('You help. Be brief'), idOf('You help. Be thorough'))).toMatchObject({
      same: false,
      sections: [
        {
          op: 'changed',
          lines: [
            { op: 'same', text: 'You help.' },
            { op: 'removed', text: 'Be brief.' },
            { op: 'added', text: 'Be thorough.' },
            { op: 'same', text: 'Ask first.' },
          ],
        },
      ],
    });
    const tools = diffParts(chain, idOf('Read, Bash'), idOf('Bash, Read, Web'));
    expect(tools).toMatchObject({ same: false, reordered: true });
    expect(tools.sections.map(({ name, op }) => [name, op])).toEqual([
      ['Read', 'same'],
      ['Bash', 'changed'],
      ['Web', 'added'],
    ]);
    expect(diffParts(chain, idOf('Read, Bash'), idOf('Read, Bash'))).toMatchObject({ same: true, reordered: false });
  });

  test('an id that names none is not found', () => {
    const chain = imported();
    expect(() => getPart(chain, 'prompt-0')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(() => diffParts(chain, listParts(chain)[0]?.partId ?? '', 'nobody')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});
