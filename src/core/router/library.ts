import { badRequest } from '../base/index.js';
import { agentPlaces, foundSessions, foundSources, importedFiles, searchOutside } from '../import/index.js';
import { inSteps, type Reading } from '../project/index.js';
import { machine, scans } from './procedure.js';
import { writeSampleStory } from './sample.js';

const placesOf = (reading: Reading) => agentPlaces(reading.agentRoots, reading.openProject()?.chain);
const importedBy = (reading: Reading): ReturnType<typeof importedFiles> => {
  const chain = reading.openProject()?.chain;
  return chain ? importedFiles(chain) : () => false;
};

export const libraryRouter = {
  sources: scans.library.sources.handler(({ context: { reading } }) => foundSources(placesOf(reading))),
  sessions: scans.library.sessions.handler(({ input, context: { reading } }) => {
    const places = placesOf(reading);
    const place = places.find(({ root }) => root === input.root);
    if (!place)
      throw badRequest('root', `${input.root} is not a folder of an agent. The folders of agents are ${places.map(({ root }) => root).join(', ')}`);
    return [...foundSessions(place, importedBy(reading))];
  }),
  search: scans.library.search.handler(({ input, context: { reading } }) =>
    inSteps(searchOutside(placesOf(reading), importedBy(reading), input.text)),
  ),
  recent: machine.library.recent.handler(({ context: { session } }) => session.engine.recent()),
  sample: machine.library.sample.handler(async ({ context: { session } }) => {
    const dir = session.engine.sample();
    await writeSampleStory(session.engine.open(dir).chain);
    return { dir };
  }),
  home: machine.library.home.handler(({ context: { session } }) => ({ dir: session.engine.home() })),
  allowWrite: machine.library.allowWrite.handler(({ input, context: { session } }) => session.engine.outputs.allow(input.path)),
  drafts: machine.library.drafts.handler(({ context: { session } }) => session.engine.drafts.list()),
  saveDraft: machine.library.saveDraft.handler(({ input, context: { session } }) => {
    session.engine.drafts.save(input.key, input.text);
    return {};
  }),
  startup: machine.library.startup.handler(({ context: { session } }) => {
    const { startup, platform } = session.engine.options;
    return { paths: [...startup.paths], project: startup.project, link: startup.link ?? null, platform };
  }),
};
