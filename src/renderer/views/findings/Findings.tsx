import { useEffect, useState } from 'react';
import type { Finding, FindingRule } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, say, When } from '../../parts';
import { go, useAnalysisProgress, useNavigation, useProjectQuery, useRounds } from '../../state';

const severityNames = { high: 'high', medium: 'medium', low: 'low' } as const;
const severityTones = { high: 'tone-bad', medium: 'tone-warn', low: 'muted' } as const;

/** Milliseconds between two questions while sessions are left to check. */
const pauseMs = 1_000;

/** What the rules find in all sessions: the rules with their numbers, and the findings of the chosen rule. */
export function FindingsView({ project }: { project: string }) {
  const rule = useNavigation(({ route }) => route.rule);
  const [round, askAgain] = useRounds();
  const rules = useProjectQuery(project, `${project} ${round}`, (signal) => api.finding.rules({}, { signal }));
  const shown = rules.data;
  // Each question checks some of the sessions that are left.
  useEffect(() => {
    if (!shown?.unchecked) return;
    const timer = setTimeout(askAgain, pauseMs);
    return () => clearTimeout(timer);
  }, [shown, askAgain]);
  return (
    <section className="findings" aria-label="Findings">
      <Answer
        query={rules}
        what="Cannot apply the rules"
        loading="Applying the rules to all sessions"
        progress={useAnalysisProgress(rules)}
        stillWorks="The sessions can still be read."
        lines={12}
      >
        {(data) => {
          const chosen = data.rules.find((one) => one.rule === rule);
          const total = data.rules.reduce((sum, { found }) => sum + found, 0);
          const isChecking = data.unchecked !== undefined;
          return (
            <>
              <Rules rules={data.rules} folder={data.folder} unchecked={data.unchecked ?? 0} chosen={chosen?.rule} total={total} />
              <Found key={chosen?.rule ?? ''} project={project} rule={chosen} total={chosen?.found ?? total} isChecking={isChecking} />
            </>
          );
        }}
      </Answer>
    </section>
  );
}

function Rules(props: { rules: readonly FindingRule[]; folder: string | null; unchecked: number; chosen: string | undefined; total: number }) {
  const { rules, folder, unchecked, chosen, total } = props;
  const row = (rule: string | undefined, title: string, found: number, note: string, problem?: string) => (
    <li key={rule ?? ''}>
      <button type="button" className="selectable" aria-current={chosen === rule} title={note} onClick={() => go({ rule })}>
        <span className={problem ? 'tone-bad' : found > 0 ? undefined : 'muted'}>{title}</span>
        <span className="num">{problem ? 'wrong' : say.exact(found)}</span>
      </button>
      {problem && <p className="small tone-bad breaks">{problem}</p>}
    </li>
  );
  return (
    <nav className="findings-rules on-pane" aria-label="Rules">
      <ul>
        {row(undefined, 'All rules', total, 'The findings of all rules')}
        {rules.map((one) => row(one.rule, one.title, one.found, one.what, one.problem))}
      </ul>
      {unchecked > 0 && (
        <p className="small tone-warn" role="status">
          {say.plural(unchecked, 'session')} left to check…
        </p>
      )}
      {folder !== null && (
        <p className="muted small breaks">
          Your own rules are files of SQL in <code>{folder}</code>.
        </p>
      )}
    </nav>
  );
}

const page = 200;

function Found({ project, rule, total, isChecking }: { project: string; rule: FindingRule | undefined; total: number; isChecking: boolean }) {
  const [limit, setLimit] = useState(page);
  const name = rule?.rule;
  const found = useProjectQuery(`${project} ${name}`, `${project} ${name} ${total} ${limit}`, (signal) =>
    api.finding.list({ ...(name !== undefined && { rule: name }), limit }, { signal }),
  );
  return (
    <div className="findings-list">
      <header className="findings-head">
        <h2>{rule?.title ?? 'All rules'}</h2>
        <p className="muted">
          {rule?.what ?? 'Findings are hints, not proofs: a rule sees tools, files and commands, not what they were for.'}{' '}
          {rule && <span className={severityTones[rule.severity]}>Severity: {severityNames[rule.severity]}.</span>}
        </p>
        {rule && (
          <details>
            <summary className="small">The rule as SQL{rule.isBuiltIn ? '' : ', from your folder'}</summary>
            <pre className="breaks">{rule.sql}</pre>
            <Button small label="Open in SQL" onClick={() => go({ view: 'sql', sql: rule.sql })} />
          </details>
        )}
      </header>
      {total === 0 ? (
        <Empty title={isChecking ? 'Nothing found yet' : 'Nothing found'}>
          {rule?.problem ? 'The rule is wrong, so it finds nothing.' : 'Findings with their evidence appear here.'}
        </Empty>
      ) : (
        <Answer query={found} what="Cannot list the findings" loading="Listing the findings">
          {({ findings, total: all }) => (
            <>
              <ul aria-label="Findings">
                {findings.map((one, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a rule may find one place twice
                  <FindingRow key={at} finding={one} hasTitle={rule === undefined} />
                ))}
              </ul>
              {all > findings.length && (
                <p className="findings-head row">
                  <Button small label="Show more" onClick={() => setLimit(Math.min(10_000, limit * 5))} />
                  <span className="muted small">
                    {say.exact(findings.length)} of {say.plural(all, 'finding')}
                  </span>
                </p>
              )}
            </>
          )}
        </Answer>
      )}
    </div>
  );
}

function FindingRow({ finding, hasTitle }: { finding: Finding; hasTitle: boolean }) {
  const { title, severity, sessionId, sessionTitle, commit, entryKey, at, detail } = finding;
  const open = (): void => {
    const none = { against: undefined, stop: undefined, entry: undefined };
    if (commit !== null) go({ ...none, view: 'context', session: sessionId ?? undefined, commit, entry: entryKey ?? undefined });
    else if (sessionId !== null) go({ ...none, view: 'chain', session: sessionId, commit: undefined });
  };
  return (
    <li>
      <button type="button" className="finding gap-12 line-below selectable" disabled={commit === null && sessionId === null} onClick={open}>
        <span className="grow">
          <span className="breaks">
            {hasTitle && (
              <b className={severityTones[severity]}>
                {title}
                {': '}
              </b>
            )}
            {detail}
          </span>
          <span className="muted small ellipsis finding-session">{say.firstLine(sessionTitle ?? sessionId ?? 'No session', 120)}</span>
        </span>
        {at !== null && <When at={at} className="muted small" />}
      </button>
    </li>
  );
}
