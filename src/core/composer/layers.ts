import { inWords, unreachable } from '../base/index.js';
import { type BlockKey, blockKeys, type Process } from '../contract/index.js';
import { refuse } from './refusals.js';

const suffix = '__context';

/** Private to their agent or to memory: never a shared block (requirements ). */
const reserved: readonly string[] = [`system_prompt${suffix}`, `checkpoint_messages${suffix}`];

/** The blocks that a checkpoint may keep. All others are made anew for each call (requirement A-31). */
export const reproducibleBlocks: readonly BlockKey[] = ['compression__context'];

const known = (key: string): key is BlockKey => (blockKeys as readonly string[]).includes(key);

export interface Block {
  readonly key: string;
  /** Trimmed at both ends; empty where there is nothing to say. */
  readonly text: string;
  /** Why the value is no text, where it is none. */
  readonly problem?: string;
}

/**
 * The blocks in the order in which they are composed: the five known ones, then further ones by code point.
 * @throws BAD_REQUEST with `data.reason` INVALID_CONTEXT_KEY or RESERVED_CONTEXT_KEY.
 */
export function orderedBlocks(contexts: Readonly<Record<string, unknown>>): readonly Block[] {
  const keys = Object.keys(contexts);
  for (const key of keys) checkKey(key);
  const further = keys.filter((key) => !known(key)).sort(byCodePoint);
  return [...blockKeys.filter((key) => Object.hasOwn(contexts, key)), ...further].map((key) => blockOf(key, contexts[key]));
}

function checkKey(key: string): void {
  if (!key.endsWith(suffix) || key === suffix)
    throw refuse('INVALID_CONTEXT_KEY', 'contexts', `a block's key is a name that ends in ${suffix}; ${inWords(key)} is none`);
  if (reserved.includes(key)) throw refuse('RESERVED_CONTEXT_KEY', 'contexts', `${key} is a private layer: it cannot be shared as a block`);
}

function blockOf(key: string, value: unknown): Block {
  if (typeof value === 'string') return { key, text: value.trim() };
  return { key, text: '', problem: `its value is ${inWords(value)}, which is no text` };
}

const codePoints = (text: string): readonly number[] => Array.from(text, (letter) => letter.codePointAt(0) ?? 0);

export function byCodePoint(a: string, b: string): number {
  const [left, right] = [codePoints(a), codePoints(b)];
  const differs = left.findIndex((point, place) => point !== right[place]);
  return differs === -1 ? left.length - right.length : (left[differs] ?? 0) - (right[differs] ?? -1);
}

/** What a process lets through to its model (decisions, rule 34). */
export interface Admission {
  readonly blocks: readonly BlockKey[];
  /** Blocks beyond the five known ones. */
  readonly furtherBlocks: boolean;
  readonly memory: boolean;
}

const agent = (sharing: boolean): Admission => ({ blocks: sharing ? blockKeys : [], furtherBlocks: sharing, memory: true });
const mapReduce = (blocks: readonly BlockKey[]): Admission => ({ blocks, furtherBlocks: false, memory: false });

export function admission(process: Process, enableShareContext: boolean): Admission {
  switch (process) {
    case 'sequential':
    case 'dynamic':
    case 'hierarchical':
    case 'react':
      return agent(enableShareContext);
    case 'mapreduce-worker':
      return mapReduce(['framework__context', 'knowledge__context']);
    case 'mapreduce-planner':
    case 'mapreduce-reducer':
      return mapReduce(enableShareContext ? ['framework__context', 'experience__context', 'knowledge__context'] : ['framework__context']);
    default:
      return unreachable(process);
  }
}

export const admitsBlock = (admission: Admission, key: string): boolean => (known(key) ? admission.blocks.includes(key) : admission.furtherBlocks);
