import * as projects from '../project/index.js';
import { live, machine, reads, scans, writes, writesIf } from './procedure.js';

/** Makes a project the one that a connection works in. */
export const workIn = (session: projects.Session, project: projects.Project) => projects.projectInfo(session.use(project).reading());

export const projectRouter = {
  create: machine.project.create.handler(({ input, context: { session } }) => workIn(session, session.engine.create(input))),
  open: machine.project.open.handler(({ input: { dir, repair = false }, context: { session } }) =>
    workIn(session, session.engine.open(dir, { repair })),
  ),
  conversion: scans.project.conversion.handler(({ input }) => projects.conversionOf(input.dir)),
  trust: machine.project.trust.handler(({ input, context: { session } }) => {
    const { projectId, dir } = session.engine.trust(input.dir);
    return { projectId, dir, trusted: true as const };
  }),
  info: reads.project.info.handler(({ context }) => projects.projectInfo(context.project)),
  changes: reads.project.changes.handler(({ input, context: { project, reading }, signal }) => {
    const now = (): typeof project => {
      const opened = reading.project();
      return opened.dir === project.dir ? opened : project;
    };
    return projects.changes(() => now().chain, input, signal);
  }),
  settings: reads.project.settings.handler(({ context }) => projects.readSettings(context.chain)),
  setSettings: writes.project.setSettings.handler(({ input, context }) => projects.changeSettings(context.chain, input)),
  storage: reads.project.storage.handler(({ context }) => projects.inSteps(projects.storageOf(context.project))),
  backups: live.project.backups.handler(({ context: { session } }) => projects.reportBackups(session.project())),
  backUp: writes.project.backUp.handler(({ input, context: { session } }) =>
    (input.ifDue ? projects.backUpIfDue : projects.backUpNow)(session.project()),
  ),
  setBackups: writes.project.setBackups.handler(({ input, context: { session } }) => projects.setBackups(session.project(), input.on)),
  check: writesIf('repair', (repair) => repair === true).project.check.handler(({ input: { repair }, context: { session } }) => {
    const project = session.project();
    return projects.inSteps(repair ? projects.repairProject(project, session.engine.options.readers) : projects.checkProject(project));
  }),
};
