import { useEffect, useState } from 'react';
import { api } from '../../client';
import { Button, CutText, describeProblem, Estimate, LinkButton, MeasuredRows, ProblemLine, say, useVirtualRows } from '../../parts';
import { createRanges, go, type Ranges, useRanges } from '../../state';
import { layerFamily, layerName } from './layers';
import { type Composition, maxTextLength, pageSize, type TrialRow, type trialInput } from './trial';

interface ComposedMessagesProps {
  readonly input: ReturnType<typeof trialInput>;
  readonly first: Composition;
}

/** The rows of a composition. The first page is known; the others load as they come into view. */
const rangesOf = ({ input, first }: ComposedMessagesProps): Ranges<TrialRow> =>
  createRanges<TrialRow>(pageSize, async (offset, limit) =>
    offset === 0 ? first : api.compose.rows({ ...input, offset, limit, longest: maxTextLength }),
  );

/** The messages in order. Messages that a trial adds or removes are marked. */
export function ComposedMessages({ input, first }: ComposedMessagesProps) {
  const [made] = useState(() => rangesOf({ input, first }));
  const ranges = useRanges(made);
  const { scroller, virtual } = useVirtualRows(first.total, 96, { overscan: 6 });
  // The first change scrolls into view.
  const { firstChange } = first;
  useEffect(() => {
    if (firstChange >= 0) virtual.scrollToIndex(firstChange, { align: 'center' });
  }, [firstChange, virtual]);
  const items = virtual.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, (items.at(-1)?.index ?? 0) + 1];
  useEffect(() => ranges.need(from, to), [ranges, from, to]);
  const problem = ranges.problem();
  return (
    <div className="stack shrinks">
      <h3 className="compose-title">
        Messages{' '}
        <span className="muted">
          {say.plural(first.messages, 'message')} · <Estimate of={first.tokens} />
        </span>
        {first.added + first.removed > 0 && (
          <span className="muted">
            {' '}
            · compared with the recording: <b className="new">+{first.added}</b> <b className="gone">−{first.removed}</b>
          </span>
        )}
      </h3>
      {problem !== undefined && (
        <ProblemLine>
          {describeProblem(problem).message} <Button small label="Load again" onClick={ranges.retry} />
        </ProblemLine>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard */}
      <section ref={scroller} className="overflows" aria-label="Messages" tabIndex={0}>
        <MeasuredRows virtual={virtual} as="ol" attributes={({ index }) => ({ className: rowClass(ranges.at(index)) })}>
          {({ index }) => {
            const row = ranges.at(index);
            return row ? <Message row={row} whole={() => wholeText(input, index)} /> : <p className="skeleton stack compose-waiting" />;
          }}
        </MeasuredRows>
      </section>
    </div>
  );
}

const rowClass = (row: TrialRow | undefined): string => `composed ${row?.change ?? 'same'} kind-${row ? layerFamily(row.layer) : 'system'}`;

async function wholeText(input: ComposedMessagesProps['input'], place: number): Promise<string> {
  const { rows } = await api.compose.rows({ ...input, offset: place, limit: 1 });
  return rows[0]?.text ?? '';
}

const roleNames = { system: 'System', human: 'User', ai: 'Assistant', tool: 'Tool' } as const;
const changeSigns = { same: '', new: '+', gone: '−' } as const;
const changeNames = { same: '', new: 'New: ', gone: 'Removed: ' } as const;

function Message({ row, whole }: { row: TrialRow; whole: () => Promise<string> }) {
  const { change, layer, entryKey, calls } = row;
  const isEmpty = row.text.trim() === '' && calls.length === 0;
  return (
    <>
      <header className="composed-head row small">
        <span className="composed-sign" aria-hidden>
          {changeSigns[change]}
        </span>
        <span className="composed-role">
          <span className="unseen">{changeNames[change]}</span>
          {roleNames[row.role]}
          {row.name && <span className="muted"> {row.name}</span>}
        </span>
        <span className="badge">{layerName(layer)}</span>
        <span className="grow" />
        {entryKey && <LinkButton label="Show in Context" onClick={() => go({ view: 'context', entry: entryKey })} />}
        {!isEmpty && <Estimate className="muted" of={row.tokens} />}
      </header>
      {isEmpty ? (
        <p className="muted">Empty</p>
      ) : (
        row.text.trim() !== '' && (
          <CutText text={row.text} length={row.length} lines={6} whole={whole}>
            {(shown) => <pre className="verbatim">{shown}</pre>}
          </CutText>
        )
      )}
      {calls.map((call, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the message does not change
        <pre key={n} className="verbatim composed-call">
          <b>{call.name}</b> {say.firstLine(call.arguments, 400)}
        </pre>
      ))}
    </>
  );
}
