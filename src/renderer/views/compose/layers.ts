import type { Process } from '../../../core/contract/index.js';
import type { KindFamily } from '../../parts';

/** Display names of layers. Other blocks are shown by their own names. */
const names: Readonly<Record<string, string>> = {
  system_prompt: 'System prompt',
  framework__context: 'Framework',
  experience__context: 'Experience',
  knowledge__context: 'Knowledge',
  todo__context: 'Todo',
  compression__context: 'Compression',
  checkpoint_messages: 'Memory',
  human_message: 'Message of this call',
  query: 'Query',
};

/** The display name of a layer. */
export const layerName = (layer: string): string => names[layer] ?? layer.replace(/__context$/, '');

/** The color family of a layer, taken from the kind of entries that it resembles. */
export function layerFamily(layer: string): KindFamily {
  if (layer === 'query' || layer === 'human_message') return 'user';
  if (layer === 'checkpoint_messages') return 'assistant';
  if (layer === 'todo__context') return 'tool';
  return layer === 'experience__context' || layer === 'knowledge__context' ? 'thinking' : 'system';
}

/** Whether a layer is a context block. */
export const isBlock = (layer: string): boolean => layer.endsWith('__context');

export const processNames: Readonly<Record<Process, string>> = {
  sequential: 'Sequential agent',
  dynamic: 'Dynamic agent',
  hierarchical: 'Hierarchical agent',
  react: 'ReAct agent',
  'mapreduce-planner': 'Map-reduce planner',
  'mapreduce-worker': 'Map-reduce worker',
  'mapreduce-reducer': 'Map-reduce reducer',
};
