import { onTestFinished } from 'vitest';
import { anthropicProvider, geminiProvider, openaiProvider, responsesProvider } from '../../src/main/providers/index.js';
import { door } from './door.js';
import { modelServer } from './model-server.js';

/** The forms of requests in which Stemma asks models. */
export const wires = ['anthropic', 'openai', 'responses', 'gemini'] as const;
export type Wire = (typeof wires)[number];

/** A project with a provider of this wire behind a loopback server that answers so. It ends with the test. */
export async function behindServer(wire: Wire, ...answers: Parameters<typeof modelServer>) {
  const server = await modelServer(...answers);
  onTestFinished(() => server.close());
  const place = { url: server.url, id: 'model', title: 'Model', key: 'k' };
  const providers = {
    anthropic: () => anthropicProvider(place),
    openai: () => openaiProvider(place),
    responses: () => responsesProvider(place),
    gemini: () => geminiProvider(place),
  };
  return { ...door({ providers: [providers[wire]()] }), server };
}
