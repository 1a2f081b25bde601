import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ContextId, decodeText } from '../../../src/core/base/index.js';
import { checkpoint, compact, contextEntries, entries, findCommit, fork, snapshot, type WriteChain } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { findFormat, formats, type WritableEntry } from '../../../src/core/formats/index.js';
import { atOnce, checkProject, type Project } from '../../../src/core/project/index.js';
import { emptyProject } from '../../support/project.js';
import { runs } from '../../support/properties.js';

/** A turn with two calls, each with its result, in one answer. */
const turn = (at: number): WritableEntry[] => [
  { role: 'user', kind: 'text', text: `Ask ${at}` },
  { role: 'assistant', kind: 'text', text: `Looking ${at}`, messageId: `m${at}` },
  { role: 'assistant', kind: 'tool_call', toolName: 'read', toolCallId: `c${at}`, arguments: { path: 'a' }, messageId: `m${at}` },
  { role: 'assistant', kind: 'tool_call', toolName: 'read', toolCallId: `d${at}`, arguments: { path: 'b' }, messageId: `m${at}` },
  { role: 'tool', kind: 'tool_result', toolName: 'read', toolCallId: `c${at}`, text: `A${at}` },
  { role: 'tool', kind: 'tool_result', toolName: 'read', toolCallId: `d${at}`, text: `B${at}` },
  { role: 'assistant', kind: 'text', text: `Done ${at}`, messageId: `n${at}` },
];

/** The formats that hold calls with results, and in which a chain can be stored. */
const chained = formats.filter((format) => {
  const bytes = format.write(turn(0), { newId: () => 'id', now: '2026-01-01T00:00:00.000Z' as never });
  const kinds = format.parse(bytes).entries.map(({ kind }) => kind);
  return kinds.filter((kind) => kind === 'tool_call').length === 2 && kinds.filter((kind) => kind === 'tool_result').length === 2;
});

function begun(chain: WriteChain, format: string, parent: ContextId | null, at: number): ContextId {
  const bytes = findFormat(format)?.write(turn(at), { newId: chain.newId, now: new Date(chain.clock()).toISOString() as never }) ?? new Uint8Array();
  const data = Buffer.from(bytes).toString('base64');
  return checkpoint(chain, { parent, type: 'delta', format, data, template: 't', principal: 'p', checkpoint: 'turn_boundary' }).id;
}

/** What the check of the project finds. */
const problems = (project: Project): string[] => atOnce(checkProject(project)).problems.map(({ id, message }) => `${id}: ${message}`);

describe.for(chained.map(({ id }) => id))('a sound commit: %s', (format) => {
  test('[C30] a fork between a call and its result carries the call as open', () => {
    for (const last of [2, 3, 4]) {
      const project = emptyProject();
      const { chain } = project;
      const tip = begun(chain, format, null, 0);
      const all = entries(chain, { id: tip }).entries;
      const at = all.filter(({ kind }) => kind !== 'thinking')[last];
      const made = fork(chain, { id: tip, at: at?.key as never });
      const kept = contextEntries(chain, { id: made.id }).map(({ entry }) => entry);
      const results = kept.filter(({ kind }) => kind === 'tool_result').map(({ toolCallId }) => toolCallId);
      const calls = kept.filter(({ kind }) => kind === 'tool_call').map(({ toolCallId }) => toolCallId);
      expect([calls, results]).toEqual([last === 2 ? ['c0'] : ['c0', 'd0'], last === 4 ? ['c0'] : []]);
      expect(decodeText(chain.artifacts.read(findCommit(chain, made.id).artifact))).not.toMatch(/no result was recorded|interrupted/);
      const on = fork(chain, { id: tip, at: at?.key as never, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Stop' } }] });
      const after = contextEntries(chain, { id: on.id }).map(({ entry }) => entry);
      expect(after.filter(({ kind }) => kind === 'tool_result')).toHaveLength(results.length);
      expect(after.at(-1)?.text).toBe('Stop');
      expect(problems(project)).toEqual([]);
    }
  });

  test('[C30] an export closes an open call, and the commit stays as it is', () => {
    const project = emptyProject();
    const { chain } = project;
    const tip = begun(chain, format, null, 0);
    const call = entries(chain, { id: tip }).entries.find(({ kind }) => kind === 'tool_call');
    const { id } = fork(chain, { id: tip, at: call?.key as never });
    const out = JSON.parse(exportContext(chain, { id, format: 'openai-chat-v1' }).text ?? '') as { messages: { role: string }[] };
    expect(out.messages.map(({ role }) => role).slice(-2)).toEqual(['assistant', 'tool']);
  });
});

const step = fc.record({
  what: fc.constantFrom('turn', 'cut', 'edit', 'compact', 'snapshot', 'append'),
  from: fc.nat(99),
  at: fc.nat(99),
  format: fc.nat(99),
});

test('[C31] after random changes, every commit counts what it holds', { tags: 'long' }, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 3, maxLength: 14 }), (steps) => {
      const project = emptyProject();
      const { chain } = project;
      const tips: ContextId[] = [];
      for (const [number, { what, from, at, format }] of steps.entries()) {
        const tip = tips[from % Math.max(1, tips.length)];
        const id = chained[format % chained.length]?.id ?? '';
        if (tip === undefined || what === 'turn') {
          tips.push(begun(chain, tip && format % 3 ? findCommit(chain, tip).format : id, tip ?? null, number));
          continue;
        }
        const all = entries(chain, { id: tip }).entries;
        const entry = all[at % Math.max(1, all.length)];
        if (!entry) continue;
        try {
          if (what === 'cut') tips.push(fork(chain, { id: tip, at: entry.key }).id);
          if (what === 'edit')
            tips.push(
              fork(chain, { id: tip, edits: [{ op: 'replace', key: entry.key, entry: { role: entry.role, kind: 'text', text: `New ${number}` } }] })
                .id,
            );
          if (what === 'append')
            tips.push(fork(chain, { id: tip, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: `More ${number}` } }] }).id);
          if (what === 'snapshot') tips.push(snapshot(chain, tip).id);
          if (what === 'compact')
            tips.push(
              compact(
                chain,
                tip,
                `Summary ${number}`,
                contextEntries(chain, { id: tip })
                  .slice(-2)
                  .map(({ entry: kept }) => kept),
              ).id,
            );
        } catch (error) {
          // Some cuts and edits would leave a result without its call, and are refused.
          if ((error as { code?: string }).code !== 'BAD_REQUEST') throw error;
        }
      }
      expect(problems(project)).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
});
