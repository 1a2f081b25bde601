import { type LineOptions, prompt } from './claude-lines.js';

/** Claude Code lines with the token counts of their calls. */

export interface Counted extends LineOptions {
  /** The provider's id of the reply; several lines can share one. */
  readonly id?: string;
  readonly text?: string;
  readonly block?: unknown;
  readonly model?: string;
  readonly stop?: string | null;
  readonly usage?: Readonly<Record<string, unknown>>;
}

export const usage = (input: number, cacheRead: number, cacheWrite: number, output: number): Readonly<Record<string, unknown>> => ({
  input_tokens: input,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
  output_tokens: output,
});

let written = 0;

/** A line of a reply. */
export function reply(
  uuid: string,
  { parent = null, at, extra, id = `msg_${uuid}`, text = 'yes', block, model, stop = 'end_turn', usage: counts }: Counted,
): string {
  written += 1;
  const message = {
    id,
    role: 'assistant',
    type: 'message',
    model: model ?? 'claude-opus-4-5-20251101',
    content: [block ?? { type: 'text', text }],
    stop_reason: stop,
    ...(counts && { usage: counts }),
  };
  const timestamp = at ?? new Date(Date.parse('2026-01-02T00:00:00.000Z') + written * 1_000).toISOString();
  const common = { parentUuid: parent, isSidechain: false, cwd: '/work', sessionId: 's1', version: '2.1.0' };
  return `${JSON.stringify({ ...common, type: 'assistant', message, uuid, timestamp, ...extra })}\n`;
}

/** The lines of a session of `turns` turns. Their names begin with `name`, and each call reads what the one before wrote. */
export function session(name: string, turns: number, sessionId = name): string[] {
  const lines: string[] = [];
  let parent: string | null = null;
  for (let n = 0; n < turns; n++) {
    const extra = { sessionId, cwd: `/repo/${sessionId}` };
    const at = (second: number): string => new Date(Date.parse('2026-01-02T00:00:00.000Z') + n * 60_000 + second * 1_000).toISOString();
    lines.push(prompt(`${name}-p${n}`, `question ${n} of ${name}`, { parent, at: at(0), extra }));
    lines.push(reply(`${name}-a${n}`, { parent: `${name}-p${n}`, at: at(5), extra, usage: usage(3, 1_000 * n, 1_000, 20 + n) }));
    parent = `${name}-a${n}`;
  }
  return lines;
}
