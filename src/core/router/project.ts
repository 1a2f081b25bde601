import {
  backUpIfDue,
  backUpNow,
  changeSettings,
  changes,
  checkProject,
  inSteps,
  projectInfo,
  repairProject,
  reportBackups,
  setBackups,
  settingsOf,
  storageOf,
} from '../project/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `project`. */
export const projectRouter = {
  create: os.project.create.handler(({ input, context: { session } }) => projectInfo(session.use(session.engine.create(input)))),
  open: os.project.open.handler(({ input, context: { session } }) =>
    projectInfo(session.use(session.engine.open(input.dir, { repair: input.repair ?? false }))),
  ),
  trust: os.project.trust.handler(({ input, context: { session } }) => {
    const { projectId, dir } = session.engine.trust(input.dir);
    return { projectId, dir, trusted: true as const };
  }),
  info: os.project.info.handler(({ context }) => projectInfo(context.session.project())),
  changes: os.project.changes.handler(({ input, context, signal }) => changes(chainOf(context), input.after, signal)),
  settings: os.project.settings.handler(({ context }) => settingsOf(chainOf(context))),
  setSettings: os.project.setSettings.handler(({ input, context }) => changeSettings(chainOf(context), input)),
  storage: os.project.storage.handler(({ context: { session } }) => inSteps(storageOf(session.project()))),
  backups: os.project.backups.handler(({ context: { session } }) => reportBackups(session.project())),
  backUp: os.project.backUp.handler(({ input, context: { session } }) => (input.ifDue ? backUpIfDue : backUpNow)(session.project())),
  setBackups: os.project.setBackups.handler(({ input, context: { session } }) => setBackups(session.project(), input.on)),
  check: os.project.check.handler(({ input, context: { session } }) =>
    inSteps(input.repair ? repairProject(session.project()) : checkProject(session.project())),
  ),
};
