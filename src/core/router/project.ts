import * as projects from '../project/index.js';
import { live, machine, reads, scans, writes, writesIf } from './procedure.js';

export const projectRouter = {
  create: machine.project.create.handler(({ input, context: { session } }) =>
    projects.projectInfo(session.use(session.engine.create(input)).reading()),
  ),
  open: machine.project.open.handler(({ input, context: { session } }) =>
    projects.projectInfo(session.use(session.engine.open(input.dir, { repair: input.repair ?? false })).reading()),
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
  check: writesIf<{ repair?: boolean | undefined }>(({ repair }) => repair === true).project.check.handler(
    async ({ input, context: { session } }) => {
      const project = session.project();
      if (!input.repair) return projects.inSteps(projects.checkProject(project));
      return projects.inSteps(projects.repairProject(project, session.engine.options.readers));
    },
  ),
};
