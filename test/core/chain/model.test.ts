import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, Timestamp } from '../../../src/core/base/index.js';
import { checkpoint, compact, contextEntries, fork, keepRestPoints, materializedBytes, show, snapshot } from '../../../src/core/chain/index.js';
import type { Commit, CommitType, Role, Stop } from '../../../src/core/contract/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { atOnce, type Project, roots } from '../../../src/core/project/index.js';
import { emptyProject } from '../../support/project.js';
import { runs } from '../../support/properties.js';

/** The simplest model of a chain: a commit has a parent and its own entries, and a walk is a loop. */
interface Model {
  readonly id: ContextId;
  readonly parent: Model | null;
  readonly type: CommitType;
  readonly own: readonly Held[];
}

interface Held {
  readonly key: EntryKey;
  readonly text: string | undefined;
}

function lineage(of: Model | null): Model[] {
  const path: Model[] = [];
  for (let at = of; at; at = at.parent) path.unshift(at);
  return path;
}

/** Rules C3 to C5. */
function expected(of: Model, stop: Stop): readonly Held[] {
  const path = lineage(of);
  if (stop === 'compaction')
    return path
      .slice(
        Math.max(
          0,
          path.findLastIndex((one) => one.type !== 'delta'),
        ),
      )
      .flatMap((one) => one.own);
  const from = stop === 'root' ? 0 : path.findIndex((one) => one.id === stop);
  const says = (one: Model): boolean => one.id === stop || one.type === 'delta' || (one.type === 'snapshot' && one.parent === null);
  return path
    .slice(from)
    .filter(says)
    .flatMap((one) => one.own);
}

/** The spoken words in order. Formats separate neighbors by newlines or by messages, so both are ignored. */
const said = (entries: readonly { readonly text?: string | undefined }[]): string =>
  entries
    .map((entry) => entry.text ?? '')
    .join('')
    .replaceAll('\n', '');

/** The steps of a property run. Their numbers select among the existing commits. */
type Step =
  | { readonly does: 'delta' | 'compaction' | 'imported snapshot'; readonly on: number; readonly words: readonly string[]; readonly format: string }
  | { readonly does: 'compact'; readonly on: number; readonly words: readonly string[] }
  | { readonly does: 'snapshot'; readonly on: number; readonly stop: 'compaction' | 'root' }
  | { readonly does: 'fork'; readonly on: number; readonly at: number }
  | { readonly does: 'long run'; readonly on: number; readonly length: number; readonly format: string }
  | { readonly does: 'keep places to rest' }
  | { readonly does: 'drop caches' }
  | { readonly does: 'collect garbage' }
  | { readonly does: 'pack closer' };

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.\d+$/;
const formats = ['claude-code-v1', 'anthropic-messages-v1', 'openai-chat-v1', 'bureau-agent-v1', 'pi-v1', 'codex-v1'];
const format = fc.constantFrom(...formats);
const pick = fc.nat({ max: 1_000 });
const words = fc.array(
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).map((text) => `said: ${text}`),
  { minLength: 1, maxLength: 4 },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('delta' as const), on: pick, words, format }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('compaction' as const, 'imported snapshot' as const), on: pick, words, format }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('compact' as const), on: pick, words }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('snapshot' as const), on: pick, stop: fc.constantFrom('compaction' as const, 'root' as const) }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('fork' as const), on: pick, at: pick }) },
  ...(['drop caches', 'collect garbage', 'pack closer'] as const).map((does) => ({ weight: 1, arbitrary: fc.constant({ does } as Step) })),
);

/** The same with chains long enough for cached results. */
const longStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: step },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('long run' as const),
      on: pick,
      length: fc.integer({ min: 60, max: 150 }),
      format: fc.constantFrom('claude-code-v1', 'claude-code-v1', ...formats),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'keep places to rest' } as Step) },
);
/** Limits so low that some hundred commits have several cached results. */
const restLimits = { commits: 16, tokens: 512 };

interface Written {
  readonly words: readonly string[];
  readonly format: string;
}

