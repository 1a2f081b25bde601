import { Eraser, PackageCheck, Trash2 } from 'lucide-react';
import { api } from '../../client';
import { Button, problemOf, say } from '../../parts';
import { useTask } from './task';

type Collected = Awaited<ReturnType<typeof api.artifact.gc>>;
type Packed = Awaited<ReturnType<typeof api.artifact.repack>>;

/** Giving space back: what nothing names goes after one has seen what that is, and what stays is packed closer. */
export function Cleanup({ onChanged }: { onChanged: () => void }) {
  const [plan, look] = useTask<Collected>();
  const [collected, collect] = useTask<Collected>();
  const [packed, pack] = useTask<Packed>();
  const planned = plan.state === 'done' && collected.state === 'idle' ? plan.result : undefined;
  const busy = [plan, collected, packed].some(({ state }) => state === 'running');
  return (
    <section aria-label="Give space back">
      <h3>Give space back</h3>
      <p className="muted">
        Only what no commit, source, request, ticket, card, pin or label reaches can go, and nothing younger than an hour. Packing closer removes
        nothing.
      </p>
      <div className="storage-actions">
        <Button icon={Eraser} disabled={busy} onClick={() => void look((signal) => api.artifact.gc({ dryRun: true }, { signal }))}>
          See what could go
        </Button>
        <Button icon={PackageCheck} disabled={busy} onClick={() => void pack((signal) => api.artifact.repack({}, { signal })).then(onChanged)}>
          Pack closer
        </Button>
      </div>
      <div aria-live="polite">
        {plan.state === 'running' && <p className="muted">Looking through all objects…</p>}
        {planned?.removed === 0 && <p>Nothing to remove: {keeps(planned)}.</p>}
        {planned && planned.removed > 0 && (
          <div className="notice-line">
            <span className="grow">
              {say.plural(planned.removed, 'object')} could go, {say.bytes(planned.freedBytes)} as stored. What stays: {keeps(planned)}.
            </span>
            <Button small look="danger" icon={Trash2} onClick={() => void collect((signal) => api.artifact.gc({}, { signal })).then(onChanged)}>
              Remove {say.plural(planned.removed, 'object')}
            </Button>
          </div>
        )}
        {collected.state === 'running' && <p className="muted">Removing what nothing names…</p>}
        {collected.state === 'done' && (
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
        {[plan, collected, packed].map(
          (task, place) =>
            task.state === 'failed' && (
              // biome-ignore lint/suspicious/noArrayIndexKey: three tasks that never move
              <p key={place} className="notice-line error" role="alert">
                {problemOf(task.error).message}
              </p>
            ),
        )}
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
