import { attempt } from '../base/index.js';
import { hubPlaceOf } from './hub-place.js';
import { contextId, count, flag, procedure, timestamp, webAddress } from './scalars.js';
import * as z from './z.js';

/** What a `stemma:` link leads to. `project` is the id of a project, never its place on the disk. */
export type DeepLink =
  | { readonly kind: 'commit'; readonly commit: z.output<typeof contextId>; readonly project?: string | undefined }
  | { readonly kind: 'session'; readonly session: string; readonly project?: string | undefined }
  | { readonly kind: 'share'; readonly share: string };

const maxLink = 2_000;
const projectId = /^[0-9A-Za-z-]{1,100}$/;

/**
 * Reads `stemma://commit/ctx-3f9a12c4?project=ID`, `stemma://session/ID?project=ID` or `stemma://share?link=ADDRESS`. Undefined for anything else: a
 * link comes from anybody, so it has no other part, names no place on the disk, and shares come over HTTPS only.
 */
export function deepLinkOf(text: string): DeepLink | undefined {
  const [, kind, id, query] = /^stemma:\/\/(commit|session|share)\/?([^/?#]*)(?:\?([^#]*))?$/.exec(text) ?? [];
  if (kind === undefined || id === undefined || text.length > maxLink) return undefined;
  const params = new URLSearchParams(query);
  const [name] = params.keys();
  const value = name === undefined ? undefined : (params.get(name) ?? undefined);
  if (params.size > 1 || (name !== undefined && name !== (kind === 'share' ? 'link' : 'project'))) return undefined;
  if (kind === 'share') return id === '' && value?.startsWith('https://') && hubPlaceOf(value)?.token ? { kind, share: value } : undefined;
  if (value !== undefined && !projectId.test(value)) return undefined;
  if (kind === 'commit') {
    const commit = contextId.safeParse(id);
    return commit.success ? { kind, commit: commit.data, project: value } : undefined;
  }
  const session = attempt(() => decodeURIComponent(id));
  return session !== undefined && /^[\x21-\x7e]{1,200}$/.test(session) ? { kind: 'session', session, project: value } : undefined;
}

/** The link to a commit of a project. It works on every machine that has the project. */
export const commitLink = (commit: string, project: string): string => `stemma://commit/${commit}?${new URLSearchParams({ project })}`;

const updateSettings = z.object({
  /** Whether the app looks for updates by itself. */
  on: z.boolean(),
  /** The address of the feed. Null if no feed is set. */
  feed: webAddress.nullable(),
});
export type UpdateSettings = z.output<typeof updateSettings>;

const updateCheck = z.object({
  /** `current`: this is the newest version. `ready`: a new version is downloaded and is installed when the app ends. */
  status: z.enum(['current', 'ready', 'refused', 'impossible', 'failed']),
  /** The version on the feed, if the feed was read. */
  version: z.string().nullable(),
  /** What happened, as a sentence for a person. */
  message: z.string(),
});
export type UpdateCheck = z.output<typeof updateCheck>;

const diagnostics = z.object({
  version: z.string(),
  /** The versions of Node, SQLite's driver and, in the desktop app, Electron and Chromium. */
  versions: z.record(z.string(), z.string()),
  system: z.object({ platform: z.string(), release: z.string(), architecture: z.string(), memoryBytes: count }),
  /** How this copy was installed: `checkout`, `npm`, `AppImage`, `deb` and so on. */
  installed: z.string(),
  at: timestamp,
  /** The last lines of the application's log. It names events and codes, and no content, titles or paths (D11). */
  log: z.array(z.string()),
  /** What each thread keeps in memory of the open projects, its limit, and what it keeps by kind, in bytes. All limits together are at most 300 MB. */
  caches: z.array(z.object({ name: z.string(), bytes: count, limit: count, kinds: z.record(z.string(), count) })),
});
export type Diagnostics = z.output<typeof diagnostics>;

/** Links, updates and diagnostics of the program itself. */
export const desktopContract = {
  link: procedure(
    'Finds what a `stemma:` link leads to: a commit or a session of a recent, trusted project, or a share of a hub. It opens no project, reaches no network and changes nothing. Links have the form `stemma://commit/ctx-…?project=ID`, `stemma://session/ID?project=ID` or `stemma://share?link=ADDRESS`. Without a project, the open one is meant.',
    { url: z.string().min(1).max(maxLink).describe('The link.') },
  ).returns(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('commit'), dir: z.string(), commit: contextId }),
      z.object({ kind: z.literal('session'), dir: z.string(), session: z.string() }),
      z.object({ kind: z.literal('share'), share: webAddress }),
    ]),
  ),
  diagnostics: procedure('Returns facts about this installation for a report of a problem, without content, titles or paths.').returns(diagnostics),
  updates: procedure('Returns whether the app looks for updates, and where.').returns(updateSettings),
  setUpdates: procedure('Turns updates on or off and sets the feed. Updates are off until a person turns them on.', {
    on: flag('Whether the app looks for updates by itself, at its start and once a day.'),
    feed: z
      .url({ protocol: /^https$/, error: 'a feed begins with https://, such as https://updates.example/stemma' })
      .max(maxLink)
      .nullable()
      .optional()
      .describe('The address of the feed, over HTTPS. Null removes it.'),
  }).returns(updateSettings),
  checkForUpdates: procedure(
    'Reads the feed, checks its signature, downloads a newer version, and says what happened. Only the desktop app updates itself: elsewhere, the call fails with UNAVAILABLE.',
  ).returns(updateCheck),
};
