import type { ContextId } from '../../src/core/base/index.js';
import { entries, type WriteChain } from '../../src/core/chain/index.js';
import type { ImportResult } from '../../src/core/contract/index.js';
import { getSource, importPaths, listSources } from '../../src/core/import/index.js';
import { atOnce } from '../../src/core/project/index.js';

/** Imports all histories at and below the paths. */
export const importInto = (chain: WriteChain, ...paths: string[]): ImportResult => atOnce(importPaths(chain, { paths }));

/** The bytes of an imported file from the store. */
export function bytesOfSource(chain: WriteChain, sourceId: string): Buffer {
  const { artifactRef } = getSource(chain, sourceId);
  return Buffer.from(chain.artifacts.read(chain.artifacts.find(artifactRef ?? '')));
}

export const bytesOfFile = (chain: WriteChain, path: string): Buffer =>
  bytesOfSource(chain, listSources(chain).find((source) => source.path === path)?.sourceId ?? '');

/** The first words of each entry that a model would see. */
export const said = (chain: WriteChain, id: ContextId, stop?: 'root'): string[] =>
  entries(chain, { id, ...(stop && { stop }) })
    .entries.filter(({ marks }) => !marks?.includes('hidden'))
    .map(({ role, kind, text, toolName }) => `${role} ${kind} ${toolName ?? ''} ${(text ?? '').split('\n')[0]?.slice(0, 40)}`);
