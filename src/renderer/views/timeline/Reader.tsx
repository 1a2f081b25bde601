import { useEffect, useMemo, useRef, useState } from 'react';
import type { Rendered, TimelineBlockName, TimelineInput } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Estimate, Fold, MeasuredRows, SentCall, SentMessages, type ShownCall, Switch, useVirtualRows } from '../../parts';
import { copy, useQuery } from '../../state';
import { divideLines } from './lines';

const blockNames: Readonly<Record<TimelineBlockName, string>> = {
  identity: 'Identity',
  trigger: 'Trigger',
  activeSpace: 'Active space',
  history: 'Space history',
  spaces: 'Your spaces',
  agentContext: 'Goals, memories, plans, runs',
  instructions: 'Instructions',
};

interface ReaderProps {
  readonly rendered: Rendered;
  readonly input: TimelineInput;
  /** Set for an agent in a space. Without it, the messages are those with roles. */
  readonly call?: ShownCall | undefined;
  readonly pointed: string | undefined;
  readonly onPoint: (messageId: string | undefined) => void;
}

/** The exact text that an agent reads, block by block. */
export function Reader({ rendered, input, call, pointed, onPoint }: ReaderProps) {
  const [form, setForm] = useState<'text' | 'messages'>('text');
  const tokens = rendered.blocks.reduce((sum, block) => sum + block.tokens, 0);
  return (
    <>
      <div className="reader-tools gap-12 rigid line-below row small">
        <Switch
          label="Form"
          value={form}
          onChange={setForm}
          options={{
            text: ['Text', 'The system prompt, including the history'],
            messages: ['Messages', call ? 'The messages and tools of the next call, as they are sent' : 'The same as messages with roles'],
          }}
        />
        <span className="muted ellipsis grow">
          <Estimate of={tokens} />
        </span>
        <Button small label="Copy" onClick={() => void copy(rendered.system, 'Copied the text')} />
      </div>
      {form === 'text' ? (
        <AsText rendered={rendered} pointed={pointed} onPoint={onPoint} />
      ) : call ? (
        <SentCall call={call} />
      ) : (
        <AsMessages input={input} />
      )}
    </>
  );
}

function AsText({ rendered, pointed, onPoint }: Omit<ReaderProps, 'input'>) {
  // The first row of a block shows the block's name and tokens.
  const rows = useMemo(
    () => rendered.blocks.flatMap((block) => divideLines(block).map((line, n) => ({ ...line, block: n === 0 ? block : undefined }))),
    [rendered],
  );
  const { scroller, virtual } = useVirtualRows(rows.length, (n) => (rows[n]?.messageId ? 40 : 110), { overscan: 8 });
  const fromOutside = useRef(true);
  useEffect(() => {
    const place = pointed && fromOutside.current ? rows.findIndex((row) => row.messageId === pointed) : -1;
    if (place >= 0) virtual.scrollToIndex(place, { align: 'auto' });
    fromOutside.current = true;
  }, [pointed, rows, virtual]);
  const point = (id: string | undefined): void => {
    fromOutside.current = false;
    onPoint(id);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling text must be reachable by keyboard
    <section ref={scroller} className="overflows" aria-label="Timeline text" tabIndex={0}>
      <MeasuredRows virtual={virtual}>
        {({ index }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <>
              {row.block && (
                <h3 className="reader-block">
                  {blockNames[row.block.name]}{' '}
                  <span className="muted">
                    <Estimate of={row.block.tokens} />
                  </span>
                </h3>
              )}
              {row.messageId === undefined ? (
                <pre className="reader-line">{row.text}</pre>
              ) : (
                <div
                  className="reader-message"
                  data-pointed={row.messageId === pointed}
                  onPointerEnter={() => point(row.messageId)}
                  onPointerLeave={() => point(undefined)}
                >
                  <Line text={row.text} />
                </div>
              )}
            </>
          );
        }}
      </MeasuredRows>
    </section>
  );
}

/** The line of a message. Its mark stands out if the agent has not seen the message. */
function Line({ text }: { text: string }) {
  const mark = /(\[(?:SEEN|NEW)\](?: ← TRIGGER)?)$/.exec(text)?.[1] ?? '';
  const isNew = mark.startsWith('[NEW]');
  return (
    <Fold text={text.slice(0, text.length - mark.length)} lines={6}>
      {(shown) => (
        <pre className="reader-line">
          {shown}
          <b className={isNew ? 'reader-new' : 'muted'}>{mark}</b>
        </pre>
      )}
    </Fold>
  );
}

function AsMessages({ input }: { input: TimelineInput }) {
  const key = useMemo(() => JSON.stringify(input), [input]);
  const query = useQuery(key, () => api.timeline.messages(input));
  return (
    <Answer query={query} what="Cannot convert the timeline to messages" loading="Converting">
      {({ messages }) => <SentMessages label="Messages with roles" messages={messages} />}
    </Answer>
  );
}
