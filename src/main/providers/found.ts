import type { ModelProvider } from '../../core/project/index.js';
import { anthropicProvider } from './anthropic.js';
import { openaiProvider } from './openai.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Servers of models on this machine, where they listen unless told otherwise. */
const local = [
  { id: 'ollama', title: 'Ollama on this machine', url: 'http://127.0.0.1:11434/v1' },
  { id: 'llama.cpp', title: 'llama.cpp on this machine', url: 'http://127.0.0.1:8080/v1' },
] as const;
const localTimeoutMs = 300;
const remoteTimeoutMs = 5_000;

/** The providers that the environment opens, and the local ones, which say for themselves whether they are there. */
export function providersFrom(env: Environment): ModelProvider[] {
  return [
    ...(env.ANTHROPIC_API_KEY && env.ANTHROPIC_BASE_URL ? [anthropicProvider({ url: env.ANTHROPIC_BASE_URL, key: env.ANTHROPIC_API_KEY })] : []),
    ...(env.OPENAI_BASE_URL
      ? [
          openaiProvider({
            id: 'openai',
            title: 'OpenAI-compatible',
            url: env.OPENAI_BASE_URL,
            key: env.OPENAI_API_KEY,
            listTimeoutMs: remoteTimeoutMs,
          }),
        ]
      : []),
    ...local.map((server) => openaiProvider({ ...server, listTimeoutMs: localTimeoutMs })),
  ];
}
