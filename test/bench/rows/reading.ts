import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { composeMessages } from '../../../src/core/composer/index.js';
import type { MemoryMessage, TimelineInput } from '../../../src/core/contract/index.js';
import { addEntity, createSpace, nextCall, post, previewTimeline, renderTimeline } from '../../../src/core/timeline/index.js';
import { openEngine } from '../engine.js';
import { medians, type Part, plain, type Row, timed } from '../measure.js';

const words = (place: number): string =>
  `Message ${place}: ${'the larder is full and the cellar is closed, '.repeat(3)}so "what" now?\nAnswer ${place}.`;

/** Reading a long space costs no more than a short one, because the window limits it. */
function windows(folder: string): Row[] {
  const project = openEngine(mkdtempSync(join(folder, 'spaces-')));
  const { chain } = project;
  for (const [entityId, type] of [
    ['ann', 'human'],
    ['bot', 'agent'],
  ] as const)
    addEntity(chain, { entityId, name: entityId, type });
  const spaceOf = (spaceId: string, messages: number): string => {
    createSpace(chain, { spaceId, name: spaceId, members: ['ann'] });
    chain.db.transaction(() => {
      for (let place = 0; place < messages; place += 1) post(chain, { spaceId, senderId: 'ann', text: words(place) });
    });
    chain.db.run(
      'INSERT INTO membership (project, space, entity, joinedAt) SELECT project, no, (SELECT no FROM entity WHERE entityId = ?), 0 FROM space WHERE spaceId = ?',
      'bot',
      spaceId,
    );
    return spaceId;
  };
  const [short, long] = [spaceOf('short', 100), spaceOf('long', 10_000)];
  const render = (spaceId: string) =>
    timed({
      prepare: () => spaceId,
      run: (id: string) =>
        Array.from({ length: 20 }, () => {
          const next = nextCall(chain, { spaceId: id, entityId: 'bot' });
          return 'runId' in next ? undefined : previewTimeline(chain, next);
        }),
    });
  const ms = medians({ short: render(short), long: render(long) }, 7);
  project.close();
  const figures = { shortMs: ms.short / 20, longMs: ms.long / 20 };
  return [
    {
      id: 'L1',
      what: 'what an agent reads of 10,000 messages over 100 messages',
      ratio: ms.long / ms.short,
      must: 2,
      stretch: 1.2,
      better: 'less',
      figures,
    },
  ];
}

/** Rendering texts, compared with writing them once as JSON. */
function texts(): Row[] {
  const at = '2026-01-01T00:00:00.000Z' as TimelineInput['now'];
  const sender = { name: 'Ann', type: 'human' as const, id: 'ann' };
  const input: TimelineInput = {
    identity: { name: 'Bot', entityId: 'bot' },
    trigger: {
      type: 'space_message',
      space: { id: 's', name: 'S' },
      sender,
      message: 'hi',
      messageId: 'msg-9999',
      timestamp: at,
      senderExpectsReply: false,
      chainDepth: 0,
    },
    spaces: [],
    history: { messages: Array.from({ length: 10_000 }, (_, place) => ({ id: `msg-${place}`, seq: place, at, sender, text: words(place) })) },
    now: at,
    budget: 10_000,
  };
  const memory: MemoryMessage[] = Array.from({ length: 2_000 }, (_, place) => ({
    role: place % 2 ? 'ai' : 'human',
    content: words(place),
    id: `m${place}`,
  }));
  const contexts = { framework__context: words(0), compression__context: words(1) };
  const compose = { systemPrompt: 'P', checkpointMessages: memory, contexts, query: 'q', queryPath: 'runtime' as const };
  const ms = medians(
    {
      timeline: plain(() => renderTimeline(input)),
      timelineJson: plain(() => JSON.stringify(input)),
      composed: plain(() => Array.from({ length: 10 }, () => composeMessages(compose))),
      composedJson: plain(() => Array.from({ length: 10 }, () => JSON.stringify(compose))),
    },
    7,
  );
  return [
    {
      id: 'L2',
      what: 'rendering 10,000 messages over writing them as JSON',
      ratio: ms.timeline / ms.timelineJson,
      must: 8,
      stretch: 4,
      better: 'less',
      figures: { oursMs: ms.timeline, jsonMs: ms.timelineJson },
    },
    {
      id: 'L3',
      what: 'composing 2,000 messages over writing them as JSON',
      ratio: ms.composed / ms.composedJson,
      must: 3,
      stretch: 1,
      better: 'less',
      figures: { oursMs: ms.composed / 10, jsonMs: ms.composedJson / 10 },
    },
  ];
}

export const readingParts: readonly Part[] = [
  { rows: ['L1'], run: windows },
  { rows: ['L2', 'L3'], run: texts },
];
