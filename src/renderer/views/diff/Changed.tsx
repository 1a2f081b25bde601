import { useMemo } from 'react';
import type { ContextId, Entry, FieldChange, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Estimate, FoldedText, kindFamily, kindNames, say, showValue, speaker } from '../../parts';
import { useQuery } from '../../state';
import { comparable, type DiffLayout, type DiffPiece, dividePieces, isRewritten } from './parts';

/** Texts longer than this are shown without word marks, because comparing them takes too long. */
const wordLimit = 40_000;

/** Limits of one comparison. Texts that exceed them have so little in common that nearly every word would be marked. */
const effort = { scanLimit: 1_000, timeout: 50 };

/** Compares two texts word by word. Undefined until the comparison is done, if the texts are too long, or if marks would cover nearly all of them. */
function usePieces(a: string, b: string): { readonly a: readonly DiffPiece[]; readonly b: readonly DiffPiece[] } | undefined {
  return useQuery(a.length + b.length > wordLimit ? null : `${a.length} ${a}${b}`, async () => {
    const { presentableDiff } = await import('@codemirror/merge');
    const changes = presentableDiff(a, b, effort);
    return isRewritten(a, b, changes) ? undefined : dividePieces(a, b, changes);
  }).data;
}

/** One side of a change, with its differing words marked. */
function MarkedText({ text, pieces, kind }: { text: string; pieces: readonly DiffPiece[] | undefined; kind: 'removed' | 'added' }) {
  if (!pieces) return <FoldedText text={text} look="verbatim changed-text" />;
  return (
    <pre className="verbatim changed-text">
      {pieces.map(({ text: part, differs }, n) => {
        const Part = differs ? 'mark' : 'span';
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the text does not change
          <Part key={n} className={differs ? kind : undefined}>
            {part}
          </Part>
        );
      })}
    </pre>
  );
}

/** A changed entry, before and after, with its differing words marked. */
export function Changed({ a, b, layout }: { a: Entry; b: Entry; layout: DiffLayout }) {
  const [textA, textB] = useMemo(() => [comparable(a), comparable(b)], [a, b]);
  const pieces = usePieces(textA, textB);
  const side = (entry: Entry, text: string, shown: readonly DiffPiece[] | undefined, kind: 'removed' | 'added') => (
    <article className={`entry kind-${kindFamily(entry)} entry-${entry.kind} changed-${kind}`} aria-label={kind === 'removed' ? 'Before' : 'After'}>
      <EntryHead entry={entry} />
      <MarkedText text={text} pieces={shown} kind={kind} />
    </article>
  );
  return (
    <div className={layout === 'split' ? 'diff-columns' : undefined}>
      <div>{side(a, textA, pieces?.a, 'removed')}</div>
      <div>{side(b, textB, pieces?.b, 'added')}</div>
    </div>
  );
}

const EntryHead = ({ entry }: { entry: Entry }) => (
  <header className="entry-head row small">
    <span className="entry-name">{entry.toolName ?? speaker(entry)}</span>
    <span className="muted">{kindNames[entry.kind]}</span>
    <span className="grow" />
    <Estimate className="entry-tokens" of={entry.tokens} bare />
  </header>
);

interface FieldsProps {
  readonly a: ContextId;
  readonly b: ContextId;
  readonly stop: Stop;
  /** The places of the two calls in their contexts. */
  readonly pair: { readonly a: number; readonly b: number };
  readonly before: Entry;
  readonly after: Entry;
  readonly layout: DiffLayout;
}

/** Two tool calls compared by their arguments, field by field. */
export function Fields({ a, b, stop, pair, before, after, layout }: FieldsProps) {
  const query = useQuery(`${a} ${b} ${stop} ${pair.a} ${pair.b}`, (signal) =>
    api.context.diffCalls({ a, b, stop, pairs: [{ a: pair.a, b: pair.b }] }, { signal }),
  );
  const fields = query.data?.[0]?.fields;
  // While the fields load, and if they cannot be loaded, the calls are compared as text.
  if (!fields) return <Changed a={before} b={after} layout={layout} />;
  const names = before.toolName === after.toolName ? before.toolName : `${before.toolName} → ${after.toolName}`;
  return (
    <article className="entry kind-tool diff-call" aria-label={`Call of ${names}, field by field`}>
      <header className="entry-head row small">
        <span className="entry-name">{names}</span>
        <span className="muted">{fields.length === 0 ? 'same arguments' : `${say.plural(fields.length, 'field')} changed`}</span>
      </header>
      {fields.map((field) => (
        <Field key={field.path} field={field} layout={layout} />
      ))}
    </article>
  );
}

function Field({ field, layout }: { field: FieldChange; layout: DiffLayout }) {
  const [a, b] = [field.op === 'added' ? '' : showValue(field.a), field.op === 'removed' ? '' : showValue(field.b)];
  const pieces = usePieces(a, b);
  return (
    <div className="diff-field">
      <h4 className="mono">
        {field.path || 'all arguments'} {field.op !== 'changed' && <span className="muted">{field.op}</span>}
      </h4>
      <div className={layout === 'split' ? 'diff-columns' : undefined}>
        <div>{field.op !== 'added' && <MarkedText text={a} pieces={field.op === 'changed' ? pieces?.a : undefined} kind="removed" />}</div>
        <div>{field.op !== 'removed' && <MarkedText text={b} pieces={field.op === 'changed' ? pieces?.b : undefined} kind="added" />}</div>
      </div>
    </div>
  );
}
