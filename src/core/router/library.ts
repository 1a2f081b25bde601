import { badRequest } from '../base/index.js';
import { foundSessions, foundSources, importedFiles, searchOutside } from '../import/index.js';
import { inSteps } from '../project/index.js';
import { os } from './procedure.js';
import { writeSampleStory } from './sample.js';

/** The procedures of `library`. */
export const libraryRouter = {
  sources: os.library.sources.handler(({ context: { session } }) => foundSources(session.engine.options.agentRoots)),
  sessions: os.library.sessions.handler(({ input, context: { session } }) => {
    const { agentRoots } = session.engine.options;
    const place = agentRoots.find(({ root }) => root === input.root);
    if (!place)
      throw badRequest(
        'root',
        `${input.root} is not a folder of an agent. The folders of agents are ${agentRoots.map(({ root }) => root).join(', ')}`,
      );
    const chain = session.openProject()?.chain;
    return [...foundSessions(place, chain ? importedFiles(chain) : () => false)];
  }),
  search: os.library.search.handler(({ input, context: { session } }) => {
    const chain = session.openProject()?.chain;
    return inSteps(searchOutside(session.engine.options.agentRoots, chain ? importedFiles(chain) : () => false, input.text));
  }),
  recent: os.library.recent.handler(({ context: { session } }) => session.engine.recent()),
  sample: os.library.sample.handler(async ({ context: { session } }) => {
    const dir = session.engine.sample();
    await writeSampleStory(session.engine.open(dir).chain);
    return { dir };
  }),
  home: os.library.home.handler(({ context: { session } }) => ({ dir: session.engine.home() })),
  allowWrite: os.library.allowWrite.handler(({ input, context: { session } }) => session.engine.outputs.allow(input.path)),
  drafts: os.library.drafts.handler(({ context: { session } }) => session.engine.drafts.list()),
  saveDraft: os.library.saveDraft.handler(({ input, context: { session } }) => {
    session.engine.drafts.save(input.key, input.text);
    return {};
  }),
  startup: os.library.startup.handler(({ context: { session } }) => {
    const { startup, platform } = session.engine.options;
    return { paths: [...startup.paths], project: startup.project, platform };
  }),
};
