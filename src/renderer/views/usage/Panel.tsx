import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useMemo } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Facts, IconButton, LinkButton, say } from '../../parts';
import { go, type Query, useProjectQuery } from '../../state';
import type { Event, Events, SessionFact } from './facts';
import { type Range, rangeWords } from './ranges';
import { askSql, setBar, setGroup } from './selection';
import { type ChosenFacets, namesOf, type Slices } from './slices';
import { callsSql, compactionsSql, forksSql, quoted, toolCallsSql } from './statements';
import { addSlices, barHeight, isBound, largestSessions, type ShownMeasure, type Sums, sumGroups } from './sums';
import { SessionName } from './Table';
import { changeWords, dollars, measured, measuredSum, share, tokensIn } from './words';

interface PanelProps {
  readonly project: string;
  readonly slices: Slices;
  /** The slices of the bar before, or of the range before. */
  readonly before: Slices | undefined;
  /** The sums of tool calls by tool, which may be loading, and those in the bar or the range. */
  readonly tools: Query<unknown>;
  readonly toolSlices: Slices;
  readonly range: Range;
  readonly bars: readonly Range[];
  readonly isBar: boolean;
  readonly chosen: ChosenFacets;
  readonly measure: ShownMeasure;
  readonly sessions: ReadonlyMap<string, SessionFact>;
  readonly events: Events;
}

const mostSessions = 5;
const mostTools = 6;
const mostRules = 5;

/** The selected bar, or the whole range: its sums, its largest sessions, its errors, and what forks and compactions were made. */
export function Panel(props: PanelProps) {
  const { project, slices, before, range, bars, isBar, chosen, events } = props;
  const sums = addSlices(slices);
  const old = before && addSlices(before);
  const at = bars.findIndex(({ from }) => from === range.from);
  return (
    <aside className="usage-panel on-pane" aria-label={rangeWords(range)}>
      <section>
        <div className="row">
          <h2 className="grow">{rangeWords(range)}</h2>
          {isBar && (
            <>
              <IconButton icon={ChevronLeft} small label="Bar before" disabled={at <= 0} onClick={() => setBar(bars[at - 1]?.from)} />
              <IconButton icon={ChevronRight} small label="Bar after" disabled={at >= bars.length - 1} onClick={() => setBar(bars[at + 1]?.from)} />
            </>
          )}
        </div>
        <Facts
          rows={{
            Cost: (
              <>
                <b>{measuredSum(sums, 'cost')}</b>{' '}
                {old && (
                  <span className="muted small">
                    {changeWords(sums, old, 'cost')} from {measuredSum(old, 'cost')}
                  </span>
                )}
              </>
            ),
            Tokens: tokensIn(sums),
            'Cache loss': (
              <>
                {measuredSum(sums, 'loss')} <span className="muted small">{sums.cost > 0 ? `${share(sums.loss / sums.cost)} of the cost` : ''}</span>
              </>
            ),
            Calls: (
              <>
                {say.exact(sums.calls)} <span className="muted small">in {say.plural(sums.sessions, 'session')}</span>
              </>
            ),
          }}
        />
        <LinkButton label="List the calls" className="small" onClick={() => askSql(callsSql(range, chosen))} />
      </section>
      <Largest {...props} />
      <Tools {...props} sums={sums} />
      <EventList {...props} title="Forks made in Stemma" found={events.forks} one="turn" sql={forksSql} />
      <EventList {...props} title="Compactions" found={events.compactions} one="compaction" sql={compactionsSql} />
      <Findings project={project} />
    </aside>
  );
}

