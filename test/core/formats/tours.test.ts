import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, JsonObject } from '../../../src/core/base/index.js';
import { type Chain, contextEntries, tips } from '../../../src/core/chain/index.js';
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

describe.skipIf(!tours)('tours of real agents (STEMMA_AGENTS=all runs them)', () => {
  /** The texts of the messages that a request held, without the system prompt. */
  const heard = (body: JsonObject): string => JSON.stringify(body.messages);

  test.each(readers)(
    '[F21, F35, F38] what %s wrote comes back byte for byte, and every branch can be read',
    (agent, format) => {
      const run = liveRun(agent);
      const files = filesOf(run.sessions, agent === 'copilot' ? /events\.jsonl$/ : /\.jsonl$/);
      const chain = emptyChain();
      const result = importInto(chain, ...files);
      expect(result.skipped).toEqual([]);
      for (const source of listSources(chain)) {
        expect(source.format).toBe(format);
        expect(bytesOfSource(chain, source.sourceId).equals(readFileSync(source.path)), source.path).toBe(true);
      }
      const wire = run.wire.map(heard).join('\n');
      const missing = tips(chain, {}).flatMap(({ id }) =>
        said(chain, id).filter((line) => /^user text/.test(line) && !wire.includes(JSON.stringify(line.slice(11)).slice(1, -1))),
      );
      expect(missing).toEqual([]);
    },
    600_000,
  );
});
