import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { Fold, say } from '../../parts';
import { go } from '../../state';
import { type Compared, compareMessages } from './compare';
import { layerFamily, layerName } from './layers';
import type { Preview } from './trial';

/** The messages in order. Messages that a trial adds or removes are marked. */
export function ComposedMessages({ base, now }: { base: Preview; now: Preview }) {
  const rows = useMemo(() => compareMessages(base.messages, now.messages), [base, now]);
  const differs = rows.filter((row) => row.change !== 'same').length;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => 96, overscan: 6 });
  // The first change scrolls into view.
  const first = rows.findIndex((row) => row.change !== 'same');
  useEffect(() => {
    if (first >= 0) virtual.scrollToIndex(first, { align: 'center' });
  }, [first, virtual]);
  const items = virtual.getVirtualItems();
  return (
    <div className="compose-messages">
      <h3 className="compose-title">
        Messages{' '}
        <span className="muted">
          {say.plural(now.messages.length, 'message')} · {say.tokens(now.messages.reduce((sum, message) => sum + message.tokens, 0))}
        </span>
        {differs > 0 && (
          <span className="muted">
            {' '}
            · compared with the recording: <b className="new">+{rows.filter((row) => row.change === 'new').length}</b>{' '}
            <b className="gone">−{rows.filter((row) => row.change === 'gone').length}</b>
          </span>
        )}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard */}
      <section ref={scroller} className="compose-scroll" aria-label="Messages" tabIndex={0}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          <ol style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map((item) => {
              const row = rows[item.index];
              return (
                row && (
                  <li
                    key={item.key}
                    data-index={item.index}
                    ref={virtual.measureElement}
                    className={`composed ${row.change} kind-${layerFamily(row.message.layer)}`}
                  >
                    <Message row={row} entry={row.place === undefined ? undefined : now.messageOrigins[row.place]?.[0]} />
                  </li>
                )
              );
            })}
          </ol>
        </div>
      </section>
    </div>
  );
}

const roleNames = { system: 'System', human: 'User', ai: 'Assistant', tool: 'Tool' } as const;
const changeSigns = { same: '', new: '+', gone: '−' } as const;
const changeNames = { same: '', new: 'New: ', gone: 'Removed: ' } as const;

function Message({ row, entry }: { row: Compared; entry: Preview['messageOrigins'][number][number] | undefined }) {
  const { message, change } = row;
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as { name?: unknown; args?: unknown }[]) : [];
  const isEmpty = message.content.trim() === '' && calls.length === 0;
  return (
    <>
      <header className="composed-head">
        <span className="composed-sign" aria-hidden>
          {changeSigns[change]}
        </span>
        <span className="composed-role">
          <span className="unseen">{changeNames[change]}</span>
          {roleNames[message.role]}
          {message.name && <span className="muted"> {message.name}</span>}
        </span>
        <span className="badge">{layerName(message.layer)}</span>
        <span className="grow" />
        {entry && (
          <button type="button" className="link-button" onClick={() => go({ view: 'context', entry })}>
            Show in Context
          </button>
        )}
        {!isEmpty && <span className="muted">{say.tokens(message.tokens)}</span>}
      </header>
      {isEmpty ? (
        <p className="muted">{message.layer === 'system_prompt' ? 'The agent did not record its system prompt' : 'Empty'}</p>
      ) : (
        message.content.trim() !== '' && (
          <Fold text={message.content} lines={6}>
            {(shown) => <pre className="verbatim">{shown}</pre>}
          </Fold>
        )
      )}
      {calls.map((call, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the message does not change
        <pre key={n} className="verbatim composed-call">
          <b>{String(call.name ?? 'tool')}</b> {say.firstLine(JSON.stringify(call.args ?? {}), 400)}
        </pre>
      ))}
    </>
  );
}
