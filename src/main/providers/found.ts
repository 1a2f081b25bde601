import type { ModelProvider, ProviderAccount } from '../../core/project/index.js';
import { anthropicProvider, anthropicUrl } from './anthropic.js';
import { geminiProvider, geminiUrl } from './gemini.js';
import { openaiProvider } from './openai.js';
import { openaiUrl, responsesProvider } from './responses.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A provider from the environment or on this machine. */
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
  if (geminiKey) {
    const server = { id: 'gemini', title: 'Gemini', url: env.GOOGLE_GEMINI_BASE_URL || geminiUrl };
    providers.unshift({
      account: { ...server, wire: 'gemini', hasKey: true, from: 'environment' },
      provider: geminiProvider({ ...server, key: geminiKey }),
    });
  }
  if (openaiKey) {
    const server = { id: 'openai-responses', title: 'OpenAI responses', url: compatibleUrl || openaiUrl };
    providers.unshift({
      account: { ...server, wire: 'responses', hasKey: true, from: 'environment' },
      provider: responsesProvider({ ...server, key: openaiKey }),
    });
  }
  if (compatibleUrl) {
    const server = { id: 'openai', title: 'OpenAI-compatible', url: compatibleUrl };
    providers.unshift({
      account: { ...server, wire: 'openai', hasKey: Boolean(openaiKey), from: 'environment' },
      provider: openaiProvider({ ...server, key: openaiKey }),
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
