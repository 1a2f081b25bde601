import { fileURLToPath } from 'node:url';
import type { WebContents } from 'electron';
import { attempt } from '../../core/base/index.js';
import { type EngineOptions, engineOptions } from '../launch/index.js';

/** What a start, a file manager or a browser names: files, projects and links. */
export type Named = EngineOptions['startup'];

/** A link of Stemma. The engine reads it: the shell only passes it on. */
const isLink = (word: string): boolean => word.startsWith('stemma:');

/** What words of a command line name. File managers may pass files as addresses. Switches of Chromium are skipped. */
export function namedBy(words: readonly string[], cwd: string = process.cwd()): Named {
  const named = words.filter((word) => !word.startsWith('-'));
  const paths = named.filter((word) => !isLink(word)).flatMap((word) => readPath(word) ?? []);
  return { ...engineOptions(paths, cwd).startup, link: named.find(isLink) ?? null };
}

/** Undefined for an address of another machine. */
const readPath = (word: string): string | undefined => (word.startsWith('file:') ? attempt(() => fileURLToPath(word)) : word);

/** Whether a start names anything. */
export const namesAny = ({ paths, project, link }: Named): boolean => paths.length > 0 || project !== null || Boolean(link);

/** What another start sent with the lock of the app. It comes from a process of the same user, but nothing relies on its form. */
export function namedIn(value: unknown): Named {
  const { paths, project, link } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const texts = Array.isArray(paths) ? paths.filter((path): path is string => typeof path === 'string') : [];
  return { paths: texts, project: typeof project === 'string' ? project : null, link: typeof link === 'string' ? link : null };
}

/** Whether a page has loaded, so that it hears commands. */
export const hasLoaded = (contents: WebContents): boolean => !contents.isLoading() && !contents.isCrashed();
