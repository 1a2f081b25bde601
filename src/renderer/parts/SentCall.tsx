import type { OutputOf } from '../../core/contract/index.js';
import { Fold } from './Fold';

export type ShownCall = Pick<OutputOf<'ticket.preview'>, 'messages' | 'layers' | 'tools' | 'dropped'>;

/** A call: its messages with their layers, its tools, and what is not sent. */
export function SentCall({ call: { messages, layers, tools, dropped } }: { call: ShownCall }) {
  const names = (tools ?? []).map(({ name }) => String(name));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
    <section className="overflows" aria-label="Messages as sent" tabIndex={0}>
      <ol>
        {messages.map((message, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
          <li key={n}>
            <h3 className="reader-block">
              {message.role} <span className="muted">{layers[n] === 'checkpoint_messages' ? '' : layers[n]}</span>
            </h3>
            <Fold text={message.content} lines={12}>
              {(shown) => <pre className="reader-line">{shown}</pre>}
            </Fold>
          </li>
        ))}
      </ol>
      <h3 className="reader-block">Tools</h3>
      <p className="reader-line">{names.length === 0 ? 'None' : names.join(', ')}</p>
      {dropped.map(({ layer, reason }) => (
        <p key={layer} className="reader-line muted">
          {layer} is not sent: {reason}.
        </p>
      ))}
    </section>
  );
}
