import { ORPCError } from '@orpc/server';
import type { Vault } from '../../core/project/index.js';
import type { FromEngine, ToEngine } from '../launch/index.js';

/** The host's vault, called over messages. */
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
      else
        answer?.reject(new ORPCError('UNAVAILABLE', { message: message.problem ?? 'The operating system cannot store secrets here.', status: 503 }));
    },
  };
}
