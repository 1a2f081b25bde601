import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputOf, Request } from '../../../src/core/contract/index.js';
import { key, runProxied } from '../../support/agent-proxied.js';
import { type CoreAgent, folders, hasAgent, unlessHere } from '../../support/agents.js';
import { expect, test } from '../../support/e2e.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';

type Json = string | number | boolean | null | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };

/** Recognizes an agent's helper calls by their system prompt or last message. Their answers are in no conversation. */
const helpers: Partial<Record<CoreAgent, RegExp>> = {
  claude: /<summary> block|how to write this summary/,
  pi: /Create a structured (context checkpoint )?summary|Preserve exact file paths/,
  gemini: /<state_snapshot>/,
  opencode: /title generator/,
};

const listOf = (body: Request['body'] | JsonObject): readonly Json[] => (body.messages ?? body.input ?? body.contents ?? []) as readonly Json[];

/** Without marks and ids, which not every record has. */
const plain = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]) => (name === 'cache_control' ? [] : [[name, plain(each as Json)]])));
};

const filesWith = (dir: string, text: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .flatMap((file) => (file.isFile() ? [join(file.parentPath, file.name)] : []))
    .filter((path) => readFileSync(path).includes(text));

/** The provider that answers when a turn is run again with the agent's own wire format. */
interface Server {
  readonly provider: string;
  readonly path: (model: string) => string;
  readonly environment: (url: string) => Readonly<Record<string, string>>;
  readonly answer: readonly unknown[];
}

const messages: Server = {
  provider: 'anthropic',
  path: () => '/v1/messages',
  environment: (url) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url }),
  answer: messageEvents({ text: 'Again.' }),
};
const servers: Readonly<Record<CoreAgent, Server>> = {
  claude: messages,
  pi: messages,
  opencode: messages,
  codex: {
    provider: 'openai-responses',
    path: () => '/v1/responses',
    environment: (url) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` }),
    answer: [
      { type: 'response.output_text.delta', item_id: 'm', delta: 'Again.' },
      { type: 'response.completed', response: { status: 'completed' } },
    ],
  },
  gemini: {
    provider: 'gemini',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    environment: (url) => ({ GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url }),
    answer: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Again.' }] }, finishReason: 'STOP' }] }],
  },
};

/** Real agents through `stemma proxy`: their calls are recorded as sent and linked to their answers. */
test.describe('agents through the proxy', () => {
  for (const agent of ['claude', 'codex', 'pi', 'gemini', 'opencode'] as const satisfies readonly CoreAgent[])
    test(`[R1, R5] ${agent}`, { tag: '@long' }, async ({ machine }) => {
      test.skip(!hasAgent(agent), `the real agent does not run${unlessHere(agent)}`);
      const project = machine.path('work', 'proxied.stemma');
      await machine.ask('init', project);
      const { home, wire } = runProxied(agent, `${agent}-tour`, project, machine);
      const call = async <T>(procedure: string, input: object): Promise<T> => {
        const ran = await machine.ask('call', procedure, '--input', JSON.stringify(input));
        expect(ran.err).toBe('');
        return JSON.parse(ran.out) as T;
      };

      const { requests: before } = await call<OutputOf<'request.list'>>('request.list', {});
      expect(before.map(({ source, proof, problem }) => [source, proof, problem])).toEqual(wire.map(() => ['wire', 'digest', undefined]));
      const left = wire.map((text) => JSON.parse(text) as JsonObject);
      for (const { requestId } of before) {
        const { body, missing } = await call<Request>('request.get', { requestId });
        const sent = left.find((each) => JSON.stringify(listOf(each)) === JSON.stringify(listOf(body)));
        expect(sent, `request ${requestId} is among those sent`).toBeDefined();
        expect(body).toEqual(Object.fromEntries(Object.entries(sent as JsonObject).filter(([name]) => !missing.includes(name))));
        left.splice(left.indexOf(sent as JsonObject), 1);
      }
      expect(left).toEqual([]);

      const imported = await machine.ask('import', join(home, folders[agent]));
      const rows = (await call<OutputOf<'request.list'>>('request.list', {})).requests.filter(({ source }) => source === 'wire');
      expect(rows).toHaveLength(wire.length);
      if (imported.out.startsWith('0 sessions')) test.info().annotations.push({ type: 'not joined', description: `no ${agent} import is here` });
      else
        for (const { requestId, commit, replyKey, messageCount } of rows) {
          const { body } = await call<Request>('request.get', { requestId });
          const last = listOf(body).at(-1) as Json;
          const isHelper = helpers[agent]?.test(JSON.stringify([body.system ?? null, last])) ?? false;
          expect(commit === null, `${requestId}: ${JSON.stringify(last).slice(-120)}`).toBe(isHelper);
          if (commit === null || !['codex', 'pi'].includes(agent)) continue;
          // The same call as in the transcript: it was linked to its own answer, not to a similar one.
          const told = await call<Request>('request.get', { requestId: `call:${commit}:${replyKey}` });
          const asked = told.missing.some((part) => part.startsWith('input: the prompt'));
          expect(listOf(told.body)).toHaveLength(messageCount - (asked ? 1 : 0));
          if (!asked) expect(listOf(told.body).at(-1)).toEqual(plain(last));
        }

      const turn = rows.find(({ commit }) => commit !== null);
      const { path, environment, answer, provider } = servers[agent];
      const server = await modelServer((response) => stream(response, answer));
      Object.assign(machine.env, environment(server.url));
      const ran = await machine.run('rerun', turn?.commit ?? '', '--provider', provider);
      server.close();
      expect([ran.out, ran.err]).toEqual([expect.stringMatching(/^branch ctx-/m), expect.any(String)]);
      const first = rows.find(({ commit }) => commit === turn?.commit) as OutputOf<'request.list'>['requests'][number];
      const { body } = await call<Request>('request.get', { requestId: first.requestId });
      // The same body, except that the answer is streamed.
      const { model, stream: _, ...rest } = body as JsonObject;
      const inPath = agent === 'gemini';
      expect(server.asked).toHaveLength(1);
      expect(server.asked[0]?.path).toBe(path(String(first.model)));
      expect(server.asked[0]?.body).toEqual({ ...rest, ...(!inPath && { model, stream: true }) });

      expect(filesWith(project, key)).toEqual([]);
    });
});
