import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import type { DiffLine, PartDiff, RequestPart, RequestPartRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, Estimate, SearchField, Select, type Stretch, say, selectByKey, stretchesOf } from '../../parts';
import { copy, go, move, useNavigation, useProjectQuery, useQuery } from '../../state';
import { PartDetails } from './CallBody';

/** The distinct system prompts and tool sets of the project, and what changed between any two of them. */
export function Parts({ project }: { project: string }) {
  const chosen = useNavigation(({ route }) => route.part);
  const query = useProjectQuery(project, `${project} parts`, (signal) => api.request.parts({}, { signal }));
  return (
    <Answer query={query} what="Cannot list the system prompts" loading="Loading the system prompts" stillWorks="Single calls still work." lines={10}>
      {(rows) => {
        const row = rows.find(({ partId }) => partId === chosen) ?? rows.find(({ kind }) => kind === 'system') ?? rows[0];
        return row ? (
          <section className="request request-parts" aria-label="System prompts and tool sets">
            <PartList rows={rows} chosen={row} />
            <PartPage key={row.partId} row={row} rows={rows} />
          </section>
        ) : (
          <Empty
            title="No recorded system prompts"
            picture={ScrollText}
            acts={[{ name: 'Import sessions', look: 'primary', act: () => go({ view: 'sessions' }) }]}
          >
            System prompts and tool sets appear here after you import sessions that record them, such as those of Claude Code 2.1.282 or later.
          </Empty>
        );
      }}
    </Answer>
  );
}

const groups = [
  ['system', 'System prompts'],
  ['tools', 'Tool sets'],
] as const;

function PartList({ rows, chosen }: { rows: readonly RequestPartRow[]; chosen: RequestPartRow }) {
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const ordered = groups.flatMap(([kind]) =>
    rows.filter((row) => row.kind === kind && `${row.head} ${row.agents.join(' ')} ${row.versions.join(' ')}`.toLowerCase().includes(wanted)),
  );
  const at = ordered.findIndex(({ partId }) => partId === chosen.partId);
  return (
    <div className="calls rest stack">
      <div className="calls-sum wrap small">
        <SearchField label="Filter system prompts and tool sets" placeholder="Filter" value={filter} onChange={setFilter} />
      </div>
      <div
        className="calls-scroll overflows"
        role="listbox"
        aria-label="System prompts and tool sets, latest first"
        tabIndex={0}
        onKeyDown={(event) => selectByKey(event, ordered, at, 20, ({ partId }) => move({ part: partId }))}
      >
        {groups.map(([kind, name]) => {
          const own = ordered.filter((row) => row.kind === kind);
          return (
            own.length > 0 && (
              // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
              <div key={kind} role="group" aria-label={name}>
                <p className="part-group muted">
                  {name} ({say.exact(own.length)})
                </p>
                {own.map((row) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
                  <div
                    key={row.partId}
                    className="part-row selectable"
                    role="option"
                    aria-selected={row.partId === chosen.partId}
                    tabIndex={-1}
                    onClick={() => move({ part: row.partId })}
                  >
                    <span>
                      <b className="ellipsis grow">{row.agents.join(', ') || 'agent not recorded'}</b>
                      <span className="muted">{say.when(row.last)}</span>
                    </span>
                    <span className="part-head">{row.head || 'empty'}</span>
                    <span className="muted">
                      {row.versions.length > 0 && `${row.versions.at(-1)} · `}
                      <Estimate of={row.tokens} /> · {say.plural(row.calls, 'call')} · {say.plural(row.sessions, 'session')}
                    </span>
                  </div>
                ))}
              </div>
            )
          );
        })}
        {ordered.length === 0 && <p className="part-group muted">No match.</p>}
      </div>
    </div>
  );
}

