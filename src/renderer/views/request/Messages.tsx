import { useState } from 'react';
import { Button, Estimate, FoldedText, say } from '../../parts';
import type { BodyPart, ShownMessage } from './body';

/** Only the newest messages are drawn at first. */
const drawnAtFirst = 60;

/** The messages of a request, in order. A button loads the earlier ones. */
export function Messages({ rows }: { rows: readonly { message: ShownMessage; at: number; parts: readonly BodyPart[] }[] }) {
  const [drawn, setDrawn] = useState(drawnAtFirst);
  const from = Math.max(0, rows.length - drawn);
  return (
    <>
      {from > 0 && (
        <Button small onClick={() => setDrawn(drawn * 4)}>
          Show {say.plural(from, 'earlier message')}
        </Button>
      )}
      <ol className="wire">
        {rows.slice(from).map(({ message, at, parts }) => (
          <li key={at} className={`wire-message role-${message.role}`}>
            <header className="row small">
              <span className="muted wire-number">{at + 1}</span> <b>{message.role}</b>
              <span className="grow" />
              <Estimate className="muted" of={message.tokens} />
            </header>
            {parts.map((part, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the message does not change
              <PartView key={n} part={part} />
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}

const hueOf = { text: '', thinking: 'thinking', call: 'tool', result: 'tool', image: 'user', reminder: 'system', other: 'system' } as const;

function PartView({ part }: { part: BodyPart }) {
  const hue = hueOf[part.kind];
  return (
    <div className={`wire-part${hue ? ` kind-${hue}` : ''}`} data-kind={part.kind}>
      {part.kind !== 'text' && <span className="wire-kind">{part.title}</span>}
      {part.cached && (
        <span className="badge" title="The request asks the provider to cache everything up to here">
          cache breakpoint
        </span>
      )}
      <FoldedText text={part.text} lines={part.kind === 'result' || part.kind === 'reminder' ? 6 : 20} />
    </div>
  );
}
