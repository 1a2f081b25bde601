import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import { getRequest, listRequests } from '../../../../src/core/requests/index.js';
import { hasAgent, liveRun, unlessHere } from '../../../support/agents.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { root } from '../../../support/source.js';

const fixture = (name: string): string => join(root, 'test/fixtures/gemini', name);

function imported(...paths: string[]): WriteChain {
  const chain = emptyChain();
  importInto(chain, ...paths);
  return chain;
}

interface Content {
  readonly role: string;
  readonly parts: readonly {
    readonly text?: string;
    readonly thoughtSignature?: string;
    readonly functionCall?: object;
    readonly functionResponse?: object;
  }[];
}
const contentsIn = (body: object): readonly Content[] => (body as { contents: readonly Content[] }).contents;

/** Without the signatures that the file lacks, and with only the first words of the context, which is sent anew with each start. */
const comparable = (contents: readonly Content[]): unknown =>
  contents.map(({ role, parts }) => ({
    role,
    parts: parts.map(({ thoughtSignature: _, ...part }) => (part.text?.startsWith('<session_context>') ? '<session_context>' : part)),
  }));

test('each answer was a call; its contents are listed, and what is not recorded is named', () => {
  const chain = imported(fixture('tour.jsonl'));
  const rows = listRequests(chain, {});
  expect(rows.map(({ messageCount, proof, source, model, tokens }) => [messageCount, proof, source, model, tokens.input, tokens.output])).toEqual([
    [1, 'recorded', 'gemini', 'gemini-2.5-pro', 100, 15],
    [3, 'recorded', 'gemini', 'gemini-2.5-pro', 200, 10],
    [5, 'recorded', 'gemini', 'gemini-2.5-pro', 300, 10],
    [7, 'recorded', 'gemini', 'gemini-2.5-pro', 900_000, 10],
    [5, 'recorded', 'gemini', 'gemini-2.5-pro', 700, 10],
    [7, 'recorded', 'gemini', 'gemini-2.5-pro', 800, 10],
    [7, 'recorded', 'gemini', 'gemini-2.5-pro', 900, 10],
  ]);
  for (const { requestId, messageCount } of rows) expect(contentsIn(getRequest(chain, requestId).body)).toHaveLength(messageCount);
  const { body, missing, provider } = getRequest(chain, rows[1]?.requestId ?? '');
  expect({ provider, missing }).toEqual({
    provider: 'gemini',
    missing: ['systemInstruction', 'tools', 'generationConfig', 'contents: signatures of thoughts beside calls'],
  });
  expect(contentsIn(body).slice(1)).toEqual([
    {
      role: 'model',
      parts: [
        { text: 'Let me look.' },
        { functionCall: { id: 'call_1_0', name: 'read_file', args: { file_path: 'src/queue.js' } } },
        { functionCall: { id: 'call_1_1', name: 'list_directory', args: { dir_path: '.' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'call_1_0', name: 'read_file', response: { output: 'export const retry = (n) => n * 2;\n' } } },
        {
          functionResponse: {
            id: 'call_1_1',
            name: 'list_directory',
            response: { output: 'Directory listing for /home/ada/demo/project:\n[DIR] src\nREADME.md (7 bytes)' },
          },
        },
      ],
    },
  ]);
  const resumed = getRequest(chain, rows[3]?.requestId ?? '');
  expect(contentsIn(resumed.body)[2]?.parts).toHaveLength(4);
  expect(resumed.missing).toContain('contents[0]: place and time as they were told when the session was opened again');
});

test('what a session of an older version sent is in its document', () => {
  const chain = imported(fixture('older.json'));
  const rows = listRequests(chain, {});
  expect(rows.map(({ messageCount }) => messageCount)).toEqual([1, 3, 5, 7]);
  for (const { requestId, messageCount } of rows) expect(contentsIn(getRequest(chain, requestId).body)).toHaveLength(messageCount);
  expect(contentsIn(getRequest(chain, rows[1]?.requestId ?? '').body)[2]?.parts).toEqual([
    { functionResponse: { id: 'run_shell_command-1', name: 'run_shell_command', response: { output: 'blue.md\nred.md' } } },
    { functionResponse: { id: 'run_shell_command-2', name: 'run_shell_command', response: { error: 'no such file' } } },
  ]);
});

test('a session imported while it grows has the same calls', () => {
  const lines = readFileSync(fixture('tour.jsonl'), 'utf8').split(/(?<=\n)/);
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  // After prompts and answers, and after an answer whose tools are still running.
  for (const end of [3, 5, 8, 10, 13, 16, 23, 28, 31, 36, 40, 43, 47]) {
    writeFileSync(path, lines.slice(0, end).join(''));
    importInto(chain, path);
  }
  const whole = imported(fixture('tour.jsonl'));
  const bodies = (one: WriteChain): unknown => listRequests(one, {}).map(({ requestId }) => getRequest(one, requestId).body);
  expect(bodies(chain)).toEqual(bodies(whole));
});

describe.skipIf(!hasAgent('gemini'))(`the real Gemini CLI${unlessHere('gemini')}`, () => {
  test('[R1] every call that is no compression is listed, and its contents are those on the wire', () => {
    const { transcripts, wire: sent } = liveRun('gemini');
    const chain = imported(...transcripts.filter((path) => path.includes('/chats/')));
    const wire = sent
      .map((body) => body as unknown as { readonly contents: readonly Content[] })
      .filter(({ contents }) => !JSON.stringify(contents.at(-1)).includes('<state_snapshot>'));
    const rows = listRequests(chain, {});
    expect(rows).toHaveLength(wire.length);
    expect(rows.map(({ requestId }) => comparable(contentsIn(getRequest(chain, requestId).body)))).toEqual(
      wire.map(({ contents }) => comparable(contents)),
    );
  });
});
