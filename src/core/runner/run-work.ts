import { conflict } from '../base/index.js';
import { findCommit } from '../chain/index.js';
import type { Run } from '../contract/index.js';
import { commitTimeline, finishRun, getRun, invokeRun, listRuns } from '../timeline/index.js';
import { servedTo } from './agent-tools.js';
import { converse } from './converse.js';
import { noteTip, tipOfWork } from './jobs.js';
import { composeRun, profileOfEntity, runKey, shownRun } from './run-call.js';
import { jobTitle, modelOf, quiet, type RunWork, type WorkKind } from './work-kind.js';

export const runWork: WorkKind<RunWork> = {
  ...quiet,
  target: (chain, { runId: id }) => {
    const run = getRun(chain, id);
    const { runId, entityId, status, trigger, activeSpaceId } = run;
    if (status !== 'running') throw conflict(`The run ${runId} is ${status}: only a running run can be carried out.`, { id: runId, status });
    return {
      holds: `agent:${entityId}`,
      work: runKey(run),
      title: jobTitle(titleOf(trigger)),
      who: entityId,
      space: activeSpaceId ?? (trigger.type === 'space_message' ? trigger.space.id : null),
    };
  },
  open: (chain, { for: of, who }) => {
    if (!('space' in of || 'plan' in of)) return [];
    const isCovered = ({ trigger, activeSpaceId, entityId }: Run): boolean => {
      if (who !== undefined && entityId !== who) return false;
      if ('plan' in of) return trigger.type === 'plan' && (trigger.plan.name === of.plan || trigger.plan.id === of.plan);
      return trigger.type === 'space_message' ? trigger.space.id === of.space : activeSpaceId === of.space;
    };
    const runs = listRuns(chain, { status: 'running' }).filter(isCovered);
    return runs.toReversed().map(({ runId }) => ({ runId }));
  },
  source: (chain, { runId }) => {
    const { trigger } = getRun(chain, runId);
    return trigger.type === 'space_message' ? { who: trigger.sender.id, at: Date.parse(trigger.timestamp) } : undefined;
  },
  isCanceled: (chain, { runId }) => getRun(chain, runId).status === 'canceled',
  own: (chain, { jobId, target, tools: limit }, { runId }) => ({
    continues: true,
    start: () => {
      const { entityId, status } = getRun(chain, runId);
      if (status !== 'running') return undefined;
      const begin = () =>
        chain.artifacts.transaction(() => {
          const { tools, budget, asRoles } = shownRun({ chain, tools: limit }, entityId);
          const made = commitTimeline(chain, runId, { after: tipOfWork(chain, `run:${runId}:`, true), tools, budget, asRoles });
          noteTip(chain, jobId, made);
          return made;
        });
      const from = tipOfWork(chain, target.work) ?? begin();
      const { template, threadId } = findCommit(chain, from);
      const permitted = servedTo(profileOfEntity(chain, entityId), 'run');
      return { from, who: entityId, runId, permitted, as: { template, principal: entityId, ...(threadId !== null && { threadId }) } };
    },
    end: ({ status, text, tip, pauses }) => {
      const run = getRun(chain, runId);
      // An agent that waits for an answer ends its turn. The run continues when the answer comes.
      const waits = status === 'completed' && run.status === 'waiting_reply';
      if (pauses || waits || run.endedAt !== null) return;
      finishRun(chain, { runId, status: status === 'partial' ? 'failed' : status, output: text, context: tip });
    },
  }),
  perform: (parts, work, what, provider) => {
    const { chain, layers } = parts;
    const profile = profileOfEntity(chain, getRun(chain, what.runId).entityId);
    return converse(parts, work, runWork.own(chain, work, what), {
      provider: modelOf(provider),
      profile,
      offeredFor: 'run',
      compose: (commit) => {
        invokeRun(chain, what.runId);
        return composeRun({ chain, tools: work.tools, layers, sharing: work.enableShareContext }, what.runId, commit);
      },
    });
  },
};

function titleOf(trigger: Run['trigger']): string {
  if (trigger.type === 'space_message') return trigger.message ?? '';
  return trigger.type === 'plan' ? (trigger.instruction ?? '') : trigger.service;
}
