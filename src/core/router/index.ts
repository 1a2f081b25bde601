// router: the procedures of the contract. Each is a line that passes its input to the folder that does the work.
// One file for each namespace. Every call runs through `procedure.ts`, which handles access, replicas and errors.
// The router has no SQL and no logic of its own.
import { agentRouter } from './agent.js';
import { analysisRouter } from './analysis.js';
import { artifactRouter } from './artifact.js';
import { blameRouter } from './blame.js';
import { boxRouter } from './box.js';
import { captureRouter } from './capture.js';
import { cardRouter } from './card.js';
import { composeRouter } from './compose.js';
import { contextRouter } from './context.js';
import { desktopRouter } from './desktop.js';
import { evidenceRouter } from './evidence.js';
import { experimentRouter } from './experiment.js';
import { exportRouter } from './export.js';
import { findingRouter } from './finding.js';
import { handoverRouter } from './handover.js';
import { importRouter } from './import.js';
import { libraryRouter } from './library.js';
import { priceRouter } from './price.js';
import { base, kindIn, type ProcedureKind } from './procedure.js';
import { profileRouter } from './profile.js';
import { projectRouter } from './project.js';
import { projectsRouter } from './projects.js';
import { providerRouter } from './provider.js';
import { replicaRouter } from './replica.js';
import { requestRouter } from './request.js';
import { runRouter } from './run.js';
import { runnerRouter } from './runner.js';
import { searchRouter } from './search.js';
import { branchRouter, sessionRouter } from './session.js';
import { sourceRouter } from './source.js';
import { spaceRouter } from './space.js';
import { teamRouter } from './team.js';
import { templateRouter } from './template.js';
import { ticketRouter } from './ticket.js';
import { timelineRouter } from './timeline.js';
import { turnRouter } from './turn.js';
import { usageRouter } from './usage.js';

export { asRefusal } from './errors.js';
export { contextOf, type ProcedureKind, type RouterContext } from './procedure.js';

/** Every procedure of the contract. */
export const router = base.router({
  project: projectRouter,
  artifact: artifactRouter,
  template: templateRouter,
  replica: replicaRouter,
  team: teamRouter,
  context: contextRouter,
  export: exportRouter,
  import: importRouter,
  capture: captureRouter,
  source: sourceRouter,
  session: sessionRouter,
  branch: branchRouter,
  library: libraryRouter,
  ticket: ticketRouter,
  timeline: timelineRouter,
  space: spaceRouter,
  run: runRouter,
  runner: runnerRouter,
  search: searchRouter,
  card: cardRouter,
  box: boxRouter,
  profile: profileRouter,
  handover: handoverRouter,
  agent: agentRouter,
  projects: projectsRouter,
  compose: composeRouter,
  request: requestRouter,
  provider: providerRouter,
  experiment: experimentRouter,
  turn: turnRouter,
  usage: usageRouter,
  desktop: desktopRouter,
  price: priceRouter,
  analysis: analysisRouter,
  evidence: evidenceRouter,
  finding: findingRouter,
  blame: blameRouter,
});

/** The kind of a procedure, by its path such as `['context', 'fork']`. @throws Error for a procedure that says none. */
export function kindOf(path: readonly string[]): ProcedureKind {
  const procedure = path.reduce<unknown>((node, name) => (node as Readonly<Record<string, unknown>>)[name], router);
  const kind = kindIn((procedure as { readonly '~orpc': { readonly middlewares: readonly object[] } })['~orpc'].middlewares);
  if (!kind) throw new Error(`${path.join('.')} does not say whether it reads or writes`);
  return kind;
}
