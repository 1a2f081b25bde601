import { type ShownCommit, usePlace } from '../../state';
import { handedWords } from './handed';

/** What became of a fork, or of a context that an agent was asked to continue. */
export function Handed({ project, commit }: { project: string; commit: ShownCommit }) {
  const place = usePlace(project, commit.id);
  const words = place.status === 'done' && place.data.handed ? handedWords(place.data.handed, commit.children.length === 0) : [];
  if (words.length === 0) return null;
  return (
    <section className="small" aria-label="What happened">
      {words.map((text) => (
        <p key={text} className="muted">
          {text}
        </p>
      ))}
    </section>
  );
}
