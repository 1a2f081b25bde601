import { describe, expect, onTestFinished, test } from 'vitest';
import { anthropicProvider } from '../../../src/main/providers/index.js';
import { agentWorld } from '../../support/agent-world.js';
import { hasAgent, unlessHere } from '../../support/agents.js';
import { ensureBuilt } from '../../support/built.js';
import { door } from '../../support/door.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { blocksIn, expectGolden, type Line, replyOf, tellStory, withNames, withoutTimes } from '../../support/story.js';

/** The golden files of the first request of each invocation. */
const frames = ['1-asked', '2-somebody-else', '3-answered', '4-plan'] as const;

interface Body {
  readonly system?: unknown;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
}
const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : ((content ?? []) as { text?: string }[]).map(({ text }) => text ?? '').join('\n\n');

test('[U11, B-34] a model carries out the whole story, and its requests are the golden texts', { tags: 'long' }, async () => {
  let number = 0;
  const server = await modelServer((response, { body }) => {
    const line: Line = replyOf(textOf(body.system), JSON.stringify(body.messages));
    stream(response, messageEvents('text' in line ? line : { ...line, id: `c-${++number}` }));
  });
  onTestFinished(() => server.close());
  const provider = anthropicProvider({ url: server.url, id: 'model', title: 'Model', key: 'k' });
  const { client, clock } = door({ providers: [provider] });
  const previewed: unknown[] = [];
  const perform = async (runId: string): Promise<void> => {
    const at = server.asked.length;
    previewed.push((await client.run.timeline({ runId, wire: 'anthropic', model: 'm' })).body);
    for await (const _ of await client.runner.start({ what: { runId }, performer: { provider: 'model', model: 'm' } }));
    const { stream: _, ...body } = server.asked[at]?.body ?? {};
    expect(body).toEqual(previewed.at(-1));
  };
  const pass = (ms: number): void => {
    clock.at += ms;
  };
  await tellStory(client, perform, pass, () => clock.at);
  const bodies = server.asked.map(({ body }) => body as Body);
  // Asked, somebody else, answered twice, and the plan: enter, read, send, end.
  expect(bodies).toHaveLength(8);
  const blocks = withNames(bodies.map(({ system }) => blocksIn(textOf(system))));
  const [asked, other, answered, replied, plan, entered] = blocks as [string, string, string, string, string, string];
  for (const [place, text] of [asked, other, answered, plan].entries()) expectGolden(frames[place] as string, text);
  expectGolden('5-entered', entered);
  // Nothing that the model reads has changed within these invocations but its own message, and then nothing.
  expect(replied).toContain('"Revenue was 4.2M. Charts follow."');
  expect(bodies.map(({ messages }) => textOf(messages?.[0]?.content))).toEqual([
    '[Husam (human)] Pull the Q4 revenue numbers',
    '[Husam (human)] Not me, ask "her".',
    '[Sarah (human)] Charts, please',
    '[Sarah (human)] Charts, please',
    ...Array(4).fill('[Plan "Daily Report"] Generate and post the daily metrics summary'),
  ]);
  // What is recorded is what was sent.
  const { requests } = await client.request.list({});
  const recorded = await Promise.all(requests.map(async ({ requestId }) => (await client.request.get({ requestId })).body));
  const sent = server.asked.map(({ body: { stream: _, ...body } }) => body);
  for (const body of recorded) expect(sent).toContainEqual(body);
  expect(recorded).toHaveLength(sent.length);
  // Usage counts each of these calls once, at its commit.
  const { calls } = await client.usage.calls({});
  const counted = new Map(calls.map(({ requestId, tokens, model }) => [requestId, { ...tokens, model }] as const));
  expect(counted).toEqual(new Map(requests.map(({ requestId, tokens, model }) => [requestId, { ...tokens, model }] as const)));
  for (const { requestId, commit } of requests)
    expect((await client.usage.calls({ id: commit ?? undefined })).calls.map((call) => call.requestId)).toContain(requestId);
});

describe.skipIf(!hasAgent('claude'))(`Claude Code${unlessHere('claude')}`, () => {
  test('[U11, U6] the real agent carries out the whole story', { tags: 'long', timeout: 240_000 }, async () => {
    await ensureBuilt();
    const isOfStory = (body: unknown): boolean => JSON.stringify((body as Body).messages).includes('IDENTITY:');
    const { client, run, model } = await agentWorld('claude-code', (_text, body) => {
      if (!isOfStory(body)) return { text: 'ok' };
      const line = replyOf(JSON.stringify((body as Body).messages).replaceAll('\\"', '"'), JSON.stringify((body as Body).messages));
      return 'text' in line ? line : { tools: [{ name: `mcp__stemma__${line.tool}`, input: line.input }] };
    });
    const first: Body[] = [];
    const perform = async (runId: string): Promise<void> => {
      const at = model.seen.length;
      expect((await run(true, { runId })).result.status).toBe('success');
      first.push(model.seen.slice(at).find(isOfStory) as Body);
    };
    await tellStory(
      client as never,
      perform,
      () => {},
      () => Date.now() - 58_000,
    );
    const texts = first.map(({ messages = [] }) => messages.map(({ content }) => textOf(content)).join('\n\n'));
    for (const [place, text] of withNames(texts.map(blocksIn)).entries()) expectGolden(frames[place] as string, text, withoutTimes);
  });
});
