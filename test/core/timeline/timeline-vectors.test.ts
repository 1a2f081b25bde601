import { describe, expect, test } from 'vitest';
import { checkPairing } from '../../../src/core/composer/index.js';
import { blockInput, type TimelineInput, timelineInput } from '../../../src/core/contract/index.js';
import { roleMessages } from '../../../src/core/timeline/render/conversion.js';
import { newestMessages } from '../../../src/core/timeline/render/history.js';
import { agentsTriggered, markAfterRun, messageDepth, movedMark, startsRuns, unreadAfter } from '../../../src/core/timeline/render/rules.js';
import { renderBlock, renderTimeline } from '../../../src/core/timeline/render/timeline.js';
import { remaining } from '../../../src/core/timeline/render/times.js';
import { textAt } from '../../support/source.js';

/** The published cases of the timeline. All of them hold. */
interface Vector {
  readonly id: string;
  readonly block: string;
  // biome-ignore lint/suspicious/noExplicitAny: the cases are data of many shapes
  readonly input: any;
  // biome-ignore lint/suspicious/noExplicitAny: the cases are data of many shapes
  readonly expected: any;
  readonly note?: string;
}

const vectors = (JSON.parse(textAt('test/vectors/timeline.json')) as { vectors: readonly Vector[] }).vectors;
const titleOf = ({ id, note }: Vector): string => `${id} ${note ?? ''}`;
const cases = (wanted: (vector: Vector) => boolean) => vectors.filter(wanted).map((vector) => [titleOf(vector), vector] as const);

const now = '2026-02-18T15:07:00Z';
const husam = { name: 'Husam', type: 'human', id: 'ent-husam-01' };
const at = { spaceId: 'space-xyz' };

/** The input of a complete timeline for one kind of trigger, with content in every block. */
function timelineFor(type: 'space_message' | 'plan' | 'service'): TimelineInput {
  const space = { id: at.spaceId, name: 'Project Alpha' };
  const triggers = {
    space_message: { type, space, sender: husam, message: 'hi', messageId: 'msg-1', timestamp: now },
    plan: { type, plan: { id: 'plan-abc', name: 'Daily Report' }, instruction: 'Post it', scheduledAt: now },
    service: { type, service: 'jira-webhook', payload: {} },
  };
  return timelineInput.parse({
    identity: { name: 'DataAnalyst', entityId: 'entity-abc-123' },
    trigger: triggers[type],
    spaces: [{ ...space, members: [husam] }],
    history: { messages: [{ id: 'msg-1', at: now, sender: husam, text: 'hi' }] },
    goals: [{ description: 'g' }],
    memories: [{ topic: 't', content: 'm' }],
    plans: [{ name: 'p', cron: '0 9 * * *' }],
    activeRuns: [{ id: 'r', isCurrent: true, triggeredBy: 'Husam' }],
    now,
  });
}

/** Cases that test a rule instead of a text. */
const rules: Readonly<Record<string, (input: Vector['input'], expected: Vector['expected'], vector: Vector) => void>> = {
  systemPrompt: (input, expected) => {
    const headings = renderTimeline(timelineFor(input.trigger)).system.matchAll(/^([A-Z][A-Z ]+)(?= \(|:)/gm);
    expect([...headings].map(([heading]) => heading)).toEqual(expected.headingOrder);
  },
  historyWindow: (input, expected) => {
    const messages = Array.from({ length: input.messageCount }, (_, place) => ({
      id: `msg-${String(place + 1).padStart(4, '0')}`,
      at: now as never,
      sender: null,
      text: '',
    }));
    const shown = newestMessages(messages, 50, null);
    expect({ firstShown: shown[0]?.id, lastShown: shown.at(-1)?.id, count: shown.length }).toEqual(expected);
  },
  chainDepth: (input, expected, { id }) => {
    if (id === 'T26') {
      const results = input.messageDepths.map((depth: number) => ({ messageDepth: depth, triggers: startsRuns(depth, input.max) }));
      expect(results).toEqual(expected.results);
    } else if (id === 'T27') expect(messageDepth('agent', input.runDepth)).toBe(expected.messageDepth);
    else expect(messageDepth(input.nextSender, input.previousMessageDepth)).toBe(expected.messageDepth);
  },
  triggerFanout: (input, expected) =>
    expect(agentsTriggered(input.members as { id: string; type: 'agent' }[], input.sender).map(({ id }) => id)).toEqual(expected.runsFor),
  readState: (input, expected) => {
    const mark = (id: string) => ({ messageId: id, seq: Number.parseInt(id.slice(4), 36) });
    if (input.entityType === 'agent') {
      const after = markAfterRun(null, input.event === 'run completed' ? 'completed' : 'failed', input.contextMessages.map(mark));
      expect(after?.messageId ?? null).toBe(expected.lastProcessedMessageId);
      return;
    }
    const messages = input.messages.map((id: string, seq: number) => ({ messageId: id, seq }));
    const seen = movedMark(
      null,
      messages.find(({ messageId }: { messageId: string }) => messageId === input.request.body.lastMessageId),
    );
    expect(seen?.messageId).toBe(expected.lastSeenMessageId);
    expect(unreadAfter(messages, seen)).toEqual({ unread: expected.unread, dividerBefore: expected.dividerBefore });
  },
  modelMessages: (input, expected) => expect(roleMessages(input)).toEqual(expected.messages),
  pairing: (input, expected) => {
    if (!expected.error) return expect(checkPairing(input.messages)).toBeUndefined();
    expect(() => checkPairing(input.messages)).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', data: expect.objectContaining({ reason: expected.error }) }),
    );
  },
  remaining: (input, expected) => expect(input.targets.map((target: never) => remaining(input.now, target))).toEqual(expected.texts),
  trigger: (input, expected) =>
    expect(
      renderBlock(blockInput.parse({ block: 'trigger', input: { ...timelineFor('space_message').trigger, senderExpectsReply: input.wait } })),
    ).toContain(`senderExpectsReply: ${expected.senderExpectsReply}`),
};

describe('timeline.json: the texts, byte for byte', () => {
  test.each(cases(({ expected }) => typeof expected.text === 'string'))('%s', (_, { block, input, expected }) => {
    expect(renderBlock(blockInput.parse({ block, input }))).toBe(expected.text);
  });
});

describe('timeline.json: the rules', () => {
  test.each(cases(({ expected }) => typeof expected.text !== 'string'))('%s', (_, vector) => {
    const rule = rules[vector.block];
    if (!rule) throw new Error(`no test for ${vector.block}`);
    rule(vector.input, vector.expected, vector);
  });
});
