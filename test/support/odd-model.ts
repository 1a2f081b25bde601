import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider, Wire } from '../../src/core/contract/index.js';

/** A model server with scripted failures for each wire format, and a client that records every byte. */

/** The failures: none, a pause in the middle, an end in the middle, and the two refusals that agents retry. */
export const oddities = ['whole', 'stalls', 'breaks', '429', '529'] as const;
export type Oddity = (typeof oddities)[number];

/** Credentials of a request. None of them may be stored. */
export const secrets = {
  key: 'sk-stemma-4711-nobody-may-keep-this',
  token: 'eyJhbGciOi.stemma-oauth-token.0815',
  account: 'account-7f3b-of-somebody',
  cookie: 'session-cookie-of-somebody-42',
} as const;

interface WireCase {
  readonly provider: Provider;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its credential headers. */
  readonly credential: string;
  /** A body that ends with this text. */
  readonly body: (words: string) => object;
  readonly events: readonly string[];
  /** The token counts of its first event. */
  readonly inputTokens: number;
}

const data = (value: object, name?: string): string => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string }): string => data(value, value.type);
const signed = { cookie: `a=b; session=${secrets.cookie}`, 'user-agent': `agent/1.0 (${secrets.cookie})` };

export const wireCases: Readonly<Record<Wire, WireCase>> = {
  anthropic: {
    provider: 'anthropic',
    path: '/v1/messages?beta=true',
    headers: { ...signed, 'x-api-key': secrets.key, authorization: `Bearer ${secrets.token}`, 'anthropic-version': '2023-06-01' },
    credential: secrets.token,
    body: (words) => ({
      model: 'm',
      max_tokens: 9,
      stream: true,
      metadata: { user_id: `user_${secrets.account}_session_1` },
      messages: [{ role: 'user', content: words }],
    }),
    events: [
      named({ type: 'message_start', message: { type: 'message', id: 'msg_1', usage: { input_tokens: 7 } } } as { type: string }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 👋 ' } } as { type: string }),
      ': keep-alive\n\n',
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'and more' } } as { type: string }),
      named({ type: 'message_stop' }),
    ],
    inputTokens: 7,
  },
  openai: {
    provider: 'openai',
    path: '/v1/chat/completions',
    headers: { ...signed, authorization: `Bearer ${secrets.key}`, 'openai-organization': secrets.account },
    credential: secrets.key,
    body: (words) => ({ model: 'm', stream: true, user: secrets.account, messages: [{ role: 'user', content: words }] }),
    events: [
      data({ id: 'c1', usage: { prompt_tokens: 7 }, choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }),
      data({ id: 'c1', choices: [{ index: 0, delta: { content: 'Grüße 👋 ' } }] }),
      data({ id: 'c1', choices: [{ index: 0, delta: { content: 'and more' }, finish_reason: 'stop' }] }),
      'data: [DONE]\n\n',
    ],
    inputTokens: 7,
  },
  responses: {
    provider: 'openai',
    path: '/v1/responses',
    headers: { ...signed, authorization: `Bearer ${secrets.token}`, 'chatgpt-account-id': secrets.account },
    credential: secrets.token,
    body: (words) => ({
      model: 'm',
      stream: true,
      safety_identifier: secrets.account,
      client_metadata: { account_id: secrets.account },
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] }],
    }),
    events: [
      named({ type: 'response.created', response: { id: 'resp_1', usage: { input_tokens: 7 } } } as { type: string }),
      named({ type: 'response.output_text.delta', item_id: 'm', delta: 'Grüße 👋 ' } as { type: string }),
      named({ type: 'response.output_text.delta', item_id: 'm', delta: 'and more' } as { type: string }),
      named({ type: 'response.completed', response: { id: 'resp_1', usage: { input_tokens: 7, output_tokens: 2 } } } as { type: string }),
    ],
    inputTokens: 7,
  },
  gemini: {
    provider: 'gemini',
    path: `/v1beta/models/g-1:streamGenerateContent?alt=sse&key=${secrets.key}`,
    headers: { ...signed, 'x-goog-api-key': secrets.key },
    credential: secrets.key,
    body: (words) => ({ labels: { account: secrets.account }, contents: [{ role: 'user', parts: [{ text: words }] }] }),
    events: ['Grüße 👋 ', 'and ', 'more'].map(
      (text) =>
        `data: ${JSON.stringify({ responseId: 'r1', candidates: [{ content: { parts: [{ text }] } }], usageMetadata: { promptTokenCount: 7 } })}\r\n\r\n`,
    ),
    inputTokens: 7,
  },
};

