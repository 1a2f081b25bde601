import { api } from '../../client';
import { Select } from '../../parts';
import { TaskProblem, useTask } from './task';

/** Days to choose from; an empty value keeps everything. */
const choices: readonly (readonly [value: string, words: string])[] = [
  ['', 'For ever'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['180', '180 days'],
  ['365', 'A year'],
  ['1095', '3 years'],
];

/** How long the hub keeps the contents of the project. For admins. */
export function Retention({ days, onChanged }: { readonly days: number | null; readonly onChanged: () => void }) {
  const [saved, save] = useTask<unknown>();
  const value = days === null ? '' : String(days);
  const options = choices.some(([each]) => each === value) ? choices : [...choices, [value, `${value} days`] as const];
  return (
    <section aria-label="Retention">
      <h3>Retention</h3>
      <label className="storage-actions">
        <span>Keep contents on the hub</span>
        <Select
          value={value}
          disabled={saved.state === 'running'}
          options={options}
          onChange={(chosen) => void save(() => api.team.retain({ days: chosen === '' ? null : Number(chosen) })).then(onChanged)}
        />
      </label>
      <p className="muted">
        Counted from the day they arrived. Commits, cards and tickets stay; what commits held is removed. Clones keep their copies.
      </p>
      <TaskProblem task={saved} />
    </section>
  );
}
