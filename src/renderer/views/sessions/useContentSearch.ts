import { useEffect, useState } from 'react';
import { api } from '../../client';
import { useOpenDir, useProject } from '../../state';
import { fromWords } from './rows';

/** Text shorter than this is searched only in titles. */
const minLetters = 3;
const restMs = 250;
const maxHits = 300;

/** The passages that contain the text, by session id, or by path for a history that is not imported. */
export interface ContentHits {
  readonly hits: ReadonlyMap<string, string>;
  readonly searching: boolean;
  /** The number of histories that are not imported and were not read, because there are too many. */
  readonly unread: number;
  /** The number of commits of the project that are not indexed yet, so the search does not find them. */
  readonly pending: number;
  /** True if more entries match than were requested, so some sessions are missing. */
  readonly isCut: boolean;
}

const none: ContentHits = { hits: new Map(), searching: false, unread: 0, pending: 0, isCut: false };

/** Searches the contents of the project's sessions, then those of histories that are not imported yet. */
export function useContentSearch(text: string): ContentHits {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  const [found, setFound] = useState<ContentHits>(none);
  const words = text.trim();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another project or new commits change the answer
  useEffect(() => {
    if (words.length < minLetters || !/[\p{L}\p{N}]/u.test(words)) return setFound(none);
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(async () => {
      setFound({ ...none, searching: true });
      const hits = new Map<string, string>();
      const imported = dir ? await api.search.query({ text: words, limit: maxHits }, { signal }).catch(() => undefined) : undefined;
      for (const { sessionId, snippet } of imported?.hits ?? [])
        if (sessionId && !hits.has(sessionId)) hits.set(sessionId, fromWords(snippet, words));
      if (signal.aborted) return;
      const inProject = { pending: imported?.pending ?? 0, isCut: (imported?.total ?? 0) > maxHits };
      setFound({ hits: new Map(hits), searching: true, unread: 0, ...inProject });
      const outside = await api.library.search({ text: words }, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      for (const { path, snippet } of outside?.hits ?? []) hits.set(path, fromWords(snippet, words));
      setFound({ hits: new Map(hits), searching: false, unread: outside?.unread ?? 0, ...inProject });
    }, restMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [words, dir, revision]);
  return found;
}
