import { BookOpen, Check, CircleAlert, Columns3, GitCompare, Minus, X } from 'lucide-react';
import { useState } from 'react';
import type { ExperimentResult } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, DamagedMark, IconButton, notifyProblem, placeByKey, say } from '../../parts';
import { experimentsChanged, go, openComparison, openContext } from '../../state';
import { outcomeNames } from './checks';

type Verdict = 'pass' | 'fail' | null;

const judge = (resultId: string, verdict: Verdict): void => void api.experiment.judge({ resultId, verdict }).then(experimentsChanged, notifyProblem);

const icons = { pass: Check, fail: X, unjudged: Minus, problem: CircleAlert } as const;

/** The replies of the cases as a table, newest round first. */
export function Results({ results }: { results: readonly ExperimentResult[] }) {
  const [chosen, setChosen] = useState(0);
  const at = Math.min(chosen, results.length - 1);
  const latest = results.filter((result) => result.round === results[0]?.round && result.commit);
  const turns = new Set(latest.map((result) => result.turnId));
  const choose = (next: number, from: HTMLElement) => {
    setChosen(next);
    from.querySelector(`[data-result="${next}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLElement>) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const result = results[at];
    const verdicts: Record<string, Verdict> = { p: 'pass', f: 'fail', u: null };
    const next = placeByKey(event, at, results.length);
    const verdict = verdicts[event.key];
    if (next !== undefined) choose(next, event.currentTarget);
    else if (result && verdict !== undefined) judge(result.resultId, verdict);
    else if (result?.commit && event.key === 'Enter') openContext(result.commit);
    else if (result?.commit && event.key === 'd') compare(result);
    else return;
    event.preventDefault();
  };
  return (
    <section className="experiment-part" aria-label="Results">
      <header className="experiment-results-head row baseline wrap">
        <h3>Results</h3>
        <span className="muted">
          {results.length === 0
            ? 'Replies appear here after a run'
            : `${say.plural(results.length, 'reply', 'replies')} · keys: p pass, f fail, u undo`}
        </span>
        <span className="grow" />
        {latest.length > 1 && turns.size === 1 && <Button small icon={Columns3} label="Compare last round" onClick={() => compareAll(latest)} />}
      </header>
      {results.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the table has keyboard navigation
        <section className="experiment-scroll" aria-label="Replies" data-list tabIndex={0} onKeyDown={onKeyDown}>
          <table>
            <thead>
              <tr>
                {['Outcome', 'Case', 'Model', 'Settings', 'Edits', 'Tokens in / out', 'Cost', 'Time', 'Reply', ''].map((name) => (
                  <th key={name} scope="col">
                    {name || <span className="unseen">Actions</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {results.map((result, n) => (
                <ResultRow
                  key={result.resultId}
                  result={result}
                  n={n}
                  isChosen={n === at}
                  isFirstOfRound={n === 0 || results[n - 1]?.round !== result.round}
                  onChoose={() => setChosen(n)}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

const compare = (result: ExperimentResult): void => openComparison(result.commit ?? undefined, result.turnId);

const maxCompared = 15;
function compareAll(results: readonly ExperimentResult[]): void {
  const [first, ...others] = results.flatMap((result) => result.commit ?? []).slice(0, maxCompared);
  go({ view: 'compare', commit: first, against: results[0]?.turnId, others: others.join(','), entry: undefined });
}

const unknown = <span className="muted">not recorded</span>;

function ResultRow(props: { result: ExperimentResult; n: number; isChosen: boolean; isFirstOfRound: boolean; onChoose: () => void }) {
  const { result, n, isChosen, isFirstOfRound, onChoose } = props;
  const { outcome, judgedBy, checks, problem, tokens, commit } = result;
  const Glyph = icons[outcome];
  const why = problem ?? checks.map((check) => `${check.passed ? '✓' : '✗'} ${check.words}${check.why ? `: ${check.why}` : ''}`).join('\n');
  return (
    <tr
      data-result={n}
      className={`${isChosen ? 'chosen' : ''}${isFirstOfRound && n > 0 ? ' new-round' : ''}`}
      aria-current={isChosen}
      onClick={onChoose}
    >
      <td>
        <span className={`outcome inline-row gap-4 ${outcome}`} title={why}>
          <Glyph size={12} aria-hidden /> {outcomeNames[outcome]}
        </span>
        <span className="muted experiment-judge row gap-4">
          {judgedBy === 'person' ? 'by you' : judgedBy === 'checks' ? 'by checks' : ''}
          <span className="experiment-verdict">
            {(['pass', 'fail'] as const).map((verdict) => (
              <IconButton
                key={verdict}
                small
                icon={icons[verdict]}
                label={verdict === 'pass' ? 'Pass' : 'Fail'}
                keys={verdict === 'pass' ? 'p' : 'f'}
                aria-pressed={judgedBy === 'person' && outcome === verdict}
                onClick={() => judge(result.resultId, verdict)}
              />
            ))}
            {judgedBy === 'person' && <IconButton small icon={Minus} label="Undo" keys="u" onClick={() => judge(result.resultId, null)} />}
          </span>
        </span>
      </td>
      <td>
        {result.title || 'Case'}{' '}
        <span className="muted">
          round {result.round}
          {result.sample > 0 && `, sample ${result.sample + 1}`}
        </span>
      </td>
      <td className="mono">{result.model ?? (result.provider === 'recorded' ? 'recording' : result.provider)}</td>
      <td>{result.settings || <span className="muted">as recorded</span>}</td>
      <td>{result.edits || <span className="muted">none</span>}</td>
      <td className="number">
        {tokens.output === null ? unknown : `${tokens.input === null ? '?' : say.compact(tokens.input)} / ${say.compact(tokens.output)}`}
      </td>
      <td className="number">{result.cost === null ? unknown : `$${result.cost.toFixed(4)}`}</td>
      <td className="number">{result.ms === null ? unknown : say.duration(result.ms)}</td>
      <td className="experiment-reply" title={problem ?? result.head}>
        {result.damaged && <DamagedMark />} {problem ? <span className="tone-bad">{problem}</span> : say.firstLine(result.head, 120)}
      </td>
      <td>
        {commit && (
          <span className="experiment-verdict">
            <IconButton small icon={BookOpen} label="Open branch" keys="Enter" onClick={() => openContext(commit)} />
            <IconButton small icon={GitCompare} label="Compare with recorded reply" keys="d" onClick={() => compare(result)} />
          </span>
        )}
      </td>
    </tr>
  );
}