/** A refusal that repeats the key, as some servers do. */
const refusalTo = (wire: Wire): string =>
  JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: `not now, ${wireCases[wire].credential} of ${secrets.account}` } });

export function sentFor(wire: Wire, oddity: Oddity): Buffer {
  if (oddity === '429' || oddity === '529') return Buffer.from(refusalTo(wire));
  const bytes = Buffer.from(wireCases[wire].events.join(''));
  return oddity === 'breaks' ? bytes.subarray(0, middleOf(bytes)) : bytes;
}

/** In the middle of an event and of a multi-byte character. */
const middleOf = (bytes: Buffer): number => bytes.indexOf('👋') + 2;

export interface OddModel {
  readonly url: string;
  /** Resumes stalled replies. */
  readonly goOn: () => void;
  /** The number of stalled replies whose client disconnected. */
  readonly left: () => number;
  readonly close: () => void;
}

const oddityHeader = 'x-oddity';

export async function oddModel(): Promise<OddModel> {
  const waiting = new Set<() => void>();
  let left = 0;
  const answer = (asked: IncomingMessage, response: ServerResponse): void => {
    asked.resume();
    const oddity = asked.headers[oddityHeader] as Oddity;
    const wire = (Object.keys(wireCases) as Wire[]).find((each) => asked.url?.startsWith(wireCases[each].path.split('?')[0] ?? '')) ?? 'openai';
    if (oddity === '429' || oddity === '529') {
      const status = Number(oddity);
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '3', 'set-cookie': `s=${secrets.cookie}` })
        .end(refusalTo(wire));
      return;
    }
    const bytes = sentFor(wire, oddity);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' });
    if (oddity === 'whole') return void response.end(bytes);
    if (oddity === 'breaks') return void response.write(bytes, () => response.socket?.destroySoon());
    const middle = middleOf(bytes);
    const goOn = (): void => void response.end(bytes.subarray(middle));
    waiting.add(goOn);
    response.on('close', () => {
      if (waiting.delete(goOn)) left++;
    });
    response.write(bytes.subarray(0, middle));
  };
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    goOn: () => {
      for (const each of waiting) {
        waiting.delete(each);
        each();
      }
    },
    left: () => left,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export interface Got {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly bytes: Buffer;
  /** True if the reply was complete. */
  readonly isWhole: boolean;
}

/**
 * Sends a request like an agent, and records the reply.
 * @param base the configured address. @param onPiece gets all bytes so far; `leave` disconnects.
 */
export async function askOddly(
  base: string,
  wire: Wire,
  oddity: Oddity,
  onPiece: (sofar: Buffer, leave: () => void) => void = () => {},
): Promise<Got> {
  const { path, headers, credential, body } = wireCases[wire];
  const call = request(`${base}${path}`, {
    method: 'POST',
    agent: false,
    headers: { ...headers, [oddityHeader]: oddity, 'content-type': 'application/json' },
  });
  call.on('error', () => {});
  call.end(JSON.stringify(body(`${oddity}, says ${credential}, in a session of ${secrets.cookie}`)));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      onPiece(Buffer.concat(chunks), () => call.destroy());
    }
  } catch {
    // The test checks the received bytes.
  }
  return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], bytes: Buffer.concat(chunks), isWhole: answer.complete };
}
