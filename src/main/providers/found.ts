import type { ModelProvider, ProviderAccount } from '../../core/project/index.js';
import { anthropicUrl, geminiUrl, openaiUrl } from './addresses.js';
import { anthropicProvider } from './anthropic.js';
import { geminiProvider } from './gemini.js';
import type { Server } from './line.js';
import { openaiProvider } from './openai.js';
import { responsesProvider } from './responses.js';

type Environment = Readonly<Record<string, string | undefined>>;

interface Found {
  readonly account: ProviderAccount;
  readonly provider: ModelProvider;
}

/** Local model servers at their default addresses. */
const local = [
  { id: 'ollama', title: 'Ollama on this machine', url: 'http://127.0.0.1:11434/v1' },
  { id: 'llama.cpp', title: 'llama.cpp on this machine', url: 'http://127.0.0.1:8080/v1' },
] as const;
const localTimeoutMs = 300;

/** The providers of the environment, and the local servers, even if they do not run. */
export function found(env: Environment): Found[] {
  const providers: Found[] = local.map((server) => ({
    account: { ...server, wire: 'openai', hasKey: false, from: 'machine' },
    provider: openaiProvider({ ...server, listTimeoutMs: localTimeoutMs }),
  }));
  const { OPENAI_BASE_URL: compatibleUrl, OPENAI_API_KEY: openaiKey, ANTHROPIC_API_KEY: anthropicKey } = env;
  const geminiKey = env.GEMINI_API_KEY || env.GOOGLE_API_KEY;
  const add = (wire: Wire, { key, ...server }: Server): void => {
    const account: ProviderAccount = { ...server, wire, hasKey: Boolean(key), from: 'environment' };
    providers.unshift({ account, provider: providerFor(wire, { ...server, key }) });
  };
  if (geminiKey) add('gemini', { id: 'gemini', title: 'Gemini', url: env.GOOGLE_GEMINI_BASE_URL || geminiUrl, key: geminiKey });
  if (openaiKey) add('responses', { id: 'openai-responses', title: 'OpenAI responses', url: compatibleUrl || openaiUrl, key: openaiKey });
  if (compatibleUrl) add('openai', { id: 'openai', title: 'OpenAI-compatible', url: compatibleUrl, key: openaiKey });
  if (anthropicKey) add('anthropic', { id: 'anthropic', title: 'Anthropic', url: env.ANTHROPIC_BASE_URL || anthropicUrl, key: anthropicKey });
  return providers;
}

const byWire = { anthropic: anthropicProvider, gemini: geminiProvider, responses: responsesProvider, openai: openaiProvider };
type Wire = keyof typeof byWire;

/** The provider that sends requests in this wire format to a server. */
export const providerFor = (wire: Wire, server: Server): ModelProvider => byWire[wire](server);
