import { inWords } from '../base/index.js';
import { type BlockKey, blockKeys, type Process } from '../contract/index.js';
import { refuse } from './refusals.js';

const suffix = '__context';

/** Layers that are never shared as a block. */
const reserved: readonly string[] = [`system_prompt${suffix}`, `checkpoint_messages${suffix}`];

/** The blocks that a checkpoint may keep. All others are made for each call. */
export const reproducibleBlocks: readonly BlockKey[] = ['compression__context'];

/** The blocks that are made for each call, and that can be saved with a state to reproduce the call. */
export const savedBlocks: readonly string[] = ['experience__context', 'knowledge__context', 'todo__context'];

const known = (key: string): key is BlockKey => (blockKeys as readonly string[]).includes(key);

export interface Block {
  readonly key: string;
  /** Trimmed. Empty for an empty block. */
  readonly text: string;
  /** Set if the value is not a text. */
  readonly problem?: string;
}

/** The known blocks in the order of the prompt, then others by code point. @throws BAD_REQUEST: INVALID_CONTEXT_KEY, RESERVED_CONTEXT_KEY */
export function orderedBlocks(contexts: Readonly<Record<string, unknown>>): readonly Block[] {
  const keys = Object.keys(contexts);
  for (const key of keys) {
    if (!key.endsWith(suffix) || key === suffix)
      throw refuse('INVALID_CONTEXT_KEY', 'contexts', `the key of a block ends in ${suffix}; ${inWords(key)} does not`);
    if (reserved.includes(key)) throw refuse('RESERVED_CONTEXT_KEY', 'contexts', `${key} is a private layer and cannot be a block`);
  }
  // The bytes of UTF-8 have the order of code points.
  const further = keys.filter((key) => !known(key)).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return [...blockKeys.filter((key) => Object.hasOwn(contexts, key)), ...further].map((key) => {
    const value = contexts[key];
    if (typeof value === 'string') return { key, text: value.trim() };
    return { key, text: '', problem: `its value is ${inWords(value)}, which is not a text` };
  });
}

/** The layers that the model of a process gets. */
export interface Admission {
  readonly blocks: readonly BlockKey[];
  readonly furtherBlocks: boolean;
  readonly memory: boolean;
}

/** The processes of agents. The others are those of map and reduce. */
const ofAgents: readonly Process[] = ['sequential', 'dynamic', 'hierarchical', 'react'];

/** The layers that a process gets, with sharing on or off. */
export function admission(process: Process, sharing: boolean): Admission {
  if (ofAgents.includes(process)) return { blocks: sharing ? blockKeys : [], furtherBlocks: sharing, memory: true };
  const shared: readonly BlockKey[] = sharing ? ['experience__context', 'knowledge__context'] : [];
  const further = process === 'mapreduce-worker' ? (['knowledge__context'] as const) : shared;
  return { blocks: ['framework__context', ...further], furtherBlocks: false, memory: false };
}

/** Whether a process gets a block. */
export const admitsBlock = (admission: Admission, key: string): boolean => (known(key) ? admission.blocks.includes(key) : admission.furtherBlocks);
