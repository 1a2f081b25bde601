import { Pencil, Plus, ShieldCheck, Trash2 } from 'lucide-react';
import type { PolicyRule } from '../../../core/contract/index.js';
import { api } from '../../client';
import { policyLimitsForm, readTarget, ruleForm, ruleKinds } from '../../forms';
import { Answer, attempt, Button, Empty, IconButton, notifyProblem, say } from '../../parts';
import { ask, notify, useProjectQuery, useRounds } from '../../state';
import { performerName } from './words';

/** The rules for work that may start by itself on this machine. */
export function Policies({ project }: { project: string }) {
  const [round, reload] = useRounds();
  const query = useProjectQuery(project, `${project} policy ${round}`, () => api.runner.getPolicy({}));
  const remove = async (rules: readonly PolicyRule[], place: number): Promise<void> => {
    const { rules: _, ...rest } = await api.runner.getPolicy({});
    await api.runner.setPolicy({ ...rest, rules: rules.filter((__, at) => at !== place) });
    reload();
    notify('Removed. It no longer starts by itself.', {
      name: 'Undo',
      act: () => void api.runner.setPolicy({ ...rest, rules: [...rules] }).then(reload),
    });
  };
  const allow = (
    <Button look="primary" icon={Plus} label="Allow something to start" onClick={() => ask(ruleForm({ kind: 'agent', name: '' }, reload))} />
  );
  return (
    <Answer query={query} what="Cannot load the rules" loading="Loading the rules">
      {({ rules }) =>
        rules.length === 0 ? (
          <Empty title="Nothing starts by itself" picture={ShieldCheck} actions={allow}>
            Rules appear here. Without a rule, a job starts only when you press “Run here”.
          </Empty>
        ) : (
          <div className="policies stack">
            <p className="muted">The first rule that fits decides. Rules belong to this machine and are not shared with the project.</p>
            <ol aria-label="Rules">
              {rules.map((rule, place) => {
                const { kind, name } = readTarget(rule);
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity but their place
                  <li key={place} className="row gap-4">
                    <span className="grow">
                      <b>{name}</b> <span className="muted">{ruleKinds[kind]}</span>
                      <br />
                      <span className="muted">
                        {performerName(rule.performer)}
                        {rule.who && ` · only for ${rule.who}`}
                        {rule.from && ` · also from ${rule.from.map(senderName).join(', ')}`} · {limitsText(rule)}
                      </span>
                    </span>
                    <IconButton small icon={Pencil} label={`Edit the rule for ${name}`} onClick={() => ask(ruleForm({ rule, place }, reload))} />
                    <IconButton small icon={Trash2} label={`Remove the rule for ${name}`} onClick={attempt(() => remove(rules, place))} />
                  </li>
                );
              })}
            </ol>
            <div className="row wrap">
              {allow}
              <Button label="Usual limits…" onClick={() => void policyLimitsForm(reload).then(ask, notifyProblem)} />
            </div>
          </div>
        )
      }
    </Answer>
  );
}

const senderName = ({ name, isLink }: NonNullable<PolicyRule['from']>[number]): string => (isLink ? `${name} (share link)` : name);

function limitsText({ limits = {}, parallel }: PolicyRule): string {
  const parts = [
    limits.calls !== undefined && say.plural(limits.calls, 'call'),
    limits.minutes !== undefined && say.plural(limits.minutes, 'minute'),
    limits.tokens !== undefined && say.plural(limits.tokens, 'token'),
    limits.cost !== undefined && say.money({ amount: limits.cost, currency: 'USD' }),
    parallel !== undefined && `${parallel} at a time`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'usual limits';
}
