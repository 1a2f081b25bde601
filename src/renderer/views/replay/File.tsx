import type { ContextId, KnownFile } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Code, Fold, languageOfPath, say } from '../../parts';
import { useQuery } from '../../state';

const knownNames = {
  whole: 'Full content',
  part: 'Partial content: the agent never read the rest',
  unknown: 'Content unknown: the agent never read it, or an edit did not match it',
} as const;

/** A file as the conversation knew it at a step. It is never read from disk. */
export function File(props: {
  commit: ContextId;
  path: string;
  /** The last step that read or changed the file. */
  changed: number;
  onGo: (place: number) => void;
}) {
  const { commit, path, changed, onGo } = props;
  const query = useQuery(`${commit} ${path} ${changed}`, (signal) => api.turn.file({ id: commit, path, step: changed }, { signal }));
  return (
    <div className="moment-content">
      <Answer query={query} what="Cannot load the file" loading="Loading the file" lines={4}>
        {(file) => (
          <>
            <p className="muted">{knownNames[file.known]}.</p>
            <Touches file={file} onGo={onGo} />
            {file.content !== null &&
              (file.content === '' ? (
                <p className="muted">The file is empty.</p>
              ) : (
                <Fold text={file.content} lines={40}>
                  {(shown) => <Code text={shown} language={languageOfPath(path)} />}
                </Fold>
              ))}
          </>
        )}
      </Answer>
    </div>
  );
}

const shownTouches = 12;

function Touches({ file, onGo }: { file: KnownFile; onGo: (place: number) => void }) {
  const earlier = Math.max(0, file.touches.length - shownTouches);
  return (
    <p className="moment-touches">
      {earlier > 0 && <span className="muted">{say.exact(earlier)} earlier, </span>}
      {file.touches.slice(earlier).map((touch) => (
        <button key={touch.step} type="button" className="link-button" title="Go to this step" onClick={() => onGo(touch.step - 1)}>
          {touch.how} in step {say.exact(touch.step)}
        </button>
      ))}
    </p>
  );
}
