import { ChevronDown } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { SessionRow } from '../../../core/contract/index.js';
import { CardButton, repositoryNames, SearchField, say } from '../../parts';
import { go, useKept, useOpenDir, useSessionList } from '../../state';

/** More sessions are found by typing. */
const mostShown = 100;

/** Chooses the session whose commits are listed, by its title as everywhere, with a search. */
export function SessionChoice({ chosen }: { chosen: string | undefined }) {
  const dir = useOpenDir();
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState('');
  const newest = useSessionList(dir, { isWhole: false });
  const isOlder = newest.status === 'done' && !newest.data.sessions.some(({ sessionId }) => sessionId === chosen);
  const query = useKept(useSessionList(dir, { isWhole: open || (chosen !== undefined && isOlder) }), dir);
  const sessions = query.data?.sessions ?? none;
  const found = useMemo(() => matching(sessions, words), [sessions, words]);
  const names = useMemo(() => repositoryNames(sessions.flatMap(({ repository }) => repository ?? [])), [sessions]);
  if (sessions.length < 2 && !chosen) return null;
  const current = sessions.find(({ sessionId }) => sessionId === chosen);
  // An id means nothing to people, so it is not shown while the titles load.
  const name = current ? say.firstLine(current.title, 60) : chosen === undefined ? 'All sessions' : query.data?.isWhole ? chosen : '…';
  const choose = (session: string | undefined): void => {
    setOpen(false);
    setWords('');
    if (session !== chosen) go({ session, commit: undefined, against: undefined });
  };
  return (
    <CardButton
      label="Sessions"
      open={open}
      onOpenChange={setOpen}
      align="start"
      button={
        <button type="button" className="field chain-sessions row gap-4" aria-label={`Session: ${name}`} title={current?.title ?? chosen}>
          <span className="ellipsis grow">{name}</span>
          <ChevronDown size={12} aria-hidden />
        </button>
      }
    >
      <SearchField
        className="wide"
        label="Find a session"
        value={words}
        onChange={setWords}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && found[0]) choose(found[0].sessionId);
        }}
      />
      <ul className="session-choice" aria-label="Sessions">
        <li>
          <button type="button" className="row selectable wide" aria-current={chosen === undefined} onClick={() => choose(undefined)}>
            All sessions
          </button>
        </li>
        {found.slice(0, mostShown).map(({ sessionId, title, repository, lastAt }) => (
          <li key={sessionId}>
            <button type="button" className="row selectable wide" aria-current={sessionId === chosen} title={title} onClick={() => choose(sessionId)}>
              <span className="ellipsis grow">{say.firstLine(title, 90)}</span>
              <span className="muted small rigid">{[repository && names.get(repository), say.when(lastAt)].filter(Boolean).join(' · ')}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > mostShown && <p className="muted small">{say.exact(found.length - mostShown)} more: type to narrow the list.</p>}
      {found.length === 0 && query.data?.isWhole && <p className="muted">No session has these words.</p>}
    </CardButton>
  );
}

const none: readonly SessionRow[] = [];

/** The sessions whose title, repository or id contain all words. Subagents are chosen in the chain of their session. */
function matching(sessions: readonly SessionRow[], words: string): readonly SessionRow[] {
  const needles = words.toLowerCase().split(/\s+/).filter(Boolean);
  return sessions.filter(
    ({ title, repository, sessionId, parentSessionId }) =>
      parentSessionId === undefined && needles.every((needle) => `${title}\n${repository ?? ''}\n${sessionId}`.toLowerCase().includes(needle)),
  );
}
