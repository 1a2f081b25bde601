import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import type { ExperimentRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, DamagedMark, Empty, SearchField, say, When } from '../../parts';
import { go, useExperiments, useKeptQuery, useNavigation } from '../../state';
import { ExperimentPage } from './ExperimentPage';

/** The experiments of the project, or the selected one. */
export function ExperimentsView({ project }: { project: string }) {
  const experiment = useNavigation(({ route }) => route.experiment);
  return experiment ? <ExperimentPage key={`${project} ${experiment}`} project={project} experimentId={experiment} /> : <List project={project} />;
}

function List({ project }: { project: string }) {
  const revision = useExperiments((state) => state.revision);
  const query = useKeptQuery('', `${project} experiments ${revision}`, (signal) => api.experiment.list({}, { signal }));
  return (
    <Answer query={query} what="Cannot list the experiments" loading="Loading the experiments" lines={6}>
      {(rows) => (rows.length === 0 ? <NoExperiments /> : <Rows rows={rows} />)}
    </Answer>
  );
}

const NoExperiments = () => (
  <Empty title="No experiments yet" picture={FlaskConical} acts={[{ name: 'Run a turn again', look: 'primary', act: () => go({ view: 'run' }) }]}>
    Experiments appear here. Run a turn again with another model, setting or prompt, add each variant as a case, and compare the replies in a table.
  </Empty>
);

function Rows({ rows }: { rows: readonly ExperimentRow[] }) {
  const [filter, setFilter] = useState('');
  const shown = rows.filter((row) => `${row.title} ${row.note}`.toLowerCase().includes(filter.trim().toLowerCase()));
  return (
    <section className="experiments whole stack" aria-label="Experiments">
      <div className="bar rigid">
        <SearchField
          className="grow"
          label="Filter experiments"
          placeholder="Filter experiments  /"
          data-filter
          value={filter}
          onChange={setFilter}
        />
        <span className="muted">{say.plural(rows.length, 'experiment')}</span>
      </div>
      <ul className="experiments-list">
        {shown.map((row) => (
          <li key={row.experimentId}>
            <button
              type="button"
              className="experiments-row selectable row gap-12 wide"
              onClick={() => go({ view: 'experiments', experiment: row.experimentId })}
            >
              <b className="ellipsis grow">{row.title}</b>
              {row.damaged && <DamagedMark />}
              <span className="muted">{say.plural(row.cases, 'case')}</span>
              <span className="muted">{say.plural(row.results, 'reply', 'replies')}</span>
              {row.passed > 0 && <span className="outcome inline-row gap-4 pass">{row.passed} pass</span>}
              {row.failed > 0 && <span className="outcome inline-row gap-4 fail">{row.failed} fail</span>}
              <When at={row.updatedAt} className="muted" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