/** The project and its model, side by side. */
function world(project: Project, later: () => void) {
  const { chain } = project;
  const known = new Map<ContextId, Model>();
  const at = (number: number): Model | undefined => [...known.values()][number % Math.max(1, known.size)];

  const held = (id: ContextId, stop: Stop): Held[] => contextEntries(chain, { id, stop }).map(({ key, entry }) => ({ key, text: entry.text }));

  /** Compares entries, and their keys too if the format keeps keys. */
  const same = (made: Commit, now: readonly Held[], before: readonly Held[]): void => {
    expect(said(now)).toEqual(said(before));
    const carried = new Set(now.map(({ key }) => key).filter((key) => uuid.test(key)));
    if (made.format === 'claude-code-v1' && before.every(({ key }) => uuid.test(key))) expect([...carried]).toEqual(before.map(({ key }) => key));
  };

  const learn = (commit: Commit, own: readonly Held[]): Model => {
    const parent = commit.parent ? (known.get(commit.parent) ?? null) : null;
    if (commit.parent && !parent) throw new Error(`${commit.id} stands on ${commit.parent}, which the model does not know`);
    const model = known.get(commit.id) ?? { id: commit.id, parent, type: commit.type, own };
    known.set(commit.id, model);
    return model;
  };

  const delta = (texts: readonly string[], format: string): { bytes: Uint8Array; own: Held[] } => {
    const bytes = requireFormat(format).write(
      texts.map((text, place) => ({ role: (place % 2 ? 'assistant' : 'user') as Role, kind: 'text' as const, text })),
      { newId: chain.newId, now: '2026-01-01T00:00:00.000Z' as Timestamp },
    );
    return {
      bytes,
      own: requireFormat(format)
        .parse(bytes)
        .entries.map(({ key, text }) => ({ key, text })),
    };
  };

  const make = (parent: Model | null | undefined, type: CommitType, { words, format }: Written): Model => {
    const { bytes, own } = delta(words, format);
    const data = Buffer.from(bytes).toString('base64');
    return learn(checkpoint(chain, { parent: parent?.id ?? null, type, format, data, template: 'model', checkpoint: 'explicit' }), own);
  };

  /** A fork shows the same entries up to the cut. */
  const forkAt = (tip: Model, number: number): void => {
    const shown = expected(tip, 'compaction');
    const place = number % shown.length;
    const key = shown[place]?.key as EntryKey;
    const made = fork(chain, { id: tip.id, at: key });
    const kept = shown.slice(0, place + 1);
    const now = held(made.id, 'compaction');
    same(made, now, kept);
    const parent = made.parent ? known.get(made.parent) : undefined;
    learn(made, made.type === 'delta' && parent ? now.slice(expected(parent, 'compaction').length) : now);
  };

  return {
    run(does: Step): void {
      if (does.does === 'drop caches') {
        const folder = join(project.dir, 'objects', 'snapshots');
        for (const file of readdirSync(folder)) rmSync(join(folder, file));
        return;
      }
      if (does.does === 'keep places to rest') return void atOnce(keepRestPoints(chain, restLimits));
      if (does.does === 'pack closer') return void atOnce(chain.artifacts.repack());
      if (does.does === 'collect garbage') {
        later();
        return void atOnce(chain.artifacts.gc({ roots, budgetBytes: 0 }));
      }
      // One commit in four starts a conversation.
      const on = does.on % 4 === 0 ? undefined : at(does.on);
      if (does.does === 'delta') make(on, 'delta', does);
      else if (does.does === 'compaction') make(on, 'compaction', does);
      else if (does.does === 'long run')
        chain.artifacts.transaction(() => {
          let parent = on;
          for (let turn = 0; turn < does.length; turn++)
            parent = make(parent, 'delta', { words: [`asked ${does.on} ${turn}`, `told ${turn}`], format: does.format });
        });
      else if (does.does === 'imported snapshot') make(null, 'snapshot', does);
      else if (does.does === 'compact' && on) {
        const made = compact(chain, on.id, does.words.join(' '));
        learn(made, held(made.id, made.id));
      } else if (does.does === 'snapshot' && on) {
        const made = snapshot(chain, on.id, does.stop);
        const own = held(made.id, made.id);
        same(made, own, expected(on, does.stop));
        learn(made, own);
      } else if (does.does === 'fork') {
        const tip = at(does.on);
        if (tip && expected(tip, 'compaction').length) forkAt(tip, does.at);
      }
    },
    /**
     * Checks a sample of commits with every stop: their entries, and the parsed materialization. The two usual stops are checked in every
     * format, those at a commit in their own and in two others by turns.
     */
    compare(every = 1): void {
      let turn = 0;
      const some = <T>(all: readonly T[]): T[] => all.filter((_, place) => place % every === 0 || place === all.length - 1);
      for (const model of some([...known.values()])) {
        const path = lineage(model);
        expect(show(chain, model.id)).toMatchObject({ parent: model.parent?.id ?? null, type: model.type, depth: path.length - 1 });
        for (const stop of ['compaction', 'root', ...some(path.map((one) => one.id))] as Stop[]) {
          const wanted = expected(model, stop);
          expect({ of: model.id, stop, entries: held(model.id, stop) }).toEqual({ of: model.id, stop, entries: wanted });
          const asked = stop === 'compaction' || stop === 'root' ? formats : [0, 1].map(() => formats[turn++ % formats.length]);
          for (const format of [undefined, ...asked]) {
            const made = materializedBytes(chain, { id: model.id, stop, format });
            const read = made.format.parse(made.bytes);
            expect({ of: model.id, stop, format, problems: read.problems }).toEqual({ of: model.id, stop, format, problems: [] });
            expect({ of: model.id, stop, format, said: said(read.entries) }).toEqual({ of: model.id, stop, format, said: said(wanted) });
          }
        }
      }
    },
  };
}

describe('against the model', () => {
  test('[C3, C4, C5, C7, C15, C18, C20] random chains give the walks of the model', { tags: 'long' }, () => {
    let ahead = 0;
    const project = emptyProject(() => Date.now() + ahead);
    // Unreferenced objects are old enough to be collected.
    const later = (): void => {
      ahead += 7_200_000;
    };
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 18 }), (steps) => {
        const both = world(project, later);
        for (const one of steps) both.run(one);
        both.compare();
      }),
      {
        numRuns: runs(50),
        examples: [
          // A snapshot has the format of its parent, and not every format stores keys.
          [
            [
              { does: 'delta', on: 0, words: ['said:  '], format: 'claude-code-v1' },
              { does: 'compaction', on: 1, words: ['said:  '], format: 'bureau-agent-v1' },
              { does: 'snapshot', on: 105, stop: 'root' },
            ],
          ],
        ],
      },
    );
  });

  test('[C3, C4, C5, C7, C15, C20, C23] long random chains with cached results match the model', { tags: 'long' }, () => {
    let ahead = 0;
    const project = emptyProject(() => Date.now() + ahead);
    fc.assert(
      fc.property(fc.array(longStep, { minLength: 4, maxLength: 12 }), (steps) => {
        const both = world(project, () => {
          ahead += 7_200_000;
        });
        both.run({ does: 'long run', on: 0, length: 90, format: 'claude-code-v1' });
        for (const one of steps) both.run(one);
        both.compare(53);
        both.run({ does: 'keep places to rest' });
        both.compare(71);
      }),
      { numRuns: runs(4) },
    );
  });
});
