import { Copy, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import type { UpdateCheck, UpdateSettings } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, attempt, Button, Input, sending, TaskProblem } from '../../parts';
import { copyDiagnostics, isDesktop, useKeptQuery, useTask } from '../../state';

/** Updates of the app, which a person turns on, and facts for a report of a problem. */
export function Updates() {
  const settings = useKeptQuery('machine', 'updates', (signal) => api.desktop.updates({}, { signal }));
  return (
    <section aria-label="Updates and diagnostics">
      <h2>Updates</h2>
      <Answer query={settings} what="Cannot load the settings of updates" loading="Loading the settings of updates" lines={3}>
        {(loaded) => <Feed first={loaded} />}
      </Answer>
      <h2>Diagnostics</h2>
      <p className="muted">Versions, the system, and the last events of the app by name and code. No content, no titles, no paths.</p>
      <Button icon={Copy} label="Copy diagnostics" onClick={attempt(() => copyDiagnostics())} />
    </section>
  );
}

function Feed({ first }: { first: UpdateSettings }) {
  const [settings, setSettings] = useState(first);
  const [feed, setFeed] = useState(first.feed ?? '');
  const [saving, save] = useTask<UpdateSettings>();
  const [checking, check] = useTask<UpdateCheck>();
  const change = (next: Parameters<typeof api.desktop.setUpdates>[0]): void =>
    void save(async (signal) => {
      const saved = await api.desktop.setUpdates(next, { signal });
      setSettings(saved);
      return saved;
    });
  return (
    <>
      <p className="muted">
        The desktop app reads a feed over HTTPS, and takes a new version only if the key in this package proves it. Nothing is asked of any server
        until you turn this on or check yourself.
      </p>
      <form className="settings-row row line-below" onSubmit={sending(() => change({ feed: feed.trim() || null }))}>
        <label htmlFor="feed">Address of the feed</label>
        <Input id="feed" className="feed-address" type="url" value={feed} placeholder="https://" onChange={setFeed} />
        <Button type="submit" label="Save" disabled={(feed.trim() || null) === settings.feed} />
      </form>
      <label className="settings-row row line-below">
        <span>Look for updates at the start and once a day</span>
        <input type="checkbox" checked={settings.on} onChange={(event) => change({ on: event.target.checked })} />
      </label>
      <TaskProblem task={saving} />
      {isDesktop && (
        <p>
          <Button
            icon={RefreshCw}
            label={checking.state === 'running' ? 'Checking…' : 'Check for updates'}
            disabled={checking.state === 'running'}
            onClick={() => void check((signal) => api.desktop.checkForUpdates({}, { signal }))}
          />
        </p>
      )}
      {checking.state === 'done' && <p role="status">{checking.result.message}</p>}
      <TaskProblem task={checking} />
    </>
  );
}
