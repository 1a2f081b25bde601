import { createHash } from 'node:crypto';
import type { Project } from '../../src/core/project/index.js';
import { openLiveJobs, pulse } from '../../src/core/runner/index.js';
import type { ModelProvider, ReplyPiece } from '../../src/core/turns/index.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const used: ReplyPiece = { kind: 'usage', tokens: { input: 10, output: 5 } };
const says = (text: string): ReplyPiece[] => [{ kind: 'text', delta: text }, used, { kind: 'end', reason: 'end_turn' }];
const calls = (toolCallId: string, toolName: string, given: unknown): ReplyPiece[] => [
  { kind: 'tool_call', toolCallId, toolName, arguments: given },
  used,
  { kind: 'end', reason: 'tool_use' },
];

/** A reply that is marked, so that a test finds it in the project. */
function replyTo(body: string, mark: string): ReplyPiece[] {
  const isAnswered = body.includes('"tool_result"');
  if (body.includes('You are the Writer.')) {
    const tasks = ['A', 'B', 'C'].map((name) => ({ target_strategy: 'new', target_ref: 'Critic', instruction: `Review ${name}. ${mark}` }));
    return isAnswered ? says(`All reviewed. ${mark}`) : calls(`fork-${mark}`, 'fork_join', { tasks });
  }
  if (body.includes('You are the Critic.')) return isAnswered ? says(`Fine. ${mark}`) : calls(`note-${mark}`, 'search', { text: mark });
  return isAnswered ? says(`Sent. ${mark}`) : calls(`send-${mark}`, 'send_message', { text: `What do you think? ${mark}` });
}

/** Carries out all open work of a project, and tells each call of the model and its mark. */
export async function writeSampleStory({ chain, dir }: Project, say: (line: string) => void): Promise<void> {
  let number = 0;
  const model: ModelProvider = {
    id: 'model',
    title: 'A scripted model',
    wire: 'anthropic',
    models: async () => ({ models: ['m-1'] }),
    async *stream({ body }) {
      const text = JSON.stringify(body);
      const mark = `mark-${process.pid}-${number++}`;
      say(`asked ${createHash('sha256').update(text).digest('hex')} ${mark}`);
      await pause(Math.random() * 5);
      yield* replyTo(text, mark);
    },
  };
  const parts = { chain, dir, live: openLiveJobs(), providers: [model], agents: [], agentRoots: [] };
  const performer = { provider: 'model' };
  const policy = {
    rules: [
      { for: { space: 'team' }, performer },
      { for: { agent: 'Writer' }, performer },
    ],
    parallel: 8,
  };
  for (;;) {
    pulse(parts, policy);
    if (parts.live.jobs.size === 0) return;
    await pause(2);
  }
}
