import './page.js';
import { describe, expect, test } from 'vitest';
import type { ComposedMessage, ContextId, Job, JobEvent, Timestamp } from '../../src/core/contract/index.js';
import { linesOfJob } from '../../src/renderer/state/jobs';
import { divided, draftEntries } from '../../src/renderer/views/compose/useSending';
import { argumentsText, groupJobs, jobTitle, limitRows, usedText } from '../../src/renderer/views/jobs/words';

const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const event = (number: number, kind: JobEvent['kind'], text = '', more: Partial<JobEvent> = {}): JobEvent => ({
  jobId: 'j',
  number,
  at,
  kind,
  text,
  ...more,
});
const job = (more: Partial<Job>): Job => ({
  jobId: 'j',
  what: { turnId: 'turn_1' },
  performer: { provider: 'anthropic' },
  limits: {},
  title: 'Write',
  who: null,
  whoName: null,
  space: null,
  ticketId: null,
  byPolicy: false,
  questions: [],
  status: 'running',
  used: { calls: 5, tokens: 1_000, cost: null },
  error: null,
  commits: [],
  startedAt: at,
  endedAt: null,
  ...more,
});

describe('jobs', () => {
  test('[W68] the title of a job says what is done and for whom, never an id', () => {
    const titled = (more: Partial<Job>): string => jobTitle(job({ whoName: 'Reader', ...more }));
    expect(titled({ title: 'Look through src/' })).toBe('Turn of Reader: Look through src/');
    expect(titled({ title: 'turn_1' })).toBe('Turn of Reader');
    expect(titled({ what: { runId: 'run_1' }, title: '' })).toBe('Run of Reader');
    expect(titled({ what: { runId: 'run_1' }, title: 'Try 2: Is it fixed?' })).toBe('Try 2: Run of Reader: Is it fixed?');
    expect(titled({ what: { eventId: 3 }, title: 'verify resolution: Damson jam' })).toBe('Verify the resolution for Reader: Damson jam');
    const context = { what: { commit: 'ctx-1' as ContextId }, whoName: null };
    expect(titled({ ...context, title: 'Fix it' })).toBe('Answer to: Fix it');
    expect(titled({ ...context, title: 'ctx-1' })).toBe('Answer to a context without a title');
    expect(titled({ what: { experimentId: 'e', caseId: 'c' }, title: 'c' })).toBe('Experiment case');
  });

  test('[W66] pieces of one text are one line, and a result belongs to its call', () => {
    const lines = linesOfJob([
      event(0, 'began'),
      event(1, 'text', 'Let '),
      event(1, 'text', 'me look'),
      event(2, 'call', '{"path":"a"}', { toolName: 'read' }),
      event(3, 'usage'),
      event(4, 'result', 'content', { toolName: 'read' }),
      event(5, 'ended'),
    ]);
    expect(lines.map(({ kind, text, result }) => [kind, text, result])).toEqual([
      ['text', 'Let me look', undefined],
      ['call', '{"path":"a"}', 'content'],
      ['ended', '', undefined],
    ]);
  });

  test('[W66] jobs that need an answer come first, then those that run', () => {
    const question = { requestId: 'q', toolName: 'bash', arguments: '{}', askedAt: at };
    const groups = groupJobs([job({ jobId: 'a', status: 'failed' }), job({ jobId: 'b' }), job({ jobId: 'c', questions: [question] })]);
    expect(groups.map(({ name, jobs }) => [name, ...jobs.map(({ jobId }) => jobId)])).toEqual([
      ['Needs an answer', 'c'],
      ['Running', 'b'],
      ['Ended', 'a'],
    ]);
  });

  test('[W66] limits show what was used, and a cost that nobody recorded is no number', () => {
    const rows = limitRows(job({ limits: { calls: 10, tokens: 4_000 } }), Date.parse(at) + 15 * 60_000);
    expect(rows.map(({ name, share }) => [name, share])).toEqual([
      ['Calls', 0.5],
      ['Tokens', 0.25],
      ['Cost', undefined],
      ['Time', 0.5],
    ]);
    expect(rows[2]?.value).toBe('not recorded');
    expect(usedText(job({}))).toBe('5 calls · 1,000 tokens');
  });

  test('[W66] a command is shown as it would run, and what does not parse as it is', () => {
    expect(argumentsText('{"command":"npm test"}')).toBe('npm test');
    expect(argumentsText('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(argumentsText('{"a":')).toBe('{"a":');
  });
});

describe('a composition', () => {
  const message = (role: ComposedMessage['role'], content: string, more: Record<string, unknown> = {}): ComposedMessage => ({
    role,
    content,
    layer: 'checkpoint_messages',
    tokens: 1,
    ...more,
  });

  test('[W65] the last message of a person is the question', () => {
    const messages = [message('system', 'a'), message('human', 'why?')];
    expect(divided(messages)).toEqual({ before: [messages[0]], question: 'why?' });
    expect(divided([messages[0] as ComposedMessage]).question).toBe('');
    const composed = [
      { role: 'system', content: 'Rules.' },
      { role: 'ai', content: 'I look.', thinking: [{ text: 'Hm.', signature: 'SEAL' }], tool_calls: [{ id: 'c1', name: 'Read', args: { a: 1 } }] },
      { role: 'tool', content: '[no result was recorded]', tool_call_id: 'c1', internal: true },
    ] as unknown as ComposedMessage[];
    expect(draftEntries(composed)).toEqual([
      { role: 'assistant', kind: 'thinking', text: 'Hm.', result: { signature: 'SEAL' } },
      { role: 'assistant', kind: 'text', text: 'I look.' },
      { role: 'assistant', kind: 'tool_call', toolName: 'Read', toolCallId: 'c1', arguments: { a: 1 } },
    ]);
  });
});
