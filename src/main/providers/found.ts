import type { ModelProvider, ProviderAccount } from '../../core/project/index.js';
import { anthropicProvider, anthropicUrl } from './anthropic.js';
import { openaiProvider } from './openai.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A provider that nobody set up here: the environment opens it, or it is looked for on this machine. */
interface Found {
  readonly account: ProviderAccount;
  readonly provider: ModelProvider;
}

/** Servers of models on this machine, where they listen unless told otherwise. */
const local = [
  { id: 'ollama', title: 'Ollama on this machine', url: 'http://127.0.0.1:11434/v1' },
  { id: 'llama.cpp', title: 'llama.cpp on this machine', url: 'http://127.0.0.1:8080/v1' },
] as const;
const localTimeoutMs = 300;
const remoteTimeoutMs = 5_000;

/** The providers that the environment opens, and the local ones, which say for themselves whether they are there. */
export function found(env: Environment): Found[] {
  const providers: Found[] = local.map((server) => ({
    account: { ...server, wire: 'openai', hasKey: false, from: 'machine' },
    provider: openaiProvider({ ...server, listTimeoutMs: localTimeoutMs }),
  }));
  const { OPENAI_BASE_URL: openaiUrl, OPENAI_API_KEY: openaiKey, ANTHROPIC_API_KEY: anthropicKey } = env;
  if (openaiUrl) {
    const server = { id: 'openai', title: 'OpenAI-compatible', url: openaiUrl };
    providers.unshift({
      account: { ...server, wire: 'openai', hasKey: Boolean(openaiKey), from: 'environment' },
      provider: openaiProvider({ ...server, key: openaiKey, listTimeoutMs: remoteTimeoutMs }),
    });
  }
  if (anthropicKey) {
    const server = { id: 'anthropic', title: 'Anthropic', url: env.ANTHROPIC_BASE_URL || anthropicUrl };
    providers.unshift({
      account: { ...server, wire: 'anthropic', hasKey: true, from: 'environment' },
      provider: anthropicProvider({ ...server, key: anthropicKey }),
    });
  }
  return providers;
}
