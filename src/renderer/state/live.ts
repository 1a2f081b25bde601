import { create } from 'zustand';
import type { CaptureStatus, Checkpointing, Commit, ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { coalesced } from './coalesced';
import { go } from './navigation';
import { refreshProject, useProject } from './project';
import { useEvery } from './query';
import { ticketsChanged } from './tickets';
import { notify } from './ui';

/** New commits of the open project since the window opened it, and the state of live capture. */
export const useLive = create<{
  /** The latest child of each commit. Following the children leads to the current end of a conversation. */
  readonly next: ReadonlyMap<ContextId, ContextId>;
  readonly capture: CaptureStatus | undefined;
  readonly arrived: readonly Commit[];
}>(() => ({ next: new Map(), capture: undefined, arrived: [] }));

/** The number of commits that `next` keeps. For older commits, only the chain shows the successors. */
const remembered = 5_000;

/** Milliseconds between two loads of the lists while changes keep coming. */
const restMs = 250;

let listening: AbortController | undefined;

/** Hears every change of the project, whichever process made it, until the next call or a broken connection. Lists reload in place. */
export async function listen(): Promise<void> {
  listening?.abort();
  const { state } = useProject.getState();
  useLive.setState({ next: new Map(), capture: undefined, arrived: [] });
  if (state.phase !== 'open') return;
  const { dir, info } = state;
  const own = new AbortController();
  listening = own;
  const { signal } = own;
  const reload = coalesced(() => Promise.all([refreshProject(), readCapture()]), { restMs: () => restMs, signal, ready: whenVisible });
  try {
    const changes = await api.project.changes({ since: info.stand }, { signal });
    signal.addEventListener('abort', () => void changes.return?.(undefined as never).catch(() => {}), { once: true });
    void followAgain();
    for await (const { commits, changed } of changes) {
      const now = useProject.getState().state;
      if (signal.aborted || now.phase !== 'open' || now.dir !== dir) return;
      if (changed.length === 0) continue;
      noteCommits(commits);
      if (changed.includes('tickets')) ticketsChanged();
      if (changed.some((area) => area !== 'tickets')) reload();
    }
  } catch {
    // The connection broke. Listening starts again when the next connection opens the project.
  }
}

function whenVisible(signal?: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !signal?.aborted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal?.addEventListener('abort', look, { once: true });
  });
}

function noteCommits(commits: readonly Commit[]): void {
  if (commits.length === 0) return;
  const next = new Map(useLive.getState().next);
  // A fork that is made here is no continuation of the commit that it leaves.
  for (const { id, parent, checkpoint } of commits) if (parent !== null && checkpoint !== 'explicit') next.set(parent, id);
  for (const oldest of [...next.keys()].slice(0, -remembered)) next.delete(oldest);
  useLive.setState({ next, arrived: commits });
}

/** The current end of a commit's conversation, and the number of commits until it; undefined if no commit followed. */
export function newest(next: ReadonlyMap<ContextId, ContextId>, from: ContextId): { readonly id: ContextId; readonly commits: number } | undefined {
  let id = from;
  let commits = 0;
  for (let later = next.get(id); later !== undefined; later = next.get(id)) {
    id = later;
    commits++;
  }
  return commits === 0 ? undefined : { id, commits };
}

/** Loads the state of live capture. */
export async function readCapture(): Promise<void> {
  const capture = await api.capture.status({}).catch(() => undefined);
  if (capture) useLive.setState({ capture });
}

/** Milliseconds between two loads of the state of live sessions: a running turn makes no commit, and so reports no change. */
const lookMs = 700;

/** Keeps the state of live sessions up to date while a view shows it. */
export function useLiveSessions(): void {
  const follows = useLive(({ capture }) => capture !== undefined && (capture.watching || capture.files.length > 0));
  useEvery(lookMs, follows, readCapture);
}

/** Starts live capture if the person chose it for this project. */
async function followAgain(): Promise<void> {
  await readCapture();
  const { capture } = useLive.getState();
  if (capture?.wanted && !capture.watching) await switchCapture(true).catch(() => {});
}

/** Starts or stops live capture into the open project, and remembers the choice for this project. */
export async function switchCapture(on: boolean): Promise<void> {
  const capture = on ? await api.capture.watch({ remember: true, checkpoints: chosenCheckpoints() }) : await api.capture.stop({ remember: true });
  useLive.setState({ capture });
}

const checkpointsKey = 'stemma.checkpoints';

/** When live capture takes a checkpoint, as the person chose it in this window. */
export function chosenCheckpoints(): Checkpointing {
  const [at, events] = (localStorage.getItem(checkpointsKey) ?? '').split(' ');
  return { at: at === 'assistant' || at === 'turns' ? at : 'turn', events: events === 'events' };
}

/** Changes when live capture takes a checkpoint, and remembers it. */
export async function chooseCheckpoints({ at, events }: Checkpointing): Promise<void> {
  localStorage.setItem(checkpointsKey, `${at}${events ? ' events' : ''}`);
  await switchCapture(true);
}

/** Stores the turn in progress of a followed session up to now. */
export async function checkpointNow(path: string): Promise<void> {
  const { tip, commits } = await api.capture.checkpoint({ path, what: 'now' });
  notify(
    commits === 0 ? 'Everything is stored already' : 'Stored the turn in progress',
    tip && { name: 'Show', act: () => go({ view: 'chain', commit: tip }) },
  );
  await Promise.all([refreshProject(), readCapture()]);
}
