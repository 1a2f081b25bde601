import type { Plugin } from 'vite';

/** What reads and stores the facts of usage during an import of Claude Code sessions: the file, the function and one that does nothing. */
const ofFacts: readonly (readonly [file: string, name: string, nothing: string])[] = [
  ['formats/claude-code/calls.ts', 'callPartOf', '() => undefined'],
  ['requests/runtimes/counts.ts', 'callsOfDelta', '() => []'],
  ['usage/backfill.ts', 'openRecorder', '() => ({ add() {}, settle() {} })'],
];

/** Builds the engine without the facts of usage: a comparison with it says what they add to an import. */
export function withoutFacts(): Plugin {
  const left = new Set(ofFacts.map(([, name]) => name));
  return {
    name: 'without-facts',
    enforce: 'pre',
    transform: (code, id) => {
      const [, name, nothing] = ofFacts.find(([file]) => id.endsWith(file)) ?? [];
      if (name === undefined || !code.includes(`export function ${name}(`)) return undefined;
      left.delete(name);
      return code.replace(`export function ${name}(`, `export const ${name} = ${nothing};\nexport function ${name}WithFacts(`);
    },
    buildEnd: () => {
      if (left.size > 0) throw new Error(`the bench cannot leave out ${[...left].join(', ')}: no such function is exported`);
    },
  };
}
