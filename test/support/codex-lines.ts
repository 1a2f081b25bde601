/** Minimal lines of a Codex rollout. */

let ordinal = 0;

export const codexLine = (type: string, payload: object): string =>
  `${JSON.stringify({ timestamp: new Date(Date.UTC(2026, 0, 1) + ++ordinal * 1_000).toISOString(), type, payload })}\n`;

/** A message of a person or of the model. */
export const codexSaid = (role: 'user' | 'assistant', text: string): string =>
  codexLine('response_item', { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] });

/** A turn with text before a tool call and at the end. */
export const codexTurn = (n: number): string =>
  [
    codexLine('event_msg', { type: 'task_started', turn_id: `turn-${n}` }),
    codexLine('turn_context', { turn_id: `turn-${n}`, cwd: '/work' }),
    codexSaid('user', `question ${n}`),
    codexSaid('assistant', `let me look, ${n}`),
    codexLine('response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: `call-${n}` }),
    codexLine('response_item', { type: 'function_call_output', call_id: `call-${n}`, output: 'files' }),
    codexSaid('assistant', `answer ${n}`),
    codexLine('event_msg', { type: 'token_count' }),
    codexLine('event_msg', { type: 'task_complete', turn_id: `turn-${n}` }),
  ].join('');

/** The beginning of a turn, as Codex writes it before the model answers. */
export const codexAsked = (n: number, text: string): string =>
  codexLine('event_msg', { type: 'task_started', turn_id: `turn-${n}` }) +
  codexLine('turn_context', { turn_id: `turn-${n}`, cwd: '/work' }) +
  codexSaid('user', text);

/** The answer that ends a turn. */
export const codexAnswered = (n: number, text: string): string =>
  codexSaid('assistant', text) + codexLine('event_msg', { type: 'task_complete', turn_id: `turn-${n}` });
