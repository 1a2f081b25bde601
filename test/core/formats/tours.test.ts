import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, JsonObject } from '../../../src/core/base/index.js';
import { contextEntries, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { listSources } from '../../../src/core/import/index.js';
import { filesOf, hasAgent, liveRun, sentOnResume, tours, transcripts, unlessHere } from '../../support/agents.js';
import { bytesOfSource, importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';
import { expectRetold } from './retold.js';

/** Agents that read exports of other agents' conversations, and the format of each. */
const readers = [
  ['copilot', 'copilot-cli-v1'],
  ['qwen', 'qwen-code-v1'],
] as const;

describe.each(readers)('the real %s', (agent, format) => {
  const written = (chain: WriteChain, id: ContextId): string => {
    const path = join(scratch(), 'session.jsonl');
    writeFileSync(path, exportContext(chain, { id, format }).text ?? '');
    return path;
  };

  const resumes = (path: string): void => {
    const chain = emptyChain();
    importInto(chain, path);
    const id = tips(chain, {}).find((tip) => said(chain, tip.id).length > 6)?.id as ContextId;
    const sent = sentOnResume(agent, written(chain, id));
    expectRetold(
      JSON.stringify(sent),
      contextEntries(chain, { id }).map(({ entry }) => entry),
      { without: ({ marks }) => marks?.includes('meta') ?? false },
    );
  };

  test.skipIf(!hasAgent(agent))(`[F37] resumes an export of a pi session with all of its turns${unlessHere(agent)}`, () =>
    resumes(join(root, 'test/fixtures/pi/tour.jsonl')),
  );

  test.skipIf(!hasAgent(agent) || !tours)(`[F37] resumes an export of a Claude Code session (STEMMA_AGENTS=all runs it)${unlessHere(agent)}`, () =>
    resumes(join(transcripts, 'claude-code/entire-ada8171575ce-image-in-tool-result.jsonl')),
  );
});

/** Each agent with its format, and the files that hold its sessions. */
const toured = [
  ['copilot', 'copilot-cli-v1', /events\.jsonl$/],
  ['qwen', 'qwen-code-v1', /\.jsonl$/],
  ['cline', 'cline-v1', /\.messages\.json$/],
  ['kilo', 'kilo-v1', /kilo\.db$/],
  ['openclaw', 'openclaw-v1', /openclaw-agent\.sqlite$/],
] as const;

/** What agents add to a request and record nowhere: the state of the machine in tags, times, and what frames a summary. */
const added = [
  /^The conversation history before this point was compacted into the following summary:|<\/?summary>/g,
  /<([a-z_-]+)>[\s\S]*?<\/\1>/g,
  /^What did we do so far\?$/,
  /^Some of the conversation history has been summarized to free up context\.[\s\S]*?Here is a summary of the prior context:/,
  /^<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT[\s\S]*$/,
  /^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d \w+\] /,
];
const bare = (text: string): string => added.reduce((left, more) => left.replace(more, ''), text).trim();
const plain = (texts: readonly string[]): string[] => texts.flatMap((text) => bare(text) || []);
const textsIn = (content: unknown): string[] =>
  typeof content === 'string' ? [content] : Array.isArray(content) ? content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [];
/** The texts of a request of any provider, without the system prompt and tools. */
const sentIn = ({ messages, input }: JsonObject): string[] =>
  plain(
    [messages ?? input].flatMap((list) =>
      (list as JsonObject[]).flatMap(({ role, content }) => (role === 'user' || role === 'assistant' ? textsIn(content) : [])),
    ),
  );

/** Every beginning of every conversation in the chain, as the texts that a model was sent, and all prompts. */
function toldIn(chain: WriteChain): { readonly told: ReadonlySet<string>; readonly prompts: ReadonlySet<string> } {
  const told = new Set<string>();
  const prompts = new Set<string>();
  for (const { commit } of graph(chain, { offset: 0, limit: 1_000 }).rows) {
    const texts: string[] = [];
    for (const { entry } of contextEntries(chain, { id: commit.id })) {
      const isSaid = (entry.kind === 'text' || entry.kind === 'summary') && (entry.role === 'user' || entry.role === 'assistant');
      if (!isSaid || entry.marks?.includes('hidden')) continue;
      texts.push(entry.text ?? '');
      told.add(JSON.stringify(plain(texts)));
      if (entry.role === 'user' && entry.kind === 'text') prompts.add(bare(entry.text ?? ''));
    }
  }
  return { told, prompts };
}

describe.skipIf(!tours)('tours of real agents (STEMMA_AGENTS=all runs them)', () => {
  test.each(toured)(
    '[F21, F35, F38, F46] files of %s come back whole, and what it sent is in the chain',
    (agent, format, like) => {
      const run = liveRun(agent);
      const chain = emptyChain();
      const result = importInto(chain, ...filesOf(run.sessions, like));
      expect(result.skipped).toEqual([]);
      for (const source of listSources(chain)) {
        expect(source.format).toBe(format);
        // A conversation in a database or document is no file.
        if (existsSync(source.path)) expect(bytesOfSource(chain, source.sourceId).equals(readFileSync(source.path)), source.path).toBe(true);
      }
      const { told, prompts } = toldIn(chain);
      // Requests for a summary, a title or the agent's memory end with no prompt of the session.
      const asked = run.wire.map(sentIn).filter((texts) => prompts.has(texts.at(-1) ?? ''));
      expect(asked.length).toBeGreaterThan(5);
      expect(asked.filter((texts) => !told.has(JSON.stringify(texts)))).toEqual([]);
    },
    1_200_000,
  );
});
