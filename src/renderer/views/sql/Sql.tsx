import { useEffect, useRef, useState } from 'react';
import type { AnalysisSchema } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty, LinkButton, SearchField } from '../../parts';
import { move, useAnalysisProgress, useKept, useNavigation, useProject, useQuery } from '../../state';
import { Editor } from './Editor';
import { Result } from './Result';

const limits = { first: 200, most: 2_000 } as const;
const examples: readonly (readonly [title: string, sql: string])[] = [
  ['Cost by model', 'SELECT model, sum(calls) AS calls, round(sum(cost), 2) AS cost\nFROM costs\nGROUP BY model\nORDER BY cost DESC'],
  ['Tools that fail most', 'SELECT name, count(*) AS calls, sum(is_error) AS errors\nFROM tool_calls\nGROUP BY name\nORDER BY errors DESC\nLIMIT 20'],
  [
    'Files that were edited most',
    'SELECT path, sum(writes) AS writes, sum(reads) AS reads\nFROM files\nGROUP BY path\nORDER BY writes DESC\nLIMIT 30',
  ],
  ['Cost by day', 'SELECT day, round(sum(cost), 2) AS cost\nFROM costs\nGROUP BY day\nORDER BY day'],
];

/** The statement that was run last, by the project, so that it stays when the place is left. */
const lastRun = new Map<string, string>();

/** The SQL page: the views, a statement, and its answer. */
export function SqlView({ project }: { project: string }) {
  const address = useNavigation(({ route }) => route.sql);
  const isHere = useNavigation(({ route }) => route.view === 'sql');
  const schema = useQuery(project, () => api.analysis.schema({}));
  const [text, setText] = useState(address ?? lastRun.get(project) ?? examples[0]?.[1] ?? '');
  const [ran, setRan] = useState<{ readonly sql: string; readonly round: number; readonly limit: number }>();
  const revision = useProject((state) => state.revision);
  const asked = useRef(address);
  const run = (sql: string): void => {
    lastRun.set(project, sql);
    setText(sql);
    asked.current = sql;
    move({ sql });
    setRan((old) => ({ sql, round: (old?.round ?? 0) + 1, limit: limits.first }));
  };
  // The back button leads to an earlier statement.
  useEffect(() => {
    if (!isHere || address === undefined || address === asked.current) return;
    asked.current = address;
    setText(address);
    setRan((old) => ({ sql: address, round: (old?.round ?? 0) + 1, limit: limits.first }));
  }, [address, isHere]);
  // A statement of Usage runs at once. It only reads, in a process with limits.
  const first = useRef(address);
  useEffect(() => {
    if (first.current !== undefined) setRan({ sql: first.current, round: 1, limit: limits.first });
  }, []);
  const asking = useQuery(ran ? `${project} ${revision} ${ran.round} ${ran.limit} ${ran.sql}` : null, (signal) =>
    api.analysis.sql({ sql: ran?.sql ?? '', limit: ran?.limit ?? limits.first }, { signal }),
  );
  // The first rows stay while more are read.
  const answer = useKept(asking, `${project} ${ran?.round} ${ran?.sql}`);
  const progress = useAnalysisProgress(answer);
  const views = schema.status === 'done' ? schema.data.views : [];
  return (
    <section className="sql" aria-label="SQL">
      <div className="sql-main stack">
        <Editor text={text} views={views} isRunning={asking.status === 'loading'} onText={setText} onRun={() => run(text)} />
        {ran ? (
          <Answer
            query={answer}
            what="The statement has no answer"
            loading="Running the statement"
            progress={progress}
            stillWorks="Nothing was changed."
          >
            {(data) => (
              <Result
                answer={data}
                project={project}
                sql={ran.sql}
                onMore={data.truncated && ran.limit < limits.most ? () => setRan({ ...ran, limit: limits.most }) : undefined}
              />
            )}
          </Answer>
        ) : (
          <Empty title="Ask about all sessions">
            Rows that a SELECT statement returns appear here.
            <span className="sql-examples wrap">
              {examples.map(([title, sql]) => (
                <LinkButton key={title} label={title} onClick={() => run(sql)} />
              ))}
            </span>
          </Empty>
        )}
      </div>
      <aside className="sql-schema on-pane" aria-label="Views and columns">
        <Answer query={schema} what="Cannot list the views" loading="Listing the views">
          {({ version, views: all }) => (
            <Schema version={version} views={all} onInsert={(name) => setText((old) => `${old}${/\s$|^$/.test(old) ? '' : ' '}${name}`)} />
          )}
        </Answer>
      </aside>
    </section>
  );
}

/** The views with their columns. A click adds the name to the statement. */
function Schema({ version, views, onInsert }: { version: number; views: readonly AnalysisSchema[]; onInsert: (name: string) => void }) {
  const [sought, setSought] = useState('');
  const needle = sought.trim().toLowerCase();
  const matches = (name: string): boolean => name.includes(needle);
  return (
    <>
      <h2>Views</h2>
      <SearchField label="Filter columns" value={sought} onChange={setSought} />
      {views
        .filter(({ name, columns }) => matches(name) || columns.some((one) => matches(one.name)))
        .map(({ name, what, columns }) => (
          <details key={name} open={needle !== '' || undefined}>
            <summary>
              <code>{name}</code> <span className="muted small">{columns.length}</span>
            </summary>
            <p className="muted small">{what}</p>
            <ul>
              {columns
                .filter((one) => matches(name) || matches(one.name))
                .map((one) => (
                  <li key={one.name}>
                    <button type="button" title={`Add ${one.name} to the statement`} onClick={() => onInsert(one.name)}>
                      <code>{one.name}</code> <span className="faint small">{one.kind}</span>
                    </button>
                    <p className="muted small">{one.what}</p>
                  </li>
                ))}
            </ul>
          </details>
        ))}
      <p className="faint small">Version {version} of the views.</p>
    </>
  );
}
