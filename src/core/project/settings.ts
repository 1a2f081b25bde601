import type { ReadChain, WriteChain } from '../chain/index.js';
import type { ProjectSettings } from '../contract/index.js';

/** The settings of a project, which apply to everyone who works on it. */
export function settingsOf({ db, project }: Pick<ReadChain, 'db' | 'project'>): ProjectSettings {
  const row = db.one<{ value: string }>("SELECT value FROM setting WHERE project = ? AND name = 'enableShareContext'", project);
  return { enableShareContext: row === undefined || row.value === 'true' };
}

/** Changes the given settings. */
export function changeSettings(chain: Pick<WriteChain, 'db' | 'project'>, change: Partial<ProjectSettings>): ProjectSettings {
  const { enableShareContext } = change;
  if (enableShareContext !== undefined)
    chain.db.run(
      "INSERT INTO setting (project, name, value) VALUES (?, 'enableShareContext', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      chain.project,
      JSON.stringify(enableShareContext),
    );
  return settingsOf(chain);
}
