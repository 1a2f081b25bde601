import { createRouterClient } from '@orpc/server';
import { damageHeader } from '../../core/contract/index.js';
import { createSession, type EngineOptions, needsConversion } from '../../core/project/index.js';
import { contextOf, router } from '../../core/router/index.js';
import { startEngine } from '../engine/index.js';
import { type ContractClient, hear } from '../launch/index.js';

/** The headers beside an answer. Those of Node load all of its HTTP client, which takes a fifth of a start. */
const headers = (): Headers => new Map<string, string>() as Pick<Headers, 'set'> as Headers;

/** Starts an engine on this thread. Commands whose engine has a thread of its own never load this file, which takes most of a start. */
export function engineHere(options: EngineOptions) {
  const engine = startEngine(options);
  const session = contextOf(createSession(engine));
  const client = createRouterClient(router, {
    context: () => ({ ...session, resHeaders: headers() }),
    interceptors: [({ next, context }) => next().finally(() => hear(context.resHeaders?.get(damageHeader) ?? undefined))],
  }) as ContractClient;
  return { client, needsConversion, close: () => engine.close() };
}
