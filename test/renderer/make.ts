import type { ContextId, Entry, EntryKey, GraphRow, Kind, OutlineRow, Role } from '../../src/core/contract/index.js';

/** Rows and entries for view tests. Fields that a test does not set have plain values. */
export const commit = (n: number): ContextId => `ctx-${n.toString(16).padStart(8, '0')}` as ContextId;

export function outlineRow(key: string, role: Role, kind: Kind, rest: Partial<OutlineRow> = {}): OutlineRow {
  return { key: key as EntryKey, role, kind, tokens: 10, commit: commit(1), ...rest };
}

export const call = (id: string, rest: Partial<OutlineRow> = {}): OutlineRow =>
  outlineRow(`call-${id}`, 'assistant', 'tool_call', { toolCallId: id, head: 'Bash', ...rest });
export const result = (id: string, rest: Partial<OutlineRow> = {}): OutlineRow =>
  outlineRow(`result-${id}`, 'tool', 'tool_result', { toolCallId: id, ...rest });

export function entry(role: Role, kind: Kind, rest: Partial<Entry> = {}): Entry {
  return { key: 'e.0' as EntryKey, role, kind, tokens: 12, source: { commit: commit(1), index: 0 }, ...rest };
}

export function graphRow(n: number, rest: Partial<GraphRow> = {}): GraphRow {
  return {
    commit: {
      id: commit(n),
      parent: n > 0 ? commit(n - 1) : null,
      type: 'delta',
      artifactRef: `blake3:${'0'.repeat(64)}` as GraphRow['commit']['artifactRef'],
      format: 'claude-code-v1',
      template: 'claude-code',
      principal: null,
      machine: null,
      sessionId: null,
      checkpoint: 'turn_boundary',
      summary: `turn ${n}`,
      tags: [],
      messageCount: 2,
      tokenCount: 100,
      createdAt: '2026-11-20T09:00:00.000Z' as GraphRow['commit']['createdAt'],
    },
    lane: 0,
    edges: [{ fromLane: 0, toLane: 0 }],
    width: 1,
    depth: n,
    children: 1,
    contextTokens: 1_000,
    forked: false,
    errors: 0,
    ...rest,
  };
}
