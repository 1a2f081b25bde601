import { BookOpen, CirclePlay, Copy, Download, GitCompare, GitCompareArrows, GitFork, Play, Repeat, Split } from 'lucide-react';
import type { Commit, ContextId } from '../../core/contract/index.js';
import { agentOf, agents, type MenuEntry } from '../parts';
import { copy, go, show } from '../state';

/** What can be done with a commit, wherever one is shown: the same words, keys and order everywhere. */
export function commitActions(commit: Pick<Commit, 'id' | 'parent' | 'format'>, against?: ContextId): readonly MenuEntry[] {
  const { id, parent } = commit;
  const agent = agentOf(commit.format);
  return [
    { name: 'Open', icon: BookOpen, keys: 'Enter', act: () => go({ view: 'context', commit: id, entry: undefined, stop: undefined }) },
    { name: 'Replay', icon: CirclePlay, keys: 'r', act: () => go({ view: 'replay', commit: id, entry: undefined }) },
    { name: 'Run again', icon: Repeat, act: () => go({ view: 'run', commit: id, runs: undefined }) },
    { name: 'What if: the turns after it', icon: Split, act: () => go({ view: 'run', commit: id, runs: 'after' }) },
    { name: 'Fork…', icon: GitFork, keys: 'f', act: () => show({ kind: 'fork', commit: id, stop: 'compaction' }) },
    'line',
    {
      name: 'Diff with the other selected',
      icon: GitCompare,
      keys: 'd',
      disabled: !against || against === id,
      act: () => go({ view: 'diff', commit: id, against, entry: undefined }),
    },
    {
      name: 'Compare with parent',
      icon: GitCompareArrows,
      keys: 'p',
      disabled: !parent,
      act: () => parent && go({ view: 'diff', commit: id, against: parent, entry: undefined }),
    },
    'line',
    { name: 'Export…', icon: Download, keys: 'e', act: () => show({ kind: 'export', commit: id, stop: 'compaction' }) },
    { name: `Resume in ${agents[agent].name}…`, icon: Play, keys: 'R', act: () => show({ kind: 'resume', commit: id, agent }) },
    { name: 'Copy id', icon: Copy, keys: 'y', act: () => void copy(id, 'Copied the id') },
  ];
}

/** Runs the action that a key stands for. True where there was one. */
export function runByKey(actions: readonly MenuEntry[], key: string): boolean {
  const action = actions.find((item) => item !== 'line' && item.keys === key && !item.disabled);
  if (!action || action === 'line') return false;
  action.act();
  return true;
}
