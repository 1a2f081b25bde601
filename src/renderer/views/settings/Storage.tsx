import type { DiskArea, Policy, StorageReport } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, say } from '../../parts';
import { refreshProject, useProjectQuery } from '../../state';
import { Backups } from './Backups';
import { Check } from './Check';
import { Cleanup } from './Cleanup';

/** All areas except the journal, which is shown separately because its content is temporary. */
type StoredArea = Exclude<DiskArea, 'journal'>;

const areaNames: Record<StoredArea, readonly [name: string, hint: string, hue: string]> = {
  content: ['histories', 'Imported and captured content, compressed', 'var(--user)'],
  history: ['commits and cards', 'Commits, tickets, cards, messages', 'var(--assistant)'],
  requests: ['requests', 'Requests to models, each distinct part stored once', 'var(--accent)'],
  search: ['search', 'The full-text index. A repair rebuilds it', 'var(--tool)'],
  reading: ['outlines', 'Outlines that let long contexts open quickly. A repair rebuilds them', 'var(--thinking)'],
  caches: ['caches', 'Materialized contexts. Rebuilt when needed', 'var(--system)'],
  free: ['free', 'Free pages in the database file. Reused before the file grows', 'var(--faint)'],
  backups: ['backups', 'Copies of the database: recent ones, those from before a migration, and damaged ones that a repair replaced', 'var(--faint)'],
};

const policyNames: Record<Policy, readonly [name: string, meaning: string]> = {
  default: ['default', 'kept while something refers to it'],
  pin: ['pinned', 'always kept'],
  ephemeral: ['ephemeral', 'removed when it expires'],
  replicate: ['replicated', 'copied to the replicas'],
};

/** The storage of the open project: space, cleanup, backups and check. */
export function Storage({ project }: { project: string }) {
  const query = useProjectQuery(project, `storage ${project}`, (signal) => api.project.storage({}, { signal }));
  const backups = useProjectQuery(project, `backups ${project}`, (signal) => api.project.backups({}, { signal }));
  const reload = () => void refreshProject();
  return (
    <div className="storage">
      <Answer
        query={query}
        what="Cannot measure the storage of this project"
        loading="Measuring the storage"
        stillWorks="Nothing in the project was changed."
      >
        {(report) => (
          <>
            <Space report={report} />
            <Policies report={report} />
          </>
        )}
      </Answer>
      <Cleanup onChanged={reload} />
      <Answer query={backups} what="Cannot list the backups" loading="Loading the backups" stillWorks="Nothing in the project was changed.">
        {(report) => <Backups report={report} onChanged={reload} />}
      </Answer>
      <Check onChanged={reload} />
    </div>
  );
}

function Space({ report }: { report: StorageReport }) {
  const bytesOf = (wanted: DiskArea): number => report.disk.find(({ area }) => area === wanted)?.bytes ?? 0;
  const shown = (Object.keys(areaNames) as StoredArea[]).map((area) => ({ area, bytes: bytesOf(area) })).filter(({ bytes }) => bytes > 0);
  const stored = shown.reduce((sum, { bytes }) => sum + bytes, 0);
  const journal = bytesOf('journal');
  return (
    <section aria-label="Space">
      <h2>
        {say.bytes(stored)}{' '}
        <span className="muted">
          {report.logical > 0 ? `on disk for ${say.bytes(report.logical)} of content` : 'on disk. The project contains no history yet'}
        </span>
      </h2>
      <div className="storage-bar" aria-hidden>
        {shown.map(({ area, bytes }) => (
          <i key={area} style={{ flexGrow: bytes, background: areaNames[area][2] }} />
        ))}
      </div>
      <ul className="storage-areas" aria-label="Bytes on disk">
        {shown.map(({ area, bytes }) => (
          <li key={area}>
            <i aria-hidden style={{ background: areaNames[area][2] }} />
            <b>{areaNames[area][0]}</b>
            <span className="storage-number rigid nowrap">{say.bytes(bytes)}</span>
            <span className="muted storage-share rigid">{say.percent(bytes / (stored || 1))}</span>
            <span className="muted storage-hint">{areaNames[area][1]}</span>
          </li>
        ))}
      </ul>
      {journal > 0 && (
        <p className="muted">
          The journal takes another {say.bytes(journal)}. The database writes there first; its content is already counted above.
        </p>
      )}
    </section>
  );
}

function Policies({ report }: { report: StorageReport }) {
  const gone = report.gone.filter(({ count }) => count > 0);
  return (
    <section aria-label="Objects">
      <h3>Objects</h3>
      <ul className="storage-rows">
        {report.objects.map(({ policy, count, bytes }) => (
          <li key={policy}>
            <b>{policyNames[policy][0]}</b>
            <span className="storage-number rigid nowrap">{say.plural(count, 'object')}</span>
            <span className="storage-number rigid nowrap muted">{say.bytes(bytes)}</span>
            <span className="muted storage-hint">{policyNames[policy][1]}</span>
          </li>
        ))}
      </ul>
      {gone.length > 0 && (
        <p className="muted">
          No longer stored: {gone.map(({ why, count }) => `${say.exact(count)} ${why}`).join(', ')}. Their refs and the commits that refer to them
          stay.
        </p>
      )}
    </section>
  );
}