function PartPage({ row, rows }: { row: RequestPartRow; rows: readonly RequestPartRow[] }) {
  const others = rows.filter((each) => each.kind === row.kind && each.partId !== row.partId);
  const before = others.find((each) => each.first < row.first && each.agents.some((agent) => row.agents.includes(agent)));
  const [against, setAgainst] = useState(before?.partId);
  const part = useQuery(against === undefined ? row.partId : null, (signal) => api.request.part({ partId: row.partId }, { signal }));
  const diff = useQuery(against === undefined ? null : `${against} ${row.partId}`, (signal) =>
    api.request.partDiff({ a: against ?? '', b: row.partId }, { signal }),
  );
  return (
    <div className="request-one">
      <header className="request-head row baseline wrap">
        <h2>{row.kind === 'system' ? 'System prompt' : `${say.plural(row.sections, 'tool')}`}</h2>
        <Estimate className="muted" of={row.tokens} />
        <span className="grow" />
        {part.status === 'done' && (
          <Button small label="Copy" onClick={() => void copy(part.data.sections.map(({ text }) => text).join('\n\n'), 'Copied the text')} />
        )}
      </header>
      <p className="request-facts muted">
        {say.plural(row.calls, 'call')} in {say.plural(row.sessions, 'session')} · first {say.instant(row.first)} · last {say.instant(row.last)}
        {row.versions.length > 0 && ` · version ${row.versions.join(', ')}`}
      </p>
      {row.agents.length > 0 && (
        <p className="request-facts muted">
          Sent by <span className="mono">{row.agents.join(', ')}</span>
        </p>
      )}
      <div className="request-tools row">
        <label className="shrinks row">
          Show{' '}
          <Select
            value={against ?? ''}
            options={[['', 'the full text'], ...others.map((each) => [each.partId, changesSince(each, each === before)] as const)]}
            onChange={(value) => setAgainst(value || undefined)}
          />
        </label>
      </div>
      {against === undefined ? (
        <Answer query={part} what="Cannot load this part" loading="Loading" lines={12}>
          {(whole) => <Sections part={whole} />}
        </Answer>
      ) : (
        <Answer query={diff} what="Cannot compare the two" loading="Comparing" lines={12}>
          {(changes) => <Difference diff={changes} />}
        </Answer>
      )}
    </div>
  );
}

const changesSince = ({ agents, versions, last, tokens }: RequestPartRow, isPrevious: boolean): string =>
  `changes since ${isPrevious ? 'the previous one' : (agents[0] ?? 'another')} (${[versions.at(-1), say.when(last), say.tokens(tokens)].filter(Boolean).join(', ')})`;

function Sections({ part: { kind, sections } }: { part: RequestPart }) {
  const isSystem = kind === 'system';
  return sections.map(({ name, text, tokens }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the part does not change
    <PartDetails key={at} title={name} text={text} tokens={tokens} kind={isSystem ? 'system' : 'tool'} open={isSystem} />
  ));
}

function Difference({ diff }: { diff: PartDiff }) {
  const changed = diff.sections.filter(({ op }) => op !== 'same');
  const same = diff.sections.length - changed.length;
  const grown = diff.b.tokens - diff.a.tokens;
  return (
    <>
      <p className="request-facts">
        {diff.same
          ? diff.reordered
            ? 'Same content in a different order. A provider’s cache does not match it.'
            : 'No differences.'
          : `${say.plural(changed.length, 'section')} changed, ${say.exact(same)} unchanged; ${grown >= 0 ? '+' : '−'}${say.compact(Math.abs(grown))} tokens.${diff.reordered ? ' The common sections are in a different order.' : ''}`}
      </p>
      {changed.map(({ name, op, lines }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts do not change
        <details key={at} className="request-part" open>
          <summary className="row">
            <span className={`change-op ${op}`}>{op}</span>
            <span className="ellipsis grow">{name}</span>
          </summary>
          <div className="part-lines">
            {stretchesOf(lines).map((stretch, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not change
              <StretchView key={place} stretch={stretch} />
            ))}
          </div>
        </details>
      ))}
    </>
  );
}

const signs = { same: ' ', added: '+', removed: '−' } as const;

/** Lines of a part. A folded stretch of more than two is shown on request. */
function StretchView({ stretch }: { stretch: Stretch<DiffLine> }) {
  const [open, setOpen] = useState(false);
  if (stretch.folded && stretch.lines.length > 2 && !open)
    return (
      <button type="button" className="part-fold wide muted" onClick={() => setOpen(true)}>
        Show {say.plural(stretch.lines.length, 'unchanged line')}
      </button>
    );
  return stretch.lines.map(({ op, text }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not change
    <pre key={at} className={`part-line ${op}`}>
      <span aria-hidden>{signs[op]} </span>
      {op !== 'same' && <span className="unseen">{op}: </span>}
      {text || ' '}
    </pre>
  ));
}