/** The rules that found most, in all sessions of the project: findings have no range. */
function Findings({ project }: { project: string }) {
  const rules = useProjectQuery(project, project, (signal) => api.finding.rules({}, { signal }));
  const data = rules.status === 'done' ? rules.data : undefined;
  const found = (data?.rules ?? []).filter((one) => one.found > 0).sort((a, b) => b.found - a.found);
  const all = found.reduce((sum, one) => sum + one.found, 0);
  return (
    <section>
      <h3 className="row">
        <span className="grow">Findings in all sessions</span>
        <LinkButton label={data ? `All ${say.exact(all)}` : 'All'} onClick={() => go({ view: 'findings' })} />
      </h3>
      <ul className="usage-rows">
        {found.slice(0, mostRules).map(({ rule, title, what, found }) => (
          <li key={rule}>
            <LinkButton label={title} className="ellipsis" title={what} onClick={() => go({ view: 'findings', rule })} />
            <span className="num">{say.exact(found)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Largest({ slices, range, isBar, measure, sessions }: PanelProps) {
  const ordered = largestSessions(slices, measure);
  const others = ordered.slice(mostSessions);
  return (
    <section>
      <h3>Largest sessions</h3>
      <ul className="usage-rows">
        {ordered.slice(0, mostSessions).map(([id, one]) => (
          <li key={id}>
            <SessionName id={id} sessions={sessions} />
            <span className="num">{measuredSum(one, measure)}</span>
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <LinkButton onClick={() => (isBar ? go({ range: `${range.from}..${range.to}`, group: 'session', bar: undefined }) : setGroup('session'))}>
              {say.plural(others.length, 'more session')}
            </LinkButton>
            <span className="num">
              {measured(
                others.reduce((sum, [, one]) => sum + barHeight(one, measure), 0),
                measure,
                others.some(([, one]) => isBound(one, measure)),
              )}
            </span>
          </li>
        )}
      </ul>
    </section>
  );
}

function Tools({ tools, toolSlices, sums: all, range, chosen }: PanelProps & { sums: Sums }) {
  if (all.results === 0) return null;
  const rate = `${((all.errors / all.results) * 100).toFixed(1)}, ${say.exact(all.errors)} of ${say.exact(all.results)}`;
  return (
    <section>
      <h3 className="row">
        <span className="grow">Errors per 100 tool calls</span>
        {all.errors === 0 ? (
          <span className="muted">{rate}</span>
        ) : (
          <LinkButton label={rate} title="List the failed tool calls" onClick={() => askSql(toolCallsSql(range, chosen, ['is_error']))} />
        )}
      </h3>
      <Answer query={tools} what="Cannot add up the tool calls" loading="Adding up the tool calls" lines={mostTools}>
        {() => <Rates slices={toolSlices} range={range} chosen={chosen} />}
      </Answer>
    </section>
  );
}

function Rates({ slices, range, chosen }: Pick<PanelProps, 'slices' | 'range' | 'chosen'>) {
  const ordered = useMemo(
    () =>
      [...sumGroups(slices, 'tool')]
        .filter(([, { results }]) => results > 0)
        .sort(([, x], [, y]) => y.errors - x.errors || y.results - x.results)
        .slice(0, mostTools),
    [slices],
  );
  const worst = Math.max(...ordered.map(([, { errors, results }]) => errors / results), Number.EPSILON);
  return (
    <ul className="usage-rates">
      {ordered.map(([tool, { errors, results }]) => (
        <li key={tool}>
          <LinkButton
            label={tool}
            className="ellipsis"
            title={`List the calls of ${tool}`}
            onClick={() => askSql(toolCallsSql(range, chosen, [`name = ${quoted(tool)}`]))}
          />
          <span className="gauge">
            <span style={{ width: `${(errors / results / worst) * 100}%` }} />
          </span>
          <b className="num">{((errors / results) * 100).toFixed(1)}</b>
          <span className="num muted">
            {say.exact(errors)} of {say.exact(results)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function EventList(props: PanelProps & { title: string; found: readonly Event[]; one: string; sql: string }) {
  const { slices, range, sessions, title, one, sql } = props;
  const inside = useMemo(() => namesOf(slices, 'session'), [slices]);
  const found = props.found.filter(({ session, day }) => day >= range.from && day <= range.to && inside.has(session));
  if (found.length === 0) return null;
  const counted = found.filter((event) => event.calls > 0);
  const priced = counted.flatMap(({ cost }) => cost ?? []);
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const cost = priced.length === 0 ? 'no price' : dollars(total(priced), priced.length < counted.length);
  const calls = total(counted.map((event) => event.calls));
  const open = ({ commit, session }: Event): void => {
    const place = { session: sessions.get(session)?.parent ?? session, commit: commit as ContextId };
    go({ view: 'context', ...place, against: undefined, entry: undefined, stop: undefined });
  };
  return (
    <section>
      <h3 className="row">
        <span className="grow">{title}</span>
        <span className="muted">
          {say.plural(found.length, one)}
          {calls > 0 && `, ${say.plural(calls, 'call')}, ${cost}`}
        </span>
      </h3>
      <ul className="usage-rows">
        {found.slice(0, mostSessions).map((event) => (
          <li key={event.commit}>
            <LinkButton className="ellipsis" onClick={() => open(event)}>
              {say.firstLine(sessions.get(event.session)?.title ?? event.session, 80)}
            </LinkButton>
            <span className="num muted">{rangeWords({ from: event.day, to: event.day })}</span>
          </li>
        ))}
        {found.length > mostSessions && (
          <li>
            <LinkButton label="List all" onClick={() => askSql(sql)} />
          </li>
        )}
      </ul>
    </section>
  );
}
