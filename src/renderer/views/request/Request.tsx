import { ChevronUp, Radio } from 'lucide-react';
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react';
import type { ContextId, RequestRow, UsageCall } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, basis, describeProblem, Empty, IconButton, Loading, ProblemLine, SearchField, Switch, say } from '../../parts';
import { AnswerMemory, go, type Query, type ShownSeries, useNavigation, usePlace, useQuery, useSeries, useTurnNumbers } from '../../state';
import { CommitAnswer, NoCommit } from '../NoCommit';
import { Calls } from './Calls';
import { costliestMiss, isJump, isMiss, marksOf, nextPlace, numbersOf, placesOf, totalsOf, type Wanted } from './calls';
import { Fill } from './Fill';
import { OneCall } from './OneCall';
import { Parts } from './Parts';
import { Summary } from './Summary';
import { priceText } from './words';

const modes = {
  calls: ['Calls', 'The model calls of this context'],
  parts: ['Prompts and tools', 'All system prompts and tool sets of the project'],
} as const;

/** The model calls of a context, one of them in full; or all system prompts and tool sets of the project. */
export function RequestView({ project }: { project: string }) {
  const { commit, part } = useNavigation(({ route }) => route);
  return (
    <div className="request-view whole stack">
      {part === undefined && commit ? (
        <CallsOfCommit key={`${project} ${commit}`} project={project} commit={commit} />
      ) : (
        <>
          <Modes />
          {part !== undefined ? (
            <Parts project={project} />
          ) : (
            <NoCommit title="No commit selected" icon={Radio}>
              The model calls behind a commit appear here: what was sent, what it cost, and what filled the window.
            </NoCommit>
          )}
        </>
      )}
    </div>
  );
}

function Modes({ children }: { children?: ReactNode }) {
  const part = useNavigation(({ route }) => route.part);
  return (
    <div className="request-modes bar wrap">
      <Switch
        label="Calls or parts"
        value={part === undefined ? 'calls' : 'parts'}
        options={modes}
        onChange={(mode) => go({ part: mode === 'parts' ? 'latest' : undefined })}
      />
      {children}
    </div>
  );
}

/** The calls of a context, or the last of them. `total` counts all. */
interface CallsShown {
  readonly total: number;
  readonly calls: readonly UsageCall[];
}

const callLists = new AnswerMemory<CallsShown>(8);
/** The calls that are listed first, because a long context has more than a hundred thousand. */
const firstCalls = 500;

async function askCalls(query: { readonly id: ContextId; readonly last?: number }, signal: AbortSignal): Promise<CallsShown> {
  const { total, packed = '[]' } = await api.usage.calls({ ...query, packed: true }, { signal });
  return { total, calls: JSON.parse(packed) as UsageCall[] };
}

/** The last calls of a context, and then all. `whole` is what loads all of them, if there are more. */
function useCalls(project: string, id: ContextId): { readonly shown: Query<CallsShown>; readonly whole: Query<CallsShown> } {
  const last = useQuery(`${project} ${id} last`, (signal) => askCalls({ id, last: firstCalls }, signal), callLists);
  const isPart = last.status === 'done' && last.data.calls.length < last.data.total;
  const whole = useQuery(isPart ? `${project} ${id}` : null, (signal) => askCalls({ id }, signal), callLists);
  return { shown: whole.status === 'done' ? whole : last, whole };
}

function CallsOfCommit({ project, commit }: { project: string; commit: ContextId }) {
  // Requested together, because two threads of the engine answer them in parallel.
  const series = useSeries(project, commit);
  const { shown, whole } = useCalls(project, commit);
  const all = shown.status === 'done' && shown.data.calls.length === shown.data.total ? shown.data.calls : [];
  return (
    <>
      <Modes>{all.length > 0 && <Sum calls={all} />}</Modes>
      {whole.status === 'failed' && <ProblemLine>Cannot list the earlier calls: {describeProblem(whole.error).message}</ProblemLine>}
      <CommitAnswer query={shown} what="Cannot list the calls of this context" loading="Listing the calls" lines={12}>
        {({ total, calls }) =>
          calls.length === 0 ? (
            <Empty title="No model calls" picture={Radio} acts={[{ name: 'Open the context', act: () => go({ view: 'context' }) }]}>
              The calls of a context appear here. This one contains no reply from a model yet.
            </Empty>
          ) : (
            <CallList project={project} commit={commit} total={total} calls={calls} series={series} />
          )
        }
      </CommitAnswer>
    </>
  );
}

const allCalls: Wanted = { shown: 'all', filter: '' };

