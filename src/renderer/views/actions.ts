import {
  Archive,
  Bookmark,
  BookOpen,
  CalendarSearch,
  Camera,
  CirclePlay,
  Copy,
  Download,
  FileDown,
  GitCompare,
  GitCompareArrows,
  GitFork,
  Link,
  Package,
  Pencil,
  Pin,
  Play,
  Repeat,
  Scissors,
  Share2,
  Split,
  Tag,
  TextQuote,
  Trash2,
} from 'lucide-react';
import { type Commit, type ContextId, commitLink, type GraphRow } from '../../core/contract/index.js';
import { api } from '../client';
import { materializeForm, resolveForm, retentionForm, runForm, shareForm, sourceForm, summaryForm, tagsForm } from '../forms';
import { agents, attempt, findAgent, type MenuEntry, notifyProblem, reloadAndSay } from '../parts';
import {
  ask,
  copy,
  editPrompt,
  type FormSpec,
  givenIn,
  go,
  move,
  notify,
  openComparison,
  openContext,
  refreshProject,
  route,
  show,
  textIn,
} from '../state';
import { compareWithOriginal } from './original';

/** The actions on a commit. Every place that shows a commit offers the same actions, in the same words, keys and order. */
export function commitActions(
  commit: Pick<Commit, 'id' | 'parent' | 'format'>,
  against?: ContextId,
  row?: Pick<GraphRow, 'forked'>,
): readonly MenuEntry[] {
  const { id, parent } = commit;
  const agent = findAgent(commit.format);
  return [
    { name: 'Open', icon: BookOpen, keys: 'Enter', act: () => openContext(id) },
    { name: 'Replay', icon: CirclePlay, keys: 'r', act: () => go({ view: 'replay', commit: id, entry: undefined }) },
    { name: 'Run again', icon: Repeat, act: () => go({ view: 'run', commit: id, runs: undefined }) },
    { name: 'Run here…', icon: CirclePlay, act: () => ask(runForm({ commit: id }, 'Run here')) },
    { name: 'What if: the turns after it', icon: Split, act: () => go({ view: 'run', commit: id, runs: 'after' }) },
    { name: 'Edit & fork', icon: Pencil, keys: 'E', act: () => editOrFork(id) },
    { name: 'Fork…', icon: GitFork, keys: 'f', act: () => show({ kind: 'fork', commit: id, stop: 'compaction' }) },
    'line',
    {
      name: 'Compare the two selected commits',
      icon: GitCompare,
      keys: 'd',
      disabled: !against || against === id,
      act: () => openComparison(id, against),
    },
    { name: 'Compare with parent', icon: GitCompareArrows, keys: 'p', disabled: !parent, act: () => parent && openComparison(id, parent) },
    ...(row?.forked ? [{ name: 'Compare with original', icon: GitCompare, keys: 'o', act: attempt(() => compareWithOriginal(id)) }] : []),
    'line',
    { name: 'Export…', icon: Download, keys: 'e', act: () => show({ kind: 'export', commit: id, stop: 'compaction' }) },
    { name: 'Share a link…', icon: Share2, act: () => ask(shareForm(id)) },
    { name: `Resume in ${agents[agent].name}…`, icon: Play, keys: 'R', act: () => show({ kind: 'resume', commit: id, agent }) },
    'line',
    ...branchActions(id),
    'line',
    { name: 'Snapshot', icon: Camera, act: () => done(api.context.snapshot({ id }).then(({ id: made }) => go({ commit: made, entry: undefined }))) },
    { name: 'Materialize from here…', icon: Package, act: () => open(materializeForm({ id })) },
    { name: 'Compact in your own words…', icon: Scissors, act: () => askSummary(id) },
    { name: 'Summarize…', icon: TextQuote, act: () => ask(summaryForm(id)) },
    { name: 'Tags…', icon: Bookmark, act: () => open(tagsForm({ id })) },
    { name: 'Keep its content…', icon: Pin, act: () => open(retentionForm({ id })) },
    { name: 'Find a context by time…', icon: CalendarSearch, act: () => open(resolveForm({ id })) },
    { name: 'Download an imported file…', icon: FileDown, act: () => open(sourceForm({ id })) },
    { name: 'Copy link', icon: Link, act: attempt(() => copyLink(id)) },
    { name: 'Copy id', icon: Copy, keys: 'y', act: () => void copy(id, 'Copied the id') },
  ];
}

