import { create } from 'zustand';
import type { CaptureStatus, Commit, ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject, useProject } from './project';
import { ticketsChanged } from './tickets';

/** What came into the open project while the window looks on. */
export const useLive = create<{
  /** By a commit the latest that was made on it: the way to where its conversation stands now. */
  readonly next: ReadonlyMap<ContextId, ContextId>;
  readonly capture: CaptureStatus | undefined;
}>(() => ({ next: new Map(), capture: undefined }));

/** So many commits are remembered: who reads an older one sees the chain for what came after it. */
const remembered = 5_000;

let listening: AbortController | undefined;

/**
 * Hears of everything that is new in the open project, whoever makes it, until it is called again or the line breaks. Lists are read
 * again at most so often as the reading takes; what the reader looks at stays where it is.
 */
export async function listen(): Promise<void> {
  listening?.abort();
  const { state } = useProject.getState();
  useLive.setState({ next: new Map(), capture: undefined });
  if (state.phase !== 'open') return;
  const { dir } = state;
  const own = new AbortController();
  listening = own;
  try {
    const changes = await api.project.changes({}, { signal: own.signal });
    own.signal.addEventListener('abort', () => void changes.return?.(undefined as never).catch(() => {}), { once: true });
    void followAgain();
    for await (const { commits, changed } of changes) {
      const now = useProject.getState().state;
      if (own.signal.aborted || now.phase !== 'open' || now.dir !== dir) return;
      if (changed.length === 0) continue;
      noteCommits(commits);
      if (changed.includes('tickets')) ticketsChanged();
      if (changed.some((area) => area !== 'tickets')) await Promise.all([refreshProject(), readCapture()]);
    }
  } catch {
    // The line broke: whoever opens the project again on the next one listens again.
  }
}

function noteCommits(commits: readonly Commit[]): void {
  if (commits.length === 0) return;
  const next = new Map(useLive.getState().next);
  for (const { id, parent } of commits) if (parent !== null) next.set(parent, id);
  for (const oldest of [...next.keys()].slice(0, -remembered)) next.delete(oldest);
  useLive.setState({ next });
}

/** Where a conversation stands now that stood at a commit, and how many commits later; undefined where nothing came. */
export function newest(next: ReadonlyMap<ContextId, ContextId>, from: ContextId): { readonly id: ContextId; readonly commits: number } | undefined {
  let id = from;
  let commits = 0;
  for (let later = next.get(id); later !== undefined; later = next.get(id)) {
    id = later;
    commits++;
  }
  return commits === 0 ? undefined : { id, commits };
}

export async function readCapture(): Promise<void> {
  const capture = await api.capture.status({}).catch(() => undefined);
  if (capture) useLive.setState({ capture });
}

/** The person chose to follow the agents whenever this project is open. */
async function followAgain(): Promise<void> {
  await readCapture();
  const { capture } = useLive.getState();
  if (capture?.wanted && !capture.watching) await switchCapture(true).catch(() => {});
}

/** Follows the agents of this machine into the open project, or stops; remembered for the next time. */
export async function switchCapture(on: boolean): Promise<void> {
  const capture = on ? await api.capture.watch({ remember: true }) : await api.capture.stop({ remember: true });
  useLive.setState({ capture });
}
