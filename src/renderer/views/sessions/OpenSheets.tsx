import { FileInput, FolderPlus, FolderSearch } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { SessionRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, type Icon, Input, namesIn, reloadAndSay, Sheet, sending, TaskProblem } from '../../parts';
import { choosePaths, dismiss, isDesktop, showProject, useTask } from '../../state';
import { importPaths } from './act';

/** Creates a project in a typed folder and opens it. */
export const NewProjectSheet = () => (
  <LineSheet
    title="New project"
    label="Folder of the new project"
    placeholder="/path/to/Name"
    action="Create"
    icon={FolderPlus}
    choose={() => choosePaths('save', 'My history.stemma')}
    onLine={async (path) => {
      const dir = path.replace(/[\\/]+$/, '');
      const info = await api.project.create({ dir: dir.endsWith('.stemma') ? dir : `${dir}.stemma` });
      dismiss();
      showProject(info.dir);
    }}
  >
    A project is a folder that contains imported histories. Its name ends in .stemma.
  </LineSheet>
);

/** Opens or imports a typed path: a session file, a folder of sessions, or a project. */
export const OpenPathSheet = () => (
  <LineSheet
    title="Open or import"
    label="Path to import or open"
    placeholder="/path/to/session.jsonl"
    action="Open"
    icon={FileInput}
    choose={() => choosePaths('open')}
    onLine={async (path) => {
      dismiss();
      if (/\.stemma[\\/]?$/.test(path)) showProject(path.replace(/[\\/]+$/, ''));
      else await importPaths([path], true);
    }}
  >
    A session file, a folder of sessions, or a .stemma project. You can also drop files anywhere in the window.
  </LineSheet>
);

interface LineSheetProps {
  readonly title: string;
  readonly label: string;
  readonly start?: string;
  readonly placeholder?: string;
  readonly action: string;
  readonly icon?: Icon;
  /** The native dialog of the desktop app, for a path. */
  readonly choose?: () => Promise<readonly string[]>;
  readonly onLine: (text: string) => Promise<void>;
  readonly children: ReactNode;
}

/** A sheet that asks for one line: a path, which is required, or another text. */
function LineSheet({ title, label, start = '', placeholder, action, icon, choose, onLine, children }: LineSheetProps) {
  const [text, setText] = useState(start);
  const [sent, send] = useTask<void>();
  return (
    <Sheet title={title} onClose={dismiss}>
      <form className="path-form gap-6" onSubmit={sending(() => send(() => onLine(text.trim())))}>
        <Input className={choose ? 'grow mono' : 'grow'} placeholder={placeholder} label={label} value={text} onChange={setText} />
        {choose && isDesktop && (
          <Button icon={FolderSearch} label="Choose…" onClick={() => void choose().then(([chosen]) => chosen !== undefined && setText(chosen))} />
        )}
        <Button type="submit" look="primary" icon={icon} label={action} disabled={choose !== undefined && !text.trim()} />
      </form>
      <p className="muted">{children}</p>
      <TaskProblem task={sent} />
    </Sheet>
  );
}

const sheets = {
  title: { heading: 'Rename session', label: 'Title', hint: 'Leave it empty to show the title of the agent again.', said: 'Renamed the session' },
  tags: { heading: 'Tags', label: 'Tags', hint: 'Separate tags by commas.', said: 'Changed the tags' },
} as const;

/** Changes the title or the tags of a session. */
export function SessionSheet({ session, what }: { session: SessionRow; what: keyof typeof sheets }) {
  const { heading, label, hint, said } = sheets[what];
  const { sessionId, title, tags } = session;
  const set = (next: Pick<SessionRow, 'tags'> & { title: string | null }) =>
    what === 'title' ? api.session.rename({ sessionId, title: next.title }) : api.session.tag({ sessionId, tags: next.tags });
  return (
    <LineSheet
      title={heading}
      label={label}
      start={what === 'title' ? title : tags.join(', ')}
      action="Save"
      onLine={async (text) => {
        await set({ title: text || null, tags: namesIn(text) });
        dismiss();
        await reloadAndSay(said, () => set(session));
      }}
    >
      {hint}
    </LineSheet>
  );
}
