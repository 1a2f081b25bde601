import type { DiskArea, Policy, StorageReport } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, say } from '../../parts';
import { refreshProject, useKept, useProject, useQuery } from '../../state';
import { Backing } from './Backing';
import { Check } from './Check';
import { Cleanup } from './Cleanup';

/** All but the journal stays: that is said apart. */
type StoredArea = Exclude<DiskArea, 'journal'>;

const areaNames: Record<StoredArea, readonly [name: string, hint: string]> = {
  content: ['histories', 'What was imported, captured and made: every byte of it, compressed'],
  history: ['commits and cards', 'Commits, tickets, cards, messages'],
  requests: ['requests', 'Calls to models, each part kept once'],
  search: ['search', 'The index of words: made again by a repair'],
  reading: ['outlines', 'What lets a long context open at once: made again by a repair'],
  caches: ['caches', 'Contexts that were put together: made again when they are asked for'],
  free: ['free', 'Pages that were given back: filled again before the file grows'],
  backups: ['backups', 'The database as it was before a newer Stemma opened it'],
};

const policyWords: Record<Policy, readonly [name: string, what: string]> = {
  default: ['default', 'stays as long as something names it'],
  pin: ['pinned', 'stays, whatever names it'],
  ephemeral: ['ephemeral', 'goes when its time is over'],
  replicate: ['replicated', 'is copied to the backing stores'],
};

/** The space of the open project, and what can be done about it. */
export function StorageView({ project }: { project: string }) {
  const revision = useProject(({ revision: now }) => now);
  const query = useKept(
    useQuery(`storage ${project} ${revision}`, (signal) => api.project.storage({}, { signal })),
    project,
  );
  const reread = () => void refreshProject();
  return (
    <div className="storage">
      <Answer
        query={query}
        what="What is stored cannot be weighed"
        loading="Weighing what is stored"
        stillWorks="Nothing in the project was changed."
      >
        {(report) => (
          <>
            <Weights report={report} />
            <Policies report={report} />
          </>
        )}
      </Answer>
      <Cleanup onChanged={reread} />
      <Check onChanged={reread} />
      <Backing onChanged={reread} />
    </div>
  );
}

function Weights({ report }: { report: StorageReport }) {
  const bytesOf = (wanted: DiskArea): number => report.disk.find(({ area }) => area === wanted)?.bytes ?? 0;
  const shown = (Object.keys(areaNames) as StoredArea[]).map((area) => ({ area, bytes: bytesOf(area) })).filter(({ bytes }) => bytes > 0);
  const stored = shown.reduce((sum, { bytes }) => sum + bytes, 0);
  const journal = bytesOf('journal');
  return (
    <section aria-label="Space">
      <h2>
        {say.bytes(stored)}{' '}
        <span className="muted">
          {report.logical > 0
            ? `on disk for ${say.bytes(report.logical)} of content`
            : 'on disk: no history yet, only what a project needs to take some in'}
        </span>
      </h2>
      <div className="storage-bar" aria-hidden>
        {shown.map(({ area, bytes }) => (
          <i key={area} className={`area-${area}`} style={{ flexGrow: bytes }} />
        ))}
      </div>
      <ul className="storage-areas" aria-label="Bytes on disk">
        {shown.map(({ area, bytes }) => (
          <li key={area} className={`area-${area}`}>
            <i aria-hidden />
            <b>{areaNames[area][0]}</b>
            <span className="storage-number">{say.bytes(bytes)}</span>
            <span className="muted storage-share">{say.percent(bytes / (stored || 1))}</span>
            <span className="muted storage-hint">{areaNames[area][1]}</span>
          </li>
        ))}
      </ul>
      {journal > 0 && (
        <p className="muted">Beside it {say.bytes(journal)} of journal, where the database writes first. What stands in it is counted above.</p>
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
            <b>{policyWords[policy][0]}</b>
            <span className="storage-number">{say.plural(count, 'object')}</span>
            <span className="storage-number muted">{say.bytes(bytes)}</span>
            <span className="muted storage-hint">{policyWords[policy][1]}</span>
          </li>
        ))}
      </ul>
      {gone.length > 0 && (
        <p className="muted">
          Not here anymore: {gone.map(({ why, count }) => `${say.exact(count)} ${why}`).join(', ')}. Their names, and the commits that name them,
          stay.
        </p>
      )}
    </section>
  );
}