function CallList({ project, commit, total, calls, series }: CallsShown & { project: string; commit: ContextId; series: Query<ShownSeries> }) {
  const chosen = useNavigation(({ route }) => route.call);
  const turns = useTurnNumbers(project, commit);
  const folder = usePlace(project, commit).data?.repository ?? null;
  // A link to a call opens its request.
  const [isOpen, setOpen] = useState(chosen !== undefined);
  const [wanted, setWanted] = useState(allCalls);
  const deferred = useDeferredValue(wanted);
  const isPart = calls.length < total;
  // The number of a call is known once all calls before it are.
  const numbers = useMemo(() => (isPart ? [] : numbersOf(calls)), [calls, isPart]);
  const marks = useMemo(() => marksOf(calls), [calls]);
  const places = useMemo(() => placesOf(calls, deferred), [calls, deferred]);
  const found = calls.findIndex((call) => call.requestId === chosen);
  const place = found >= 0 ? found : placeOfLast(calls, commit);
  const call = calls[place];
  const choose = (requestId: string): void => go({ call: requestId });
  const jump = (matches: (call: UsageCall) => boolean, by?: 1 | -1): void => {
    const next = calls[nextPlace(calls, place, matches, by) ?? -1];
    if (next) choose(next.requestId);
  };
  return (
    <section
      className="request"
      aria-label="Requests"
      onKeyDown={(event) => {
        if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
        const matches = event.key === 'm' || event.key === 'M' ? isMiss : event.key === 'J' ? isJump : undefined;
        if (!matches) return;
        event.preventDefault();
        event.stopPropagation();
        jump(matches, event.key === 'M' ? -1 : 1);
      }}
    >
      <div className="stack shrinks">
        <CallsBar total={total} calls={calls} wanted={wanted} onWant={setWanted} onJump={jump} onChoose={choose} />
        {isPart && (
          <p className="muted small">
            These are the last {say.exact(calls.length)} of {say.plural(total, 'call')}. The others are loading.
          </p>
        )}
        <div className="fill">
          {series.status === 'done' && call && <Fill series={series.data} marks={marks} chosen={call.requestId} onChoose={choose} />}
          {series.status === 'loading' && <Loading what="Loading the token chart" lines={6} />}
          {series.status === 'failed' && <ProblemLine>Cannot load the token chart: {describeProblem(series.error).message}</ProblemLine>}
        </div>
        {places.length > 0 ? (
          <Calls calls={calls} numbers={numbers} turns={turns.numbers} places={places} place={place} folder={folder} onChoose={choose} />
        ) : (
          <Empty title="No matching calls" acts={[{ name: 'Show all calls', act: () => setWanted(allCalls) }]}>
            Calls whose prompt, tool, model or cause of a miss matches appear here.
          </Empty>
        )}
      </div>
      {call && (
        <Chosen
          key={call.requestId}
          project={project}
          commit={commit}
          call={call}
          number={numbers[place]}
          turn={turns.numbers.get(call.commit)}
          before={calls.findLast(({ beside }, at) => at < place && beside === undefined)}
          isOpen={isOpen}
          onToggle={() => setOpen(!isOpen)}
        />
      )}
    </section>
  );
}

interface CallsBarProps extends CallsShown {
  readonly wanted: Wanted;
  readonly onWant: (wanted: Wanted) => void;
  readonly onJump: (matches: (call: UsageCall) => boolean, by?: 1 | -1) => void;
  readonly onChoose: (requestId: string) => void;
}

function CallsBar({ total, calls, wanted, onWant, onJump, onChoose }: CallsBarProps) {
  const counts = useMemo(() => ({ misses: calls.filter(isMiss).length, jumps: calls.filter(isJump).length }), [calls]);
  const showCostliest = (): void => {
    const miss = costliestMiss(calls);
    if (miss) onChoose(miss.requestId);
  };
  const countOf = (count: number): string => (calls.length < total ? '' : ` ${count}`);
  return (
    <div className="calls-bar bar wrap">
      <Switch
        label="Which calls"
        value={wanted.shown}
        options={{
          all: `All ${total}`,
          misses: [`Misses${countOf(counts.misses)}`, 'Calls that could not read what the call before left in the cache'],
          jumps: [`Large jumps${countOf(counts.jumps)}`, 'Calls whose input grew by 5,000 tokens or more'],
        }}
        onChange={(shown) => onWant({ ...wanted, shown })}
      />
      <IconButton icon={ChevronUp} label="Previous miss" keys="Shift+M" disabled={counts.misses === 0} onClick={() => onJump(isMiss, -1)} />
      <Button label="Next miss" disabled={counts.misses === 0} title="Next cache miss (M)" onClick={() => onJump(isMiss)} />
      <Button label="Costliest miss" disabled={counts.misses === 0} title="The cache miss that cost most" onClick={showCostliest} />
      <Button label="Next jump" disabled={counts.jumps === 0} title="Next large jump (Shift+J)" onClick={() => onJump(isJump)} />
      <SearchField className="grow" label="Filter calls" value={wanted.filter} onChange={(filter) => onWant({ ...wanted, filter })} />
    </div>
  );
}

