import type { Process } from '../../../core/contract/index.js';
import type { Family } from '../../parts';

/** Layers as a person reads them. Further blocks go by their own names. */
const names: Readonly<Record<string, string>> = {
  system_prompt: 'System prompt',
  framework__context: 'Framework',
  experience__context: 'Experience',
  knowledge__context: 'Knowledge',
  todo__context: 'Todo',
  compression__context: 'Earlier, summarized',
  checkpoint_messages: 'Memory',
  human_message: 'For this call only',
  query: 'Query',
};

export const layerName = (layer: string): string => names[layer] ?? layer.replace(/__context$/, '');

/** The hue of a layer: that of the entries which it is most like. */
export function layerFamily(layer: string): Family {
  if (layer === 'query' || layer === 'human_message') return 'user';
  if (layer === 'checkpoint_messages') return 'assistant';
  if (layer === 'todo__context') return 'tool';
  return layer === 'experience__context' || layer === 'knowledge__context' ? 'thinking' : 'system';
}

/** Layers whose text a person can try out. */
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
