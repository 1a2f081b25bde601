// state: where the person is (address, selection, what floats) and what was read from the engine, keyed by id.
// Commits never change, so their outlines and entries are cached without a thought; lists are read again by revision.
// Views read from here and call functions from here; nothing here knows a component.
export { chainOf, readOn, useChainFacts, wholeChainLimit } from './chain';
export { entriesOf, type Outline, outlineOf, type ShownCommit, stepEntriesOf } from './contexts';
export { type ExperimentJob, experimentsChanged, startExperiment, useExperiments } from './experiments';
export { type ImportJob, runImport, useImports } from './imports';
export { listen, newest, readCapture, switchCapture, useLive } from './live';
export { go, move, route, useNavigation } from './navigation';
export { followAddress, noticeChanges, type ProjectState, refreshProject, useOpenDir, useProject } from './project';

export { type Query, useKept, useQuery } from './query';
export { createRanges, type Ranges, useRanges } from './ranges';

export { jumpTo, useReading } from './reading';
export type { Route, TicketsAs, ViewName } from './route';
export { answerQuestion, asked, type RunInput, type RunJob, startRun, useRuns } from './runs';
export type { Sample, SamplePart } from './samples';
export { setActor, type TicketAtCommit, ticketsChanged, useTickets, useTicketsAtCommits } from './tickets';
export {
  applyTheme,
  copy,
  dismiss,
  download,
  notify,
  type Sheet,
  type Side,
  setTheme,
  show,
  type ThemeChoice,
  togglePane,
  useRoom,
  useShownTheme,
  useUi,
} from './ui';
export { startWhatIf, useWhatIfs, type WhatIfInput, type WhatIfJob, type WhatIfTurn } from './whatIfs';
