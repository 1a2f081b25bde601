/** Minimal Claude Code records. */

let written = 0;

export interface LineOptions {
  readonly parent?: string | null;
  readonly at?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

const line = (type: 'user' | 'assistant', uuid: string, message: unknown, { parent = null, at, extra }: LineOptions): string => {
  written += 1;
  const timestamp = at ?? new Date(Date.parse('2026-01-01T00:00:00.000Z') + written * 1_000).toISOString();
  return `${JSON.stringify({ parentUuid: parent, isSidechain: false, cwd: '/work', sessionId: 's1', version: '2.1.0', type, message, uuid, timestamp, ...extra })}\n`;
};

export const prompt = (uuid: string, text: string, options: LineOptions = {}): string => line('user', uuid, { role: 'user', content: text }, options);

export const answer = (uuid: string, text: string, options: LineOptions = {}): string =>
  line('assistant', uuid, { id: `msg_${uuid}`, role: 'assistant', type: 'message', model: 'm', content: [{ type: 'text', text }] }, options);

export const call = (uuid: string, id: string, name: string, input: unknown, options: LineOptions = {}): string =>
  line(
    'assistant',
    uuid,
    { id: `msg_${uuid}`, role: 'assistant', type: 'message', model: 'm', content: [{ type: 'tool_use', id, name, input }] },
    options,
  );

export const result = (uuid: string, id: string, content: string, options: LineOptions = {}): string =>
  line('user', uuid, { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] }, options);
