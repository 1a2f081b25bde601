import { finished, StemmaError } from '../base/index.js';
import { findCommit, personOf } from '../chain/index.js';
import { answerContext } from '../turns/index.js';
import { isAgent } from './parts.js';
import { tellPart } from './telling.js';
import { type CommitWork, jobTitle, quiet, type WorkKind } from './work-kind.js';

/** A context that ends with a message. An agent continues it as a branch of the person at this machine. */
export const commitWork: WorkKind<CommitWork> = {
  ...quiet,
  hasRecording: true,
  target: (chain, { commit }) => {
    const { id, summary } = findCommit(chain, commit, 'what.commit');
    return { holds: `commit:${id}`, work: `commit:${id}`, title: jobTitle(summary ?? id) };
  },
  own: (chain, _, { commit }) => ({
    continues: false,
    start: () => {
      const { id, template } = findCommit(chain, commit);
      const principal = personOf(chain);
      return { from: id, who: principal, runId: null, permitted: undefined, as: { template, principal } };
    },
    end: () => {},
  }),
  // Only a complete reply becomes a commit.
  perform: async ({ chain }, { diary, signal, performer, target }, { commit }, provider) => {
    const { id } = findCommit(chain, commit);
    const named = isAgent(performer) ? '' : performer.provider;
    const reply = answerContext(chain, { id, provider: named, model: performer.model }, provider ? [provider] : [], signal);
    const { commits } = await finished(reply, (part) => {
      if (part.kind === 'failed') throw new StemmaError('UNAVAILABLE', part.delta, { work: target.work });
      tellPart(diary.tell, part);
    });
    for (const made of commits) diary.made(made);
    signal.throwIfAborted();
    return commits.length > 0 ? 'success' : 'failed';
  },
};
