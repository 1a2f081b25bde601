import type { ContextId, KnownFile } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Code, Fold, languageOfPath, say } from '../../parts';
import { useQuery } from '../../state';

const knownWords = {
  whole: 'Whole, as it was read or written',
  part: 'A part: the rest was never read',
  unknown: 'Its content was never seen, or a change did not fit what was',
} as const;

/** A file as the conversation knew it at a step: never read from the disk. */
export function File(props: {
  commit: ContextId;
  path: string;
  place: number;
  /** The step that touched it last: content is the same from there on. */
  changed: number;
  onGo: (place: number) => void;
}) {
  const { commit, path, changed, onGo } = props;
  const query = useQuery(`${commit} ${path} ${changed}`, (signal) => api.turn.file({ id: commit, path, step: changed }, { signal }));
  return (
    <div className="moment-content">
      <Answer query={query} what="The file cannot be shown" loading="Reading the file" lines={4}>
        {(file) => (
          <>
            <p className="muted">{knownWords[file.known]}.</p>
            <Touches file={file} onGo={onGo} />
            {file.content !== null &&
              (file.content === '' ? (
                <p className="muted">It is empty.</p>
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
        <button key={touch.step} type="button" className="link-button" title="To the step" onClick={() => onGo(touch.step - 1)}>
          {touch.how} at {say.exact(touch.step)}
        </button>
      ))}
    </p>
  );
}
