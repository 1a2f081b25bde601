import type { ReactNode } from 'react';
import type { OutputOf } from '../../core/contract/index.js';
import { FoldedText } from './Fold';

export type ShownCall = Pick<OutputOf<'ticket.preview'>, 'messages' | 'layers' | 'tools' | 'dropped'>;

interface SentMessagesProps {
  readonly label: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** The layer of each message, if they have layers. */
  readonly layers?: ShownCall['layers'];
  readonly children?: ReactNode;
}

/** Messages as they are sent, each under its role. */
export const SentMessages = ({ label, messages, layers, children }: SentMessagesProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
  <section className="overflows" aria-label={label} tabIndex={0}>
    <ol>
      {messages.map((message, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
        <li key={n}>
          <h3 className="reader-block">
            {message.role} {layers && <span className="muted">{layers[n] === 'checkpoint_messages' ? '' : layers[n]}</span>}
          </h3>
          <FoldedText text={message.content} lines={12} look="reader-line" />
        </li>
      ))}
    </ol>
    {children}
  </section>
);

/** A call: its messages with their layers, its tools, and what is not sent. */
export function SentCall({ call: { messages, layers, tools, dropped } }: { call: ShownCall }) {
  const names = (tools ?? []).map(({ name }) => String(name));
  return (
    <SentMessages label="Messages as sent" messages={messages} layers={layers}>
      <h3 className="reader-block">Tools</h3>
      <p className="reader-line">{names.length === 0 ? 'None' : names.join(', ')}</p>
      {dropped.map(({ layer, reason }) => (
        <p key={layer} className="reader-line muted">
          {layer} is not sent: {reason}.
        </p>
      ))}
    </SentMessages>
  );
}
