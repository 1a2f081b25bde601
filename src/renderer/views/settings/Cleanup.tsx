import { Eraser, PackageCheck, Shrink, Trash2, Zap } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { budgetForm } from '../../forms';
import { Button, Checkbox, say, TaskProblem } from '../../parts';
import { ask, useTask } from '../../state';

type Collected = Awaited<ReturnType<typeof api.artifact.gc>>;
type Packed = Awaited<ReturnType<typeof api.artifact.repack>>;
type Dropped = Awaited<ReturnType<typeof api.artifact.dropCaches>>;

/** Frees space: removes unreachable objects after a preview, repacks objects and drops caches. */
export function Cleanup({ onChanged }: { onChanged: () => void }) {
  const [collected, start] = useTask<Collected>();
  const [removes, setRemoves] = useState(false);
  const [deleted, setDeleted] = useState(false);
  const [packed, pack] = useTask<Packed>();
  const [dropped, drop] = useTask<Dropped>();
  const collect = (remove: boolean, withDeleted = deleted) => {
    setRemoves(remove);
    return start((signal) => api.artifact.gc({ ...(withDeleted && { deleted: true }), ...(!remove && { dryRun: true }) }, { signal }));
  };
  const includeDeleted = (on: boolean): void => {
    setDeleted(on);
    void collect(false, on);
  };
  const planned = collected.state === 'done' && !removes ? collected.result : undefined;
  const busy = [collected, packed, dropped].some(({ state }) => state === 'running');
  return (
    <section aria-label="Free space">
      <h3>Free space</h3>
      <p className="muted">
        Unreachable objects are removed: no commit, source, request, ticket, card, pin or label refers to them, and they are older than an hour.
        Repacking removes nothing. Caches are rebuilt when needed.
      </p>
      <div className="storage-actions row wrap">
        <Button icon={Eraser} label="Find unreachable objects" disabled={busy} onClick={() => void collect(false)} />
        <Button icon={PackageCheck} disabled={busy} onClick={() => void pack((signal) => api.artifact.repack({}, { signal })).then(onChanged)}>
          Repack objects
        </Button>
        <Button icon={Zap} disabled={busy} onClick={() => void drop((signal) => api.artifact.dropCaches({}, { signal })).then(onChanged)}>
          Drop caches
        </Button>
        <Button icon={Shrink} label="Shrink to a size…" disabled={busy} onClick={() => ask(budgetForm(onChanged))} />
      </div>
      <Checkbox label="Also free deleted sessions and branches" checked={deleted} disabled={busy} onChange={includeDeleted} />
      <div aria-live="polite">
        {collected.state === 'running' && <p className="muted">{removes ? 'Removing unreachable objects' : 'Searching for unreachable objects'}…</p>}
        {planned && <Plan plan={planned} deleted={deleted} onRemove={() => void collect(true).then(onChanged)} />}
        {collected.state === 'done' && removes && (
          <p>
            {say.plural(collected.result.removed, 'object')} removed, {say.bytes(collected.result.freedBytes)} freed.
          </p>
        )}
        {packed.state === 'running' && (
          <p className="muted">
            Repacking… <Button small label="Stop waiting" onClick={packed.stop} />
          </p>
        )}
        {packed.state === 'done' && (
          <p>
            {packed.result.objects === 0
              ? 'All objects are already packed.'
              : `${say.plural(packed.result.objects, 'object')} repacked: ${say.bytes(packed.result.before)} before, ${say.bytes(packed.result.after)} after.`}
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

/** A preview of the objects to remove, those of deleted sessions and branches too if `deleted`, and the button that removes them. */
function Plan({ plan, deleted, onRemove }: { plan: Collected; deleted: boolean; onRemove: () => void }) {
  if (plan.removed === 0)
    return (
      <p>
        No {deleted ? 'deleted or ' : ''}unreachable objects: {keptText(plan)}.
      </p>
    );
  return (
    <div className="notice-line">
      <span className="grow">
        {say.plural(plan.removed, 'object')} can be removed, {say.bytes(plan.freedBytes)} on disk. Kept: {keptText(plan)}.
        {deleted && (
          <>
            <br />
            This includes the content of {say.plural(plan.deletedSessions ?? 0, 'deleted session')}. Undo cannot bring it back. Backups and replicas
            made earlier keep their copies.
          </>
        )}
      </span>
      <Button small look="danger" icon={Trash2} label={`Remove ${say.plural(plan.removed, 'object')}`} onClick={onRemove} />
    </div>
  );
}

const keptText = ({ kept }: Collected): string =>
  [
    `${say.exact(kept.reachable)} reachable`,
    kept.pinned > 0 && `${say.exact(kept.pinned)} pinned`,
    kept.young > 0 && `${say.exact(kept.young)} younger than an hour`,
  ]
    .filter(Boolean)
    .join(', ');
