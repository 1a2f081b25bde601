import type { Provider } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { defaultUpstreams, type RunningProxy, startProxy, type Upstreams } from '../proxy/index.js';
import { line, say } from '../terminal/index.js';

/** The environment variables from which agents and the providers' own clients take a provider's address. */
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

/** The environment variables that send an agent's calls through the proxy. */
export const addressesOf = (proxy: RunningProxy): Record<string, string> =>
  Object.fromEntries(Object.entries(addressNames).map(([name, provider]) => [name, proxy.base(provider)]));

/** The addresses to which a command would have sent its calls: those in its environment, else the providers' own. */
export function upstreamsOf(env: NodeJS.ProcessEnv): Upstreams {
  const given = Object.entries(addressNames).flatMap(([name, provider]) => (env[name] ? [[provider, new URL(env[name])]] : []));
  return { ...defaultUpstreams, ...Object.fromEntries(given) };
}
