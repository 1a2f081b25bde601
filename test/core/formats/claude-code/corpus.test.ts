import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../../../src/core/base/index.js';
import { agentIn, claudeCode, type ParsedEntry, wireMessages } from '../../../../src/core/formats/index.js';
import { corpus } from './corpus.js';
import { coverage, deltaOf, lastTip, lineage, plan } from './records.js';

describe('real transcripts', () => {
  for (const path of corpus)
    test(`[F2] [F10] ${basename(path)}: each byte in one place, and deltas read as planned`, () => {
      const file = readFileSync(path);
      const planned = plan(file, { path });
      expect(coverage(file, planned).findIndex((times) => times !== 1)).toBe(-1);
      expect(planned.commits.length).toBeGreaterThan(0);
      for (const commit of planned.commits)
        expect(claudeCode.parse(deltaOf(file, commit))).toMatchObject({ entries: { length: commit.entries.length }, problems: [] });
      expect(planned.skipped.filter(({ reason }) => !/Another record with the id|not JSON|names itself/.test(reason))).toEqual([]);
      expect(plan(file, { path, resumeAt: planned.end, known: { has: () => true } })).toMatchObject({ commits: [], side: [] });
    });

  test('[F12] records that an edit writes again keep their content and keys', () => {
    const bare = ({ raw: _, ...entry }: ParsedEntry): unknown => ({ ...entry, marks: entry.marks?.filter((mark) => mark !== 'command') });
    for (const path of corpus.filter((file) => !file.includes('sanitized'))) {
      const planned = plan(readFileSync(path), { path });
      for (const { entries } of planned.commits) {
        const again = claudeCode.parse(claudeCode.write(entries, { newId: () => 'fresh', now: '2026-01-01T00:00:00.000Z' as Timestamp })).entries;
        expect(again.map(bare)).toEqual(entries.map(bare));
        expect(wireMessages(again)).toEqual(wireMessages(entries));
      }
    }
  });

  test('[F6] subagents of an older version are found in the session that started them', () => {
    const session = corpus.find((path) => basename(path).startsWith('0ccf1a04'));
    expect(session && agentIn(readFileSync(session), 'a5bdbc1')).toEqual({
      toolUseId: 'toolu_011472X3mPpLSX8BmtHebyH4',
      agentType: 'general-purpose',
    });
  });

  test('[F1] files that are one chain without a compaction equal their deltas', () => {
    const linear = corpus.filter((path) => {
      const file = readFileSync(path);
      const planned = plan(file, { path });
      if (planned.tips.length > 1 || planned.side.length > 0 || planned.commits.some(({ type }) => type === 'compaction')) return false;
      const deltas = lineage(planned, lastTip(planned)).map((at) => deltaOf(file, planned.commits[at] as (typeof planned.commits)[number]));
      expect(Buffer.compare(claudeCode.concat(deltas), file), path).toBe(0);
      return true;
    });
    expect(linear.map((path) => basename(path))).toContain('excerpt-ada8171575ce-image-in-tool-result.jsonl');
    expect(linear.length).toBeGreaterThanOrEqual(6);
  });
});
