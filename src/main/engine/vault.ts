import { ORPCError } from '@orpc/server';
import type { FromEngine, ToEngine } from '../launch/index.js';
import type { Vault } from '../providers/index.js';

/** The keeper of secrets that the host has, over messages: nothing of it is here but questions that wait. */
export function vaultOver(say: (message: FromEngine) => void): { readonly vault: Vault; readonly answer: (message: ToEngine) => void } {
  const waiting = new Map<number, PromiseWithResolvers<string>>();
  let number = 0;
  const ask = (act: 'seal' | 'unseal', text: string): Promise<string> => {
    const answer = Promise.withResolvers<string>();
    waiting.set(++number, answer);
    say({ kind: 'vault', number, act, text });
    return answer.promise;
  };
  return {
    vault: { seal: (text) => ask('seal', text), unseal: (sealed) => ask('unseal', sealed) },
    answer: (message) => {
      if (message.kind !== 'vault') return;
      const answer = waiting.get(message.number);
      waiting.delete(message.number);
      if (message.text !== undefined) answer?.resolve(message.text);
      else answer?.reject(new ORPCError('UNAVAILABLE', { message: message.problem ?? 'the operating system keeps no secrets here', status: 503 }));
    },
  };
}
