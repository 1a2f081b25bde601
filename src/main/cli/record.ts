import type { Provider } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { defaultUpstreams, type RunningProxy, startProxy, type Upstreams } from '../proxy/index.js';
import { printable, say } from './output.js';

/** The variables by which agents, and the providers' own clients, are told where a provider is. */
const addressNames: Readonly<Record<string, Provider>> = {
  ANTHROPIC_BASE_URL: 'anthropic',
  OPENAI_BASE_URL: 'openai',
  GOOGLE_GEMINI_BASE_URL: 'gemini',
};

/** A proxy whose calls go into the client's open project. */
export const startRecorder = (client: ContractClient, upstreams: Upstreams, port = 0): Promise<RunningProxy> =>
  startProxy({
    upstreams,
    port,
    capture: (call) => client.request.capture(call),
    problem: (error) => say(`stemma: a call is not recorded: ${printable(error.message)}`),
  });

/** What an agent's environment needs so that its calls go through the proxy. */
export const addressesOf = (proxy: RunningProxy): Record<string, string> =>
  Object.fromEntries(Object.entries(addressNames).map(([name, provider]) => [name, proxy.base(provider)]));

/** Where the calls of a command would have gone: what its environment says, else the providers' own addresses. */
export function upstreamsOf(env: NodeJS.ProcessEnv): Upstreams {
  const told = Object.entries(addressNames).flatMap(([name, provider]) => (env[name] ? [[provider, new URL(env[name])]] : []));
  return { ...defaultUpstreams, ...Object.fromEntries(told) };
}
