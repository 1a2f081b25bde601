import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contextEntries, entries, tips } from '../../../../src/core/chain/index.js';
import { exportContext } from '../../../../src/core/export/index.js';
import { listSources } from '../../../../src/core/import/index.js';
import { filesOf, hasAgent, liveRun, sentOnResume, transcripts, unlessHere } from '../../../support/agents.js';
import { bytesOfSource, importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { expectRetold } from '../retold.js';

interface Content {
  readonly role: string;
  readonly parts: readonly { readonly text?: string }[];
}

/** What the real agent sends when it resumes the file and gets the prompt PING, without its context message. */
function sentFor(path: string, agent: 'gemini' | 'claude' = 'gemini'): readonly unknown[] {
  const sent = sentOnResume(agent, path) as readonly Content[];
  return sent.map((content) =>
    content.parts ? { ...content, parts: content.parts.filter(({ text }) => !text?.startsWith('<session_context>')) } : content,
  );
}

const written = (text = ''): string => {
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, text);
  return path;
};

describe.skipIf(!hasAgent('gemini'))(`the real Gemini CLI${unlessHere('gemini')}`, () => {
  const files = hasAgent('gemini') ? liveRun('gemini').transcripts.filter((path) => path.includes('/chats/')) : [];
  const inCorpus = hasAgent('gemini') ? filesOf(join(transcripts, 'gemini-cli'), /\.json$/) : [];

  test('[F1, F21] every session comes back from the store', () => {
    const chain = emptyChain();
    const result = importInto(chain, ...files, ...inCorpus);
    expect([...result.skipped, ...result.notes]).toEqual([]);
    const sources = listSources(chain);
    expect(sources).toHaveLength(files.length + inCorpus.length);
    for (const source of sources) {
      expect(bytesOfSource(chain, source.sourceId).equals(readFileSync(source.path)), source.path).toBe(true);
    }
  });

  test('[F14] resumes our export of each session like the original', () => {
    const chain = emptyChain();
    importInto(chain, ...files, ...inCorpus);
    const sources = listSources(chain).filter((source) => source.tips.length > 0);
    expect(sources).toHaveLength(4);
    for (const { path, tips: ends } of sources) {
      const text = exportContext(chain, { id: ends.at(-1) as never, format: 'gemini-v1' }).text;
      expect(sentFor(written(text)), basename(path)).toEqual(sentFor(path));
    }
  });

  test('[F14] a branch that was taken back is resumed with its own history', () => {
    const chain = emptyChain();
    importInto(chain, ...files);
    const left = tips(chain, {}).find(({ id }) => entries(chain, { id }).entries.some(({ text }) => text === 'And more, after the compression'));
    const sent = JSON.stringify(sentFor(written(exportContext(chain, { id: left?.id as never, format: 'gemini-v1' }).text)));
    expect(sent).toContain('SUMMARY OF WORK');
    expect(sent).toContain('And more, after the compression');
    expect(sent).not.toContain('Try another way');
    expect(sent).not.toContain('Fix the queue retry');
  });

  test('Gemini CLI resumes a Claude Code session with its texts, calls and results', () => {
    const chain = emptyChain();
    const { tips: ends } = importInto(chain, join(transcripts, 'claude-code/entire-ada8171575ce-image-in-tool-result.jsonl'));
    const id = ends.at(-1) as never;
    const sent = JSON.stringify(sentFor(written(exportContext(chain, { id, format: 'gemini-v1' }).text)));
    const said = contextEntries(chain, { id }).map(({ entry }) => entry);
    expect(said.length).toBeGreaterThan(20);
    expectRetold(sent, said, { calls: 'name' });
  });
});
