import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, JsonObject } from '../../../src/core/base/index.js';
import { type Chain, contextEntries, graph, tips } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { listSources } from '../../../src/core/import/index.js';
import { filesOf, hasAgent, liveRun, sentOnResume, tours, unlessHere } from '../../support/agents.js';
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
  const written = (chain: Chain, id: ContextId): string => {
    const path = join(scratch(), 'session.jsonl');
    writeFileSync(path, exportContext(chain, { id, format }).text ?? '');
    return path;
  };

  test.skipIf(!hasAgent(agent))(`[F37] resumes an export of a pi session with all of its turns${unlessHere(agent)}`, () => {
    const chain = emptyChain();
    importInto(chain, join(root, 'test/fixtures/pi/tour.jsonl'));
    const id = tips(chain, {}).find((tip) => said(chain, tip.id).length > 6)?.id as ContextId;
    const sent = sentOnResume(agent, written(chain, id));
    expectRetold(
      JSON.stringify(sent),
      contextEntries(chain, { id }).map(({ entry }) => entry),
    );
  });
});

/** Each agent with its format, and the files that hold its sessions. */
const toured = [
  ['copilot', 'copilot-cli-v1', /events\.jsonl$/],
  ['qwen', 'qwen-code-v1', /\.jsonl$/],
  ['cline', 'cline-v1', /\.messages\.json$/],
  ['kilo', 'kilo-v1', /kilo\.db$/],
  ['openclaw', 'openclaw-v1', /openclaw-agent\.sqlite$/],
] as const;

/** What agents add to a request and record nowhere: the state of the machine, and the question before a summary. */
const added = /<environment_details>[\s\S]*<\/environment_details>|^What did we do so far\?$/g;
const plain = (texts: readonly string[]): string => texts.flatMap((text) => text.replace(added, '').trim() || []).join('\n');
const textsIn = (content: unknown): string[] =>
  typeof content === 'string' ? [content] : Array.isArray(content) ? content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [];
/** The texts of a request of any provider, without the system prompt and tools. */
const sentIn = ({ messages, input }: JsonObject): string =>
  plain(
    [messages ?? input].flatMap((list) =>
      (list as JsonObject[]).flatMap(({ role, content }) => (role === 'user' || role === 'assistant' ? textsIn(content) : [])),
    ),
  );

/** Every beginning of every conversation in the chain, as the texts that a model was sent. */
function toldIn(chain: Chain): Set<string> {
  const told = new Set<string>();
  for (const { commit } of graph(chain, { offset: 0, limit: 1_000 }).rows) {
    const texts: string[] = [];
    for (const { entry } of contextEntries(chain, { id: commit.id })) {
      const isSaid = (entry.kind === 'text' || entry.kind === 'summary') && (entry.role === 'user' || entry.role === 'assistant');
      if (!isSaid || entry.marks?.includes('hidden')) continue;
      texts.push(entry.text ?? '');
      told.add(plain(texts));
    }
  }
  return told;
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
      const told = toldIn(chain);
      // A request for a summary or title puts the conversation into one message.
      const prompts = tips(chain, {}).flatMap(({ id }) => said(chain, id));
      const unknown = run.wire.map(sentIn).filter((sent) => !told.has(sent) && prompts.includes(`user text  ${sent.split('\n')[0]?.slice(0, 40)}`));
      expect(unknown).toEqual([]);
      expect(run.wire.map(sentIn).filter((sent) => told.has(sent)).length).toBeGreaterThan(5);
    },
    1_200_000,
  );
});