interface ChosenProps extends Omit<React.ComponentProps<typeof Summary>, 'actions'> {
  readonly commit: ContextId;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Chosen({ commit, isOpen, onToggle, ...shown }: ChosenProps) {
  const { project, call } = shown;
  return (
    <aside className="request-panel" aria-label="Call">
      <Summary
        {...shown}
        actions={
          call.beside === undefined && (
            <>
              <Button label={isOpen ? 'Hide request' : 'Show request'} onClick={onToggle} aria-expanded={isOpen} />
              <Button label="Show the reply in Context" onClick={() => go({ view: 'context', commit: call.commit, entry: call.replyKey })} />
            </>
          )
        }
      />
      {isOpen && call.beside === undefined && <WholeRequest project={project} commit={commit} call={call} />}
    </aside>
  );
}

/** The request as it was sent. The list of requests says how well each is known. */
function WholeRequest({ project, commit, call }: { project: string; commit: ContextId; call: UsageCall }) {
  const rows = useQuery(`${project} ${commit} calls`, (signal) => allRequests(commit, signal));
  return (
    <Answer query={rows} what="Cannot verify this request" loading="Verifying the requests" stillWorks="Its counts are shown above." lines={8}>
      {(all) => {
        const at = all.findIndex(({ requestId }) => requestId === call.requestId);
        const row = all[at];
        return row ? (
          <OneCall project={project} row={row} rows={all} before={all[at - 1]} />
        ) : (
          <p className="muted">This request cannot be rebuilt: its reply was interrupted or is not in the conversation.</p>
        );
      }}
    </Answer>
  );
}

async function allRequests(commit: ContextId, signal: AbortSignal): Promise<RequestRow[]> {
  const all: RequestRow[] = [];
  for (;;) {
    const { total, requests } = await api.request.list({ id: commit, stop: 'root', offset: all.length }, { signal });
    all.push(...requests);
    if (all.length >= total || requests.length === 0) return all;
  }
}

/** The position of the commit's own last call, else of the last call of all. Calls outside the conversation come last. */
function placeOfLast(calls: readonly UsageCall[], commit: ContextId): number {
  const own = calls.findLastIndex((call) => call.commit === commit && call.beside === undefined);
  const last = calls.findLastIndex(({ beside }) => beside === undefined);
  return own >= 0 ? own : Math.max(0, last);
}

function Sum({ calls }: { calls: readonly UsageCall[] }) {
  const { cost, unpriced, unknownOutputs, lostTokens, lostCost } = useMemo(() => totalsOf(calls), [calls]);
  const unknown = [
    ...(unpriced > 0 ? [`${say.plural(unpriced, 'call')} without a price left out.`] : []),
    ...(unknownOutputs > 0 ? [`${say.plural(unknownOutputs, 'reply', 'replies')} without an output count.`] : []),
  ];
  return (
    <p className="calls-sum wrap small muted" role="note" aria-label="Cost of this branch">
      {cost ? (
        <span title={[`All ${say.plural(calls.length, 'call')} of this branch.`, 'A subscription does not pay API prices.', ...unknown].join(' ')}>
          <b>{priceText(cost)}</b> at API prices of {cost.priceDate}
        </span>
      ) : (
        <span title={whyNoPrice(calls)}>{calls.every(({ window }) => window === null) ? 'cost not recorded' : 'no price'}</span>
      )}
      {lostTokens > 0 && (
        <span title="What cache misses cost beyond reading the same tokens from the cache, added up over this branch">
          misses lost {lostCost && <b>{priceText(lostCost)}</b>} with {say.exact(lostTokens)} tokens paid again
        </span>
      )}
    </p>
  );
}

function whyNoPrice(calls: readonly UsageCall[]): string {
  const models = [...new Set(calls.flatMap(({ window, model }) => (window === null ? [] : [model ?? 'a model that was not recorded'])))];
  return models.length === 0
    ? `${basis.notRecorded}, so the cost is unknown`
    : `The list has no price for ${models.join(', ')}. The file usage.json can set one.`;
}
