import { useState } from 'react';
import type { SessionRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, describeProblem, Input, notifyProblem, ProblemLine, Sheet, sending } from '../../parts';
import { dismiss, notify, refreshProject } from '../../state';

const sheets = {
  title: { heading: 'Rename session', label: 'Title', hint: 'Leave it empty to show the title of the agent again.' },
  tags: { heading: 'Tags', label: 'Tags', hint: 'Separate tags by commas.' },
} as const;

/** Changes the title or the tags of a session. */
export function SessionSheet({ session, what }: { session: SessionRow; what: keyof typeof sheets }) {
  const { heading, label, hint } = sheets[what];
  const { sessionId } = session;
  const [text, setText] = useState(what === 'title' ? session.title : session.tags.join(', '));
  const [problem, setProblem] = useState<string>();
  const save = async (): Promise<void> => {
    const tags = text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    try {
      await (what === 'title' ? api.session.rename({ sessionId, title: text.trim() || null }) : api.session.tag({ sessionId, tags }));
      dismiss();
      await refreshProject();
      const back =
        what === 'title' ? () => api.session.rename({ sessionId, title: session.title }) : () => api.session.tag({ sessionId, tags: session.tags });
      notify(what === 'title' ? 'Renamed the session' : 'Changed the tags', {
        name: 'Undo',
        act: () => void back().then(refreshProject, notifyProblem),
      });
    } catch (error) {
      setProblem(describeProblem(error).message);
    }
  };
  return (
    <Sheet title={heading} onClose={dismiss}>
      <form className="path-form" onSubmit={sending(() => save())}>
        <Input className="grow" label={label} value={text} onChange={setText} />
        <Button type="submit" look="primary">
          Save
        </Button>
      </form>
      <p className="muted">{hint}</p>
      {problem && <ProblemLine>{problem}</ProblemLine>}
    </Sheet>
  );
}
