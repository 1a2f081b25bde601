import { type ContextId, defined, orUndefined } from '../base/index.js';
import { type ContextRow, deltaEntries, findCommit, type ReadChain, readParsed } from '../chain/index.js';
import type { Entry, RowFacts } from '../contract/index.js';
import { turnsOfCommits } from '../handover/index.js';
import { listRequests, ownSpans } from '../requests/index.js';
import { callsIn, costsAt, lastedIn, lastModels } from '../usage/index.js';
import { type LineChanges, touchOf } from './files.js';
import { resultsIn } from './reply.js';
import { sumOf } from './turns.js';

/** Facts about the commits in view, beyond their rows: it reads their content. Commits whose content is damaged or gone are omitted. */
export function rowFacts(chain: ReadChain, ids: readonly ContextId[]): RowFacts[] {
  const rows = ids.map((id) => findCommit(chain, id));
  const named = rows.map(({ id }) => id);
  const costs = costsAt(chain, named);
  const seqs = rows.map(({ seq }) => seq);
  const runs = ownSpans(chain, seqs);
  const cardTurns = turnsOfCommits(chain, seqs);
  const models = lastModels(chain, seqs);
  const durationAt = (row: ContextRow): number | null => {
    // Entries of a commit that Stemma made have the time of the commit, not the time of the reply.
    if (row.forked) return runs.get(row.seq) ?? null;
    const parsed = readParsed(chain, row);
    if (!cardTurns.has(row.seq)) return lastedIn(parsed).ms;
    return spanOf([...parsed.entries.flatMap(({ at }) => (at ? [Date.parse(at)] : [])), ...callsIn(chain, [row.seq]).flatMap(callTimes)]);
  };
  return rows.flatMap((row): RowFacts | [] => {
    const own = row.type === 'delta' ? orUndefined(() => deltaEntries(chain, row), ['CORRUPT', 'NOT_FOUND']) : [];
    if (!own) return [];
    const calls = own.filter(({ kind }) => kind === 'tool_call');
    const touched = touchedFiles(row.format, own, calls);
    return {
      id: row.id,
      ms: durationAt(row),
      tools: calls.length,
      files: touched.length,
      touched: touched.slice(0, maxTouched),
      model: models.get(row.seq) ?? (row.forked ? requestedModel(chain, row.id) : null),
      counted: costs.has(row.id),
      cost: costs.get(row.id) ?? null,
    };
  });
}

/** From the first to the last recorded time; null unless there are two. */
function spanOf(times: readonly number[]): number | null {
  const ms = times.length < 2 ? 0 : Math.max(...times) - Math.min(...times);
  return ms === 0 ? null : ms;
}

const callTimes = ({ askedAt, at, endedAt }: ReturnType<typeof callsIn>[number]): number[] => [askedAt ?? at, endedAt ?? at];

const maxTouched = 20;

/** The files that calls touched; written and changed files come first. */
function touchedFiles(format: string, own: readonly Entry[], calls: readonly Entry[]): RowFacts['touched'] {
  const results = resultsIn(own);
  const touched = new Map<string, Omit<RowFacts['touched'][number], 'path'>>();
  for (const call of calls) {
    const result = call.toolCallId ? results.get(call.toolCallId) : undefined;
    const touch = result && touchOf(format, call, result);
    const before = touched.get(touch?.path ?? '');
    if (touch && !(touch.how === 'read' && before)) touched.set(touch.path, { how: touch.how, ...sum(before, touch.lines?.()) });
  }
  const files = [...touched].map(([path, facts]) => ({ path, ...facts }));
  return [...files.filter(({ how }) => how !== 'read'), ...files.filter(({ how }) => how === 'read')];
}

/** The sum of the added and removed lines of two calls. A number stays unknown if neither call has it. */
function sum(a: LineChanges | undefined, b: LineChanges | undefined): LineChanges {
  const of = (part: keyof LineChanges): number | undefined => sumOf([a?.[part] ?? null, b?.[part] ?? null]) ?? undefined;
  return defined({ added: of('added'), removed: of('removed') });
}

/** The model of the last request of a commit that Stemma made, because a repeated reply can lack its author. */
const requestedModel = (chain: ReadChain, turnId: ContextId): string | null => listRequests(chain, { turnId }).at(-1)?.model ?? null;