/** Copies a link that opens the commit in the desktop app, on every machine with this project. */
async function copyLink(commit: ContextId): Promise<void> {
  await copy(commitLink(commit, (await api.project.info({})).projectId), 'Copied the link');
}

/** Opens the prompt of a commit as an editor; without a prompt, opens the Fork sheet. */
export const editOrFork = (commit: ContextId): void =>
  void editPrompt(commit).then((opened) => opened || show({ kind: 'fork', commit, stop: 'compaction' }), notifyProblem);

/** Opens a form that needs facts of the engine first. */
const open = (form: Promise<FormSpec>): void => void form.then(ask, notifyProblem);

const done = (act: Promise<unknown>): void => void act.then(refreshProject).catch(notifyProblem);

const branchActions = (commit: ContextId): readonly MenuEntry[] => [
  {
    name: 'Name this branch…',
    icon: Tag,
    act: () =>
      ask({
        title: 'Name this branch',
        fields: [{ name: 'title', label: 'Name', hint: 'The name stays with the branch as it grows. Leave it empty to take the name away.' }],
        action: 'Save',
        submit: (values) => renameBranch(commit, givenIn(values, 'title') ?? null),
      }),
  },
  { name: 'Archive this branch', icon: Archive, act: () => archiveBranch(commit) },
  { name: 'Delete this branch', icon: Trash2, act: () => deleteBranch(commit) },
];

/** Names a branch, or takes its name away, and offers to bring the earlier name back. */
async function renameBranch(commit: ContextId, title: string | null): Promise<void> {
  const { branch } = await api.session.place({ id: commit });
  const before = branch.named ? branch.title : null;
  await api.branch.rename({ commit, title });
  const said = title === null ? 'Took the name of the branch away' : `Named the branch “${title}”`;
  await reloadAndSay(said, () => api.branch.rename({ commit, title: before }));
}

const archiveBranch = (commit: ContextId): void => removeBranch(commit, 'Archived', (archived) => api.branch.archive({ commit, archived }));
const deleteBranch = (commit: ContextId): void => removeBranch(commit, 'Deleted', (deleted) => api.branch.delete({ commit, deleted }));

/** Takes a branch out of the lists. If a commit of it is selected, it is no longer selected then; Undo selects it again. */
function removeBranch(commit: ContextId, verb: string, set: (gone: boolean) => Promise<{ readonly title: string }>): void {
  const work = async (): Promise<void> => {
    const selected = route().commit;
    const wasSelected = selected !== undefined && (selected === commit || (await branchOf(selected)) === (await branchOf(commit)));
    const { title } = await set(true);
    if (wasSelected && route().commit === selected) move({ commit: undefined, entry: undefined });
    const undo = async (): Promise<void> => {
      await set(false);
      if (wasSelected) move({ commit: selected, entry: undefined });
    };
    notify(`${verb} the branch “${title}”`, { name: 'Undo', act: () => done(undo()) });
  };
  done(work());
}

/** The end of the branch of a commit; undefined if the commit is on no branch that lists show. */
const branchOf = (id: ContextId): Promise<ContextId | undefined> =>
  api.session.place({ id }).then(
    ({ branch }) => branch.tip,
    () => undefined,
  );

const askSummary = (id: ContextId): void => {
  const hint = 'The summary stands for the whole context up to this commit. The original branch stays as it is.';
  ask({
    title: 'Compact in your own words',
    fields: [{ name: 'summary', label: 'Summary', kind: 'long', hint, required: true }],
    action: 'Compact',
    submit: async (values) => {
      const made = await api.context.compact({ id, summary: textIn(values, 'summary') });
      await refreshProject();
      go({ commit: made.id, entry: undefined });
    },
  });
};
