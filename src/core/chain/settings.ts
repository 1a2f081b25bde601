import type { ProjectSettings } from '../contract/index.js';
import type { ReadChain, WriteChain } from './chain.js';

const names = ['enableShareContext', 'historyBudget', 'maxChainDepth'] as const satisfies readonly (keyof ProjectSettings)[];

/** The settings of a project, which apply to everyone who works on it. Limits that nobody set are absent. */
export function readSettings({ db, project }: Pick<ReadChain, 'db' | 'project'>): ProjectSettings {
  const rows = db.rows<[name: string, value: string]>('SELECT name, value FROM setting WHERE project = ?', project);
  const stored = Object.fromEntries(rows.map(([name, value]) => [name, JSON.parse(value) as unknown]));
  const whole = (name: string): number | undefined => (Number.isInteger(stored[name]) ? (stored[name] as number) : undefined);
  const [historyBudget, maxChainDepth] = [whole('historyBudget'), whole('maxChainDepth')];
  return {
    enableShareContext: stored.enableShareContext !== false,
    ...(historyBudget !== undefined && { historyBudget }),
    ...(maxChainDepth !== undefined && { maxChainDepth }),
  };
}

/** Changes the given settings. */
export function changeSettings(chain: Pick<WriteChain, 'db' | 'project'>, change: Partial<ProjectSettings>): ProjectSettings {
  for (const name of names) {
    const value = change[name];
    if (value === undefined) continue;
    const insert = 'INSERT INTO setting (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value';
    chain.db.run(insert, chain.project, name, JSON.stringify(value));
  }
  return readSettings(chain);
}
