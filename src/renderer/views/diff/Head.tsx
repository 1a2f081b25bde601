import { ArrowLeftRight, ClipboardCopy, FileDown, Share2 } from 'lucide-react';
import type { ComparedSide, ContextDiff, ContextId, RowFacts, UsageSums } from '../../../core/contract/index.js';
import { api } from '../../client';
import { shareForm } from '../../forms';
import { basis, commitName, Estimate, IconButton, Id, MenuButton, notifyProblem, say, When } from '../../parts';
import { ask, copy, download, type ShownCommit, useNavigation, useQuery, useRowFacts } from '../../state';

/** The two compared commits, with the usage of each. */
export function Head(props: {
  project: string;
  left: ShownCommit;
  right: ShownCommit;
  diff: Pick<ContextDiff, 'tokens' | 'counted'>;
  onSwap: () => void;
}) {
  const { project, left, right, diff, onSwap } = props;
  const facts = useRowFacts(project, [left.id, right.id]);
  const query = useQuery(`sides ${left.id} ${right.id}`, (signal) => api.turn.sides({ ids: [left.id, right.id] }, { signal }));
  const sides = [left, right].map((commit, at) => {
    const side = at === 0 ? 'a' : 'b';
    const size = { counted: diff.counted[side], estimated: diff.tokens[side] };
    return { commit, side, figures: { size, side: query.data?.sides[at], facts: facts.get(commit.id) } };
  });
  return (
    <header className="diff-head">
      {sides.map(({ commit, side, figures }) => (
        <div key={side} className="diff-side">
          <div className="diff-title row">
            <span className={`diff-sign ${side === 'a' ? 'removed' : 'added'}`}>{side === 'a' ? '−' : '+'}</span>
            <h2 className="ellipsis grow" title={commit.fork?.title ?? commit.summary}>
              {commitName({ ...commit, commit })}
            </h2>
            <Id id={commit.id} what="commit id" />
            <When at={commit.createdAt} className="muted rigid" />
          </div>
          <Figures {...figures} than={side === 'a' ? undefined : sides[0]?.figures} />
        </div>
      ))}
      <IconButton icon={ArrowLeftRight} label="Swap sides" onClick={onSwap} />
      <Since ids={[left.id, right.id]} />
    </header>
  );
}

/** The cost of each branch since the fork, and of the shared part, which was paid only once. */
function Since({ ids }: { ids: readonly [ContextId, ContextId] }) {
  const query = useQuery(`sums of ${ids.join(' ')}`, (signal) => api.usage.sides({ ids: [...ids] }, { signal }));
  if (query.status !== 'done') return null;
  const { base, shared, sides } = query.data;
  if (base === null || (shared.calls === 0 && sides.every(({ calls }) => calls === 0))) return null;
  const cost = (sums: UsageSums): string => `${say.plural(sums.calls, 'call')}, ${sums.cost ? say.money(sums.cost) : 'no price'}`;
  const date = [shared, ...sides].flatMap((sums) => sums.cost ?? [])[0]?.priceDate;
  return (
    <p className="diff-since wrap small muted" role="note" aria-label="Cost of the branches">
      {shared.calls > 0 && <span title="Both branches have these calls. They were paid once.">shared: {cost(shared)}</span>}
      {sides.map((sums, n) => (
        <span
          key={n === 0 ? 'a' : 'b'}
          title={`Calls of this side since ${base}${date === undefined ? '' : `, at API prices of ${date}. A subscription does not pay them.`}`}
        >
          <b>{n === 0 ? '−' : '+'}</b> since then: {sums.calls === 0 ? 'no calls' : cost(sums)}
        </span>
      ))}
    </p>
  );
}

/** What is known about one side. */
interface SideFigures {
  readonly size: { readonly counted: number | null; readonly estimated: number };
  readonly side: ComparedSide | undefined;
  readonly facts: RowFacts | undefined;
}

/** The input of a turn with its cached part, if it was counted. */
const inputOf = ({ usage }: ComparedSide): number | null =>
  usage && usage.input !== null ? usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) : null;

