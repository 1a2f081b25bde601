import { Eraser, PackageCheck, Trash2, Zap } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, say } from '../../parts';
import { TaskProblem, useTask } from './task';

type Collected = Awaited<ReturnType<typeof api.artifact.gc>>;
type Packed = Awaited<ReturnType<typeof api.artifact.repack>>;
type Dropped = Awaited<ReturnType<typeof api.artifact.dropCaches>>;

/** Giving space back: what nothing names goes after one has seen what that is, and what stays is packed closer. */
export function Cleanup({ onChanged }: { onChanged: () => void }) {
  const [collected, start] = useTask<Collected>();
  const [removes, setRemoves] = useState(false);
  const [packed, pack] = useTask<Packed>();
  const [dropped, drop] = useTask<Dropped>();
  const collect = (remove: boolean) => {
    setRemoves(remove);
    return start((signal) => api.artifact.gc(remove ? {} : { dryRun: true }, { signal }));
  };
  const planned = collected.state === 'done' && !removes ? collected.result : undefined;
  const busy = [collected, packed, dropped].some(({ state }) => state === 'running');
  return (
    <section aria-label="Give space back">
      <h3>Give space back</h3>
      <p className="muted">
        Only what no commit, source, request, ticket, card, pin or label reaches can go, and nothing younger than an hour. Packing closer removes
        nothing; caches are made again when they are asked for.
      </p>
      <div className="storage-actions">
        <Button icon={Eraser} disabled={busy} onClick={() => void collect(false)}>
          See what could go
        </Button>
        <Button icon={PackageCheck} disabled={busy} onClick={() => void pack((signal) => api.artifact.repack({}, { signal })).then(onChanged)}>
          Pack closer
        </Button>
        <Button icon={Zap} disabled={busy} onClick={() => void drop((signal) => api.artifact.dropCaches({}, { signal })).then(onChanged)}>
          Drop the caches
        </Button>
      </div>
      <div aria-live="polite">
        {collected.state === 'running' && <p className="muted">{removes ? 'Removing what nothing names' : 'Looking through all objects'}…</p>}
        {planned?.removed === 0 && <p>Nothing to remove: {keeps(planned)}.</p>}
        {planned && planned.removed > 0 && (
          <div className="notice-line">
            <span className="grow">
              {say.plural(planned.removed, 'object')} could go, {say.bytes(planned.freedBytes)} as stored. What stays: {keeps(planned)}.
            </span>
            <Button small look="danger" icon={Trash2} onClick={() => void collect(true).then(onChanged)}>
              Remove {say.plural(planned.removed, 'object')}
            </Button>
          </div>
        )}
        {collected.state === 'done' && removes && (
          <p>
            {say.plural(collected.result.removed, 'object')} removed, {say.bytes(collected.result.freedBytes)} given back.
          </p>
        )}
        {packed.state === 'running' && (
          <p className="muted">
            Packing…{' '}
            <Button small onClick={packed.stop}>
              Stop waiting
            </Button>
          </p>
        )}
        {packed.state === 'done' && (
          <p>
            {packed.result.objects === 0
              ? 'All of it is packed as closely as it can be.'
              : `${say.plural(packed.result.objects, 'object')} looked at: ${say.bytes(packed.result.before)} became ${say.bytes(packed.result.after)}.`}
          </p>
        )}
        {dropped.state === 'done' && <p>{say.bytes(dropped.result.freedBytes)} of caches dropped.</p>}
        <TaskProblem task={collected} />
        <TaskProblem task={packed} />
        <TaskProblem task={dropped} />
      </div>
    </section>
  );
}

const keeps = ({ kept }: Collected): string =>
  [
    `${say.exact(kept.reachable)} reached`,
    kept.pinned > 0 && `${say.exact(kept.pinned)} pinned`,
    kept.young > 0 && `${say.exact(kept.young)} younger than an hour`,
  ]
    .filter(Boolean)
    .join(', ');
