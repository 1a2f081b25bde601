import { api } from '../../client';
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
        <select
          className="field"
          value={value}
          disabled={saved.state === 'running'}
          onChange={({ target }) => void save(() => api.team.retain({ days: target.value === '' ? null : Number(target.value) })).then(onChanged)}
        >
          {options.map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <p className="muted">
        Counted from the day they arrived. Commits, cards and tickets stay; what commits held is removed. Clones keep their copies.
      </p>
      <TaskProblem task={saved} />
    </section>
  );
}
