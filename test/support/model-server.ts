import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to a model server. */
export interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export type Answer = (response: ServerResponse, asked: Asked) => void;

export interface ModelServer {
  readonly url: string;
  readonly asked: Asked[];
  close(): void;
}

/** A server on loopback that returns the answers in order, and then repeats the last one. */
export async function modelServer(...answers: Answer[]): Promise<ModelServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      asked.push({ path: request.url, headers: request.headers, body: JSON.parse(text || '{}') as Record<string, unknown> });
      (answers[asked.length - 1] ?? answers.at(-1))?.(response, asked.at(-1) as Asked);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Server-sent events, as both wire formats send them. */
export function stream(response: ServerResponse, values: readonly unknown[], end = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const value of values) response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  if (end) response.end();
}

/** A reply of the Messages API with a text or a tool call. */
export const messageEvents = (said: { text: string } | { tool: string; input: unknown; id: string }): unknown[] => [
  { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 20 } } },
  ...('text' in said
    ? [
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...said.text.split(/(?<= )/).map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      ]
    : [
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: said.id, name: said.tool, input: {} } },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(said.input) } },
      ]),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'text' in said ? 'end_turn' : 'tool_use' }, usage: { output_tokens: 42 } },
  { type: 'message_stop' },
];

/** The same for chat completions. */
export const completionEvents = (text: string): unknown[] => [
  ...text.split(/(?<= )/).map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 30 } } },
  '[DONE]',
];
