import { say } from '../../parts';
import type { RefusedHistory } from './refused';

/** The histories that cannot be imported, each once with its reason. */
export function RefusedFiles({ refused }: { refused: readonly RefusedHistory[] }) {
  if (refused.length === 0) return null;
  return (
    <details className="sessions-foot sessions-refused">
      <summary className="muted">{say.plural(refused.length, 'history', 'histories')} cannot be imported</summary>
      <ul>
        {refused.map(({ path, reason }) => (
          <li key={path}>
            <span className="mono">{path}</span> <span className="muted">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
