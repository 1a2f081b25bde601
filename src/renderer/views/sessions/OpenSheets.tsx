import { FileInput, FolderPlus, FolderSearch } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { SessionRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, describeProblem, type Icon, Input, notifyProblem, ProblemLine, Sheet, sending } from '../../parts';
import { choosePaths, dismiss, isDesktop, notify, refreshProject } from '../../state';
import { importPaths, showProject } from './act';

/** Creates a project in a typed folder and opens it. */
export const NewProjectSheet = () => (
  <PathSheet
    title="New project"
    label="Folder of the new project"
    placeholder="/path/to/Name"
    action="Create"
    icon={FolderPlus}
    choose={() => choosePaths('save', 'My history.stemma')}
    onPath={async (path) => {
      const dir = path.replace(/[\\/]+$/, '');
      const info = await api.project.create({ dir: dir.endsWith('.stemma') ? dir : `${dir}.stemma` });
      dismiss();
      showProject(info.dir);
    }}
  >
    A project is a folder that contains imported histories. Its name ends in .stemma.
  </PathSheet>
);

/** Opens or imports a typed path: a session file, a folder of sessions, or a project. */
export const OpenPathSheet = () => (
  <PathSheet
    title="Open or import"
    label="Path to import or open"
    placeholder="/path/to/session.jsonl"
    action="Open"
    icon={FileInput}
    choose={() => choosePaths('open')}
    onPath={async (path) => {
      dismiss();
      if (/\.stemma[\\/]?$/.test(path)) showProject(path.replace(/[\\/]+$/, ''));
      else await importPaths([path], true);
    }}
  >
    A session file, a folder of sessions, or a .stemma project. You can also drop files anywhere in the window.
  </PathSheet>
);

interface PathSheetProps {
  readonly title: string;
  readonly label: string;
  readonly placeholder: string;
  readonly action: string;
  readonly icon: Icon;
  /** The native dialog of the desktop app. */
  readonly choose: () => Promise<readonly string[]>;
  readonly onPath: (path: string) => Promise<void>;
  readonly children: ReactNode;
}

function PathSheet({ title, label, placeholder, action, icon, choose, onPath, children }: PathSheetProps) {
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState<string>();
  return (
    <Sheet title={title} onClose={dismiss}>
      <form
        className="path-form gap-6"
        onSubmit={sending(() => onPath(path.trim()).catch((error: unknown) => setProblem(describeProblem(error).message)))}
      >
        <Input className="grow mono" placeholder={placeholder} label={label} value={path} onChange={setPath} />
        {isDesktop && (
          <Button icon={FolderSearch} onClick={() => void choose().then(([chosen]) => chosen !== undefined && setPath(chosen))}>
            Choose…
          </Button>
        )}
        <Button type="submit" look="primary" icon={icon} disabled={!path.trim()}>
          {action}
        </Button>
      </form>
      <p className="muted">{children}</p>
      {problem && <ProblemLine>{problem}</ProblemLine>}
    </Sheet>
  );
}

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
      <form className="path-form gap-6" onSubmit={sending(() => save())}>
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
