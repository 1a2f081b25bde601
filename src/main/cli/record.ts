import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from '../../core/base/index.js';
import type { Provider } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { defaultUpstreams, type RunningProxy, startProxy, type Upstreams } from '../proxy/index.js';
import { line, say } from '../terminal/index.js';

/** The environment variables from which agents and the providers' own clients read a provider's address. */
const addressNames: Readonly<Record<string, Provider>> = {
  ANTHROPIC_BASE_URL: 'anthropic',
  OPENAI_BASE_URL: 'openai',
  GOOGLE_GEMINI_BASE_URL: 'gemini',
};

/** Starts a proxy that records calls into the open project of the client. */
export const startRecorder = (client: ContractClient, upstreams: Upstreams, port = 0): Promise<RunningProxy> =>
  startProxy({
    upstreams,
    port,
    record: (call) => client.request.capture(call),
    problem: (error) => say(line`stemma: a call was not recorded: ${error.message}`),
  });

/** The environment variables that redirect an agent's calls to the proxy. */
export const addressesOf = (proxy: RunningProxy): Record<string, string> =>
  Object.fromEntries(Object.entries(addressNames).map(([name, provider]) => [name, proxy.base(provider)]));

/** The addresses to which a command would have sent its calls: the addresses in its environment, else the providers' own. */
export function upstreamsOf(env: NodeJS.ProcessEnv): Upstreams {
  const given = Object.entries(addressNames).flatMap(([name, provider]) => (env[name] ? [[provider, new URL(env[name])]] : []));
  return { ...defaultUpstreams, ...Object.fromEntries(given) };
}

/** Request bodies that an agent itself writes to files. */
export interface BodyFiles {
  readonly env: Readonly<Record<string, string>>;
  /** Imports the request bodies that the agent wrote. Call it after its transcripts were stored. */
  importInto(client: ContractClient): Promise<void>;
  remove(): void;
}

/** Variables that show that the person has already configured Claude Code's telemetry. */
const decided = ['CLAUDE_CODE_ENABLE_TELEMETRY', 'OTEL_LOG_RAW_API_BODIES', 'OTEL_LOGS_EXPORTER', 'OTEL_METRICS_EXPORTER', 'OTEL_TRACES_EXPORTER'];

/**
 * Lets Claude Code write its request bodies into a temporary folder, which only this user can read. This records calls that bypass the proxy, such as
 * calls to Bedrock or Vertex, or to an address in the agent's own settings. Nothing leaves this machine. Undefined if the person has configured the
 * agent's telemetry.
 */
export function bodyFiles(env: NodeJS.ProcessEnv): BodyFiles | undefined {
  if (decided.some((name) => env[name] !== undefined)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'stemma-bodies-'));
  return {
    env: { CLAUDE_CODE_ENABLE_TELEMETRY: '1', OTEL_LOG_RAW_API_BODIES: `file:${folder}` },
    async importInto(client) {
      const { skipped } = await finished(await client.import.run({ paths: [folder] }));
      for (const { path, reason } of skipped) say(line`stemma: ${path}: ${reason}`);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
