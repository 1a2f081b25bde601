import { useState } from 'react';
import type { RequestDiff, RequestRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Estimate, Select, say } from '../../parts';
import { useQuery } from '../../state';
import { isMissing } from './body';

/** A call among the calls of its context, and the one before it. */
export interface ListedRequest {
  readonly project: string;
  readonly row: RequestRow;
  readonly rows: readonly RequestRow[];
  readonly before: RequestRow | undefined;
}

/**
 * The differences between this call and another call. The default is the previous call. `missing` names the parts of this call that were not recorded:
 * whether such a part changed is unknown.
 */
export function Changes({ project, row, rows, before, missing }: ListedRequest & { missing: readonly string[] }) {
  const [other, setOther] = useState(before?.requestId);
  const query = useQuery(other === undefined ? null : `${project} ${other} ${row.requestId}`, (signal) =>
    api.request.diff({ a: other ?? '', b: row.requestId }, { signal }),
  );
  const others = rows.flatMap(({ requestId }, at) =>
    requestId === row.requestId ? [] : [[requestId, `call ${at + 1}${requestId === before?.requestId ? ' (previous)' : ''}`] as const],
  );
  if (others.length === 0) return <p className="muted request-facts">This is the only call, so there is nothing to compare it with.</p>;
  return (
    <section className="request-changes" aria-label="Changes">
      <header>
        <label>
          Compare with <Select value={other ?? ''} options={[['', 'no other call'], ...others]} onChange={(value) => setOther(value || undefined)} />
        </label>
      </header>
      <Answer query={query} what="Cannot compare the two calls" loading="Comparing" lines={2}>
        {(diff) => <DiffSummary diff={diff} missing={missing} />}
      </Answer>
    </section>
  );
}

function DiffSummary({ diff, missing }: { diff: RequestDiff; missing: readonly string[] }) {
  const { prefix, brokenAt } = diff.cache;
  const counted = (op: 'added' | 'removed' | 'changed', side: 'aCount' | 'bCount') =>
    diff.messages.hunks.reduce((sum, hunk) => sum + (hunk.op === op ? hunk[side] : 0), 0);
  const [added, removed, changed] = [counted('added', 'bCount'), counted('removed', 'aCount'), counted('changed', 'bCount')];
  return (
    <>
      <ul className="changes">
        <Change name="System prompt" part={diff.system} unknown={isMissing('system', missing)} />
        <Change name="Tools" part={diff.tools} unknown={isMissing('tools', missing)} more={diff.tools.reordered ? ', different order' : ''} />
        <Change name="Parameters" part={diff.params} unknown={isMissing('params', missing)} />
        <li>
          <b>Messages</b>{' '}
          {diff.messages.same
            ? 'unchanged'
            : [added && `${added} added`, removed && `${removed} removed`, changed && `${changed} changed`].filter(Boolean).join(', ')}
        </li>
      </ul>
      <p className={brokenAt === null ? 'muted' : 'notice-line'}>
        {brokenAt === null ? (
          <>
            Cache prefix intact: {say.plural(prefix.messages, 'message')} (<Estimate of={prefix.tokens} />) reusable.
          </>
        ) : (
          <>
            Cache prefix broken at <span className="mono">{brokenAt}</span>: only {say.plural(prefix.messages, 'message')} (
            <Estimate of={prefix.tokens} />) before it reusable.
          </>
        )}
      </p>
    </>
  );
}

function Change({ name, part, unknown, more = '' }: { name: string; part: RequestDiff['params']; unknown: boolean; more?: string }) {
  if (part.same)
    return (
      <li className="muted">
        <b>{name}</b> {unknown ? 'not recorded' : 'unchanged'}
        {more}
      </li>
    );
  return (
    <li>
      <b>{name}</b> {say.plural(part.changes.length, 'change')}
      {more}
      <ul>
        {part.changes.slice(0, 20).map((change) => (
          <li key={`${change.op} ${change.path}`}>
            <span className={`change-op ${change.op}`}>{change.op}</span> <span className="mono">{change.path}</span>
            {change.op === 'changed' && typeof change.a !== 'object' && typeof change.b !== 'object' && (
              <span className="muted">
                {' '}
                {say.firstLine(String(change.a), 60)} → {say.firstLine(String(change.b), 60)}
              </span>
            )}
          </li>
        ))}
      </ul>
    </li>
  );
}
