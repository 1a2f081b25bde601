import { X } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, KnownFile } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Code, FileLines, Fold, IconButton, LinkButton, languageOfPath, Switch, say } from '../../parts';
import { useKeptQuery } from '../../state';
import { lastChange } from './turns';

const knownNames = {
  whole: 'Full content',
  part: 'Partial content: the agent never read the rest',
  unknown: 'Content unknown: the agent never read it, or an edit did not match it',
} as const;

interface FilePaneProps {
  readonly commit: ContextId;
  readonly path: string;
  readonly step: number;
  readonly onGo: (place: number) => void;
  readonly onClose: () => void;
}

/** A file, and what was known of it before its last change or read. */
async function readFile(id: ContextId, path: string, step: number, signal: AbortSignal) {
  const file = await api.turn.file({ id, path, step }, { signal });
  const last = lastChange(file.touches, step);
  const first = file.touches[0]?.step ?? last;
  const before = last > first ? await api.turn.file({ id, path, step: last - 1 }, { signal }) : undefined;
  return { file, before };
}

/** A file as the conversation knew it at a step: its last change, or all of it. It is never read from disk. */
export function FilePane({ commit, path, step, onGo, onClose }: FilePaneProps) {
  const [shown, setShown] = useState<'change' | 'content'>('change');
  const query = useKeptQuery(`${commit} ${path}`, `${commit} ${path} ${step}`, (signal) => readFile(commit, path, step, signal));
  return (
    <section
      className="file-pane stack shrinks"
      aria-label={`File ${path}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header className="bar gap-12">
        <b className="mono ellipsis grow" title={path}>
          {path}
        </b>
        <Switch
          label="Change or content"
          value={shown}
          onChange={setShown}
          options={{
            change: ['Last change', 'What the last change up to this step did'],
            content: ['Content', 'The file as the agent knew it at this step'],
          }}
        />
        <IconButton small icon={X} label="Close the file" keys="Esc" onClick={onClose} />
      </header>
      <div className="file-pane-body overflows">
        <Answer query={query} what="Cannot load the file" loading="Loading the file" lines={8}>
          {({ file, before }) => (
            <>
              <p className="muted">{knownNames[file.known]}.</p>
              <Touches file={file} onGo={onGo} />
              {file.content === null ? null : shown === 'change' ? (
                <Change before={before} content={file.content} />
              ) : file.content === '' ? (
                <p className="muted">The file is empty.</p>
              ) : (
                <Fold text={file.content} lines={400}>
                  {(text) => <Code text={text} language={languageOfPath(path)} />}
                </Fold>
              )}
            </>
          )}
        </Answer>
      </div>
    </section>
  );
}

function Change({ before, content }: { before: KnownFile | undefined; content: string }) {
  if (before?.content === null) return <p className="muted">What the file held before this change is unknown.</p>;
  if (before?.content === content) return <p className="muted">The agent only read the file up to this step.</p>;
  return <FileLines before={before?.content ?? ''} after={content} />;
}

const shownTouches = 12;

function Touches({ file, onGo }: { file: KnownFile; onGo: (place: number) => void }) {
  const earlier = Math.max(0, file.touches.length - shownTouches);
  return (
    <p className="moment-touches">
      {earlier > 0 && <span className="muted">{say.exact(earlier)} earlier, </span>}
      {file.touches.slice(earlier).map((touch) => (
        <LinkButton key={touch.step} title="Go to this step" onClick={() => onGo(touch.step - 1)}>
          {touch.how} in step {say.exact(touch.step)}
        </LinkButton>
      ))}
    </p>
  );
}
