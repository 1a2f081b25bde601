import { ArrowLeftRight, ClipboardCopy, FileDown } from 'lucide-react';
import type { Commit, ComparedSide, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { IconButton, Id, MenuButton, notifyProblem, say } from '../../parts';
import { copy, download, useNavigation, useQuery } from '../../state';

/** The two compared commits, with the usage of each. */
export function Head(props: { left: Commit; right: Commit; tokens: { readonly a: number; readonly b: number }; onSwap: () => void }) {
  const { left, right, tokens, onSwap } = props;
  const query = useQuery(`sides ${left.id} ${right.id}`, (signal) => api.turn.sides({ ids: [left.id, right.id] }, { signal }));
  return (
    <header className="diff-head">
      {[left, right].map((side, n) => (
        <div key={n === 0 ? 'a' : 'b'} className="diff-side">
          <span className={`diff-sign ${n === 0 ? 'removed' : 'added'}`}>{n === 0 ? '−' : '+'}</span>
          <Id id={side.id} what="commit id" />
          <span className="ellipsis grow" title={side.summary}>
            {say.firstLine(side.summary ?? '')}
          </span>
          <span className="muted">{say.tokens(n === 0 ? tokens.a : tokens.b)}</span>
          <time className="muted" dateTime={side.createdAt} title={say.instant(side.createdAt)}>
            {say.when(side.createdAt)}
          </time>
          {query.status === 'done' && query.data.sides[n] && <Usage side={query.data.sides[n]} />}
        </div>
      ))}
      <IconButton icon={ArrowLeftRight} label="Swap sides" onClick={onSwap} />
    </header>
  );
}

/** Model, tokens, cost and time of the last turn of a side, or which of them were not recorded. */
export function Usage({ side }: { side: ComparedSide }) {
  const { model, usage, cost, ms } = side;
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['model', model ?? undefined],
    ['tokens', usage && usage.output !== null ? `${say.compact(usage.input ?? 0)} in, ${say.compact(usage.output)} out` : undefined],
    ['cost', cost === null ? undefined : `$${cost.toFixed(4)}`],
    ['time', ms === null ? undefined : say.duration(ms)],
  ];
  const unknown = facts.flatMap(([name, value]) => (value === undefined ? [name] : []));
  return (
    <span className="diff-took muted">
      {facts
        .flatMap(([, value]) => value ?? [])
        .concat(unknown.length ? [`${unknown.join(', ')} not recorded`] : [])
        .join(' · ')}
    </span>
  );
}

/** The menu that copies or saves the comparison as a Markdown document. */
export function ExportComparison({ ids }: { ids: readonly ContextId[] }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const take = (use: (text: string) => void | Promise<void>, redact = false) =>
    api.export.comparison({ ids: [...ids], stop, ...(redact && { redact }) }).then(({ text = '' }) => use(text), notifyProblem);
  const save = (text: string) => download(text, `${ids.map(say.shortId).join('-')}.md`, 'text/markdown');
  return (
    <MenuButton
      label="Comparison as Markdown"
      button={<IconButton small icon={FileDown} label="Export as Markdown" />}
      items={[
        { name: 'Copy', icon: ClipboardCopy, act: () => void take((text) => copy(text, 'Copied the comparison')) },
        { name: 'Save as file', icon: FileDown, act: () => void take(save) },
        { name: 'Save with known patterns redacted', icon: FileDown, act: () => void take(save, true) },
      ]}
    />
  );
}
