import { useState } from 'react';
import { Button, ChipMenu, Input, Switch, say, sending } from '../../parts';
import type { SessionFact } from './facts';
import { isDay, rangeNames, rangeWords, usualRange } from './ranges';
import { choose, setGroup, setMeasure, setRange, type UsageSelection } from './selection';
import { groupings, type Slices, type UsageFacet } from './slices';
import { countValues } from './sums';
import { groupName, groupWords, measureNames } from './words';

const facetLabels = { agent: 'Agents', repository: 'Repositories', model: 'Models', person: 'Machines', branch: 'Branches' } as const;

/** The range, and the facets with the number of sessions of each value. `inRange` has the slices of the range before any facet is applied. */
export function Controls(props: { selection: UsageSelection; inRange: Slices; sessions: ReadonlyMap<string, SessionFact> }) {
  const { selection, inRange, sessions } = props;
  const { range, named, measure, group, chosen } = selection;
  const isTool = group === 'tool';
  const [custom, setCustom] = useState(named === undefined);
  return (
    <>
      <div className="usage-bar rigid line-below row wrap">
        <Switch
          label="Range"
          value={custom ? 'custom' : (named ?? 'custom')}
          options={{ ...rangeNames, custom: 'Custom' }}
          onChange={(value) => {
            setCustom(value === 'custom');
            if (value !== 'custom') setRange(value === usualRange ? undefined : value);
          }}
        />
        {custom ? (
          <CustomRange key={`${range.from} ${range.to}`} from={range.from} to={range.to} />
        ) : (
          <span className="muted">{rangeWords(range)}</span>
        )}
        <span className="grow" />
        {(Object.keys(facetLabels) as UsageFacet[]).map((facet) => {
          const values = countValues(inRange, chosen, facet);
          // A facet with one value cannot narrow anything.
          if (values.length < 2 && !chosen[facet]?.length) return null;
          return (
            <ChipMenu
              key={facet}
              label={facetLabels[facet]}
              all={`All ${say.exact(values.length)}`}
              options={values.map(([value, count]) => ({ value, name: groupName(value, facet, sessions), count }))}
              chosen={chosen[facet] ?? []}
              onChange={(picked) => choose(chosen, facet, picked)}
            />
          );
        })}
      </div>
      <div className="usage-bar rigid line-below row wrap">
        <Switch
          label="Bars show"
          value={measure}
          options={isTool ? { errors: measureNames.errors, time: measureNames.time } : measureNames}
          onChange={setMeasure}
        />
        <span className="grow" />
        <span className="row shrinks">
          <span className="muted small nowrap">Group by</span>
          <Switch
            label="Group by"
            value={group}
            options={Object.fromEntries(groupings.map((one) => [one, groupWords[one][0]]))}
            onChange={setGroup}
          />
        </span>
      </div>
    </>
  );
}

/** Two days of the calendar. A range whose end is before its beginning is refused. */
function CustomRange({ from, to }: { from: string; to: string }) {
  const [days, setDays] = useState({ from, to });
  const problem = !isDay(days.from) || !isDay(days.to) ? 'Choose two days.' : days.from > days.to ? 'The last day is before the first.' : undefined;
  return (
    <form className="row gap-4 wrap" onSubmit={sending(() => !problem && setRange(`${days.from}..${days.to}`))}>
      <Input type="date" label="First day" value={days.from} onChange={(text) => setDays({ ...days, from: text })} />
      <span className="muted">–</span>
      <Input type="date" label="Last day" value={days.to} onChange={(text) => setDays({ ...days, to: text })} />
      <Button type="submit" label="Show" disabled={problem !== undefined} />
      {problem && (
        <span role="alert" className="small tone-bad">
          {problem}
        </span>
      )}
    </form>
  );
}