/** The known figures of a side, each with the difference to the other side below it. */
function Figures({ size, side, facts, than }: SideFigures & { readonly than: SideFigures | undefined }) {
  const other = than?.side;
  const isCounted = size.counted !== null;
  const isAlike = than && (than.size.counted !== null) === isCounted;
  const price = (amount: number): string => say.money({ amount, currency: 'USD', ...(side?.costAtLeast && { atLeast: true as const }) });
  const known: readonly (readonly [
    name: string,
    value: number | null | undefined,
    from: number | null | undefined,
    words: (n: number) => string,
    how: string,
  ])[] = [
    [
      isCounted ? 'Tokens, counted' : 'Tokens, estimated',
      size.counted ?? size.estimated,
      isAlike ? (than.size.counted ?? than.size.estimated) : null,
      isCounted ? say.exact : (n) => `≈ ${say.compact(n)}`,
      isCounted ? `${basis.counted}: the input of the last call` : `${basis.estimated}: no call has seen this context`,
    ],
    ['Cost', side?.cost, other?.cost, price, 'All calls of the turn, at API prices. A subscription does not pay them.'],
    ['Time', side?.ms, other?.ms, say.duration, 'What the agent wrote as the duration of the turn, else from its prompt to its last record'],
    ['Calls', side?.calls || null, other?.calls, say.exact, 'Calls to the model in the turn'],
    ['Tools', facts?.tools || null, than?.facts?.tools, say.exact, 'Tool calls of the turn'],
    ['Files', facts?.files || null, than?.facts?.files, say.exact, 'Files that the turn read or changed'],
    ['Input', side && inputOf(side), other && inputOf(other), say.exact, `${basis.counted}: the input of all calls of the turn`],
    ['Output', side?.usage?.output, other?.usage?.output, say.exact, `${basis.counted}: the replies of all calls of the turn`],
  ];
  const counts = new Set(['Calls', 'Tools', 'Files']);
  const missing = [
    ...known.filter(([name]) => !counts.has(name)).flatMap(([name, value]) => (value == null ? [name.toLowerCase()] : [])),
    ...(side?.model ? [] : ['model']),
  ];
  return (
    <dl className="diff-figures">
      {known.map(
        ([name, value, from, words, how]) => value != null && <Figure key={name} name={name} value={value} from={from} words={words} how={how} />,
      )}
      {side?.model && (
        <div>
          <dt>Model</dt>
          <dd>{side.model}</dd>
        </div>
      )}
      {side?.calls === 0 && (
        <div title="Nothing was sent to a model in the last turn of this side, so it has no model, tokens and cost.">
          <dt>Calls</dt>
          <dd>none</dd>
        </div>
      )}
      {side && side.calls > 0 && missing.length > 0 && (
        <div>
          <dt>Not recorded</dt>
          <dd>
            <span className="muted">{missing.join(', ')}</span>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Figure(props: { name: string; value: number; from: number | null | undefined; words: (value: number) => string; how: string }) {
  const { name, value, from, words, how } = props;
  const change = from == null ? 0 : value - from;
  return (
    <div title={how}>
      <dt>{name}</dt>
      <dd>
        {words(value)}
        {change !== 0 && (
          <span className={change < 0 ? 'tone-good' : 'muted'}>
            {change < 0 ? '−' : '+'}
            {words(Math.abs(change)).replace(/^[≈≥] /, '')}
          </span>
        )}
      </dd>
    </div>
  );
}

/** The tokens of a context: the provider's count of its last call, else the estimate. */
export const ContextSize = ({ counted, estimated }: { counted: number | null; estimated: number }) => (
  <span className="muted rigid" title={counted === null ? undefined : `${basis.counted}: the input of the last call`}>
    {counted === null ? <Estimate of={estimated} /> : `${say.exact(counted)} tok`}
  </span>
);

/** Model, tokens, cost and time of the last turn of a side, or which of them were not recorded. */
export function Usage({ side }: { side: ComparedSide }) {
  const { model, usage, cost, costAtLeast, ms } = side;
  const input = inputOf(side);
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['model', model ?? undefined],
    ['input', input === null ? undefined : `${say.compact(input)} in`],
    ['output', usage?.output == null ? undefined : `${say.compact(usage.output)} out`],
    ['cost', cost === null ? undefined : `${costAtLeast ? '≥ ' : ''}$${cost.toFixed(4)}`],
    ['time', ms === null ? undefined : say.duration(ms)],
  ];
  const unknown = side.calls === 0 ? [] : facts.flatMap(([name, value]) => (value === undefined ? [name] : []));
  return (
    <span className="small muted">
      {facts
        .flatMap(([, value]) => value ?? [])
        .concat(side.calls === 0 ? ['no model calls'] : [])
        .concat(unknown.length ? [`${unknown.join(', ')} not recorded`] : [])
        .join(' · ')}
    </span>
  );
}

/** The menu that copies or saves the comparison as a Markdown document, or shares a link to it. */
export function ExportComparison({ ids }: { ids: readonly ContextId[] }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const take = (use: (text: string) => void | Promise<void>, redact = false) =>
    api.export.comparison({ ids: [...ids], stop, ...(redact && { redact }) }).then(({ text = '' }) => use(text), notifyProblem);
  const [first, second, ...more] = ids;
  const isPair = first !== undefined && second !== undefined && more.length === 0;
  const save = (text: string) => download(text, `${ids.map(say.shortId).join('-')}.md`, 'text/markdown');
  return (
    <MenuButton
      label="Comparison as Markdown"
      button={<IconButton small icon={FileDown} label="Export as Markdown" />}
      items={[
        { name: 'Copy', icon: ClipboardCopy, act: () => void take((text) => copy(text, 'Copied the comparison')) },
        { name: 'Save as file', icon: FileDown, act: () => void take(save) },
        { name: 'Save with known patterns redacted', icon: FileDown, act: () => void take(save, true) },
        ...(isPair ? [{ name: 'Share a link…', icon: Share2, act: () => ask(shareForm(first, second)) }] : []),
      ]}
    />
  );
}
