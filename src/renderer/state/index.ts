// state: the current place (address, selection, open sheet) and data loaded from the engine, cached by id.
// Commits never change, so their outlines and entries can be cached; lists reload when a revision goes up.
// Views use this folder; nothing here imports a component.

export { type ChainFacts, chainOf, continuedName, readOn, useChainFacts, useChainMap, useRowFacts, wholeChainLimit } from './chain';
export {
  askBeginning,
  type ContextOutline,
  entriesWith,
  entryRanges,
  loadOutline,
  type ShownCommit,
  stepEntriesOf,
  timelineOf,
  useCommit,
} from './contexts';
export { choosePaths, copyDiagnostics, type DesktopCommand, isDesktop, onDesktopCommand, setNotifyTurns, useNotifyTurns } from './desktop';
export { type ForkDraft, keepDraft, keepForkDraft, loadDrafts, useDrafts, useForkDraft } from './drafts';
export { draftOf, editPrompt } from './editing';
export { type ExperimentJob, experimentsChanged, startExperiment, useExperiments } from './experiments';
export {
  emptyValues,
  FieldError,
  type FormField,
  type FormOption,
  type FormProblem,
  type FormSpec,
  type FormValue,
  type FormValues,
  findField,
  givenIn,
  isYes,
  jsonIn,
  localTime,
  missingIn,
  numberIn,
  objectIn,
  optionsOf,
  picksIn,
  rowsIn,
  textIn,
  timeIn,
} from './forms';
export { type ImportJob, runImport, useImports } from './imports';
export { type JobInput, type JobLine, linesOfJob, repeatJob, startJob } from './jobs';
export { checkpointNow, chooseCheckpoints, chosenCheckpoints, listen, newest, readCapture, switchCapture, useLive, useLiveSessions } from './live';
export { type CompactionLosses, useLosses } from './losses';
export { type Making, useMaking } from './making';
export { AnswerMemory } from './memory';
export { go, move, nextAddress, openBox, openComparison, openContext, placeLink, route, useNavigation } from './navigation';
export { type TurnCount, usePlace, useTurnNumbers } from './place';
export { useAnalysisProgress } from './progress';
export { followAddress, noticeChanges, type ProjectState, refreshProject, useOpenDir, useProject } from './project';
export { type Query, useKept, useKeptQuery, useProjectQuery, useQuery } from './query';
export { createRanges, type Ranges, useRanges } from './ranges';
export { jumpTo, openHit, useCommitInView, useHit, useReading, useStep } from './reading';
export { isPage, type Route, type SettingsPage, settingsPages, type TicketsAs, type ViewName } from './route';
export { answerQuestion, asked, type RunInput, type RunJob, startRun, useRuns } from './runs';
export type { Sample, SamplePart } from './samples';
export { type ShownSeries, useSeries } from './series';
export { type SessionPage, useSessionList } from './sessions';
export { readStream } from './stream';
export { setActor, type TicketAtCommit, ticketsChanged, useTickets, useTicketsAtCommits } from './tickets';
export {
  applyTheme,
  ask,
  bytesIn,
  type ContrastChoice,
  copy,
  dismiss,
  dismissNotice,
  download,
  notify,
  type Sheet,
  setContrast,
  setTheme,
  show,
  type TextSheet,
  type ThemeChoice,
  toggleInspectorPane,
  undoLast,
  useInspectorRoom,
  useShownTheme,
  useUi,
} from './ui';
export { shownUsage, useForkUsage, useUsageOf } from './usage';
export { startWhatIf, useWhatIfs, type WhatIfInput, type WhatIfJob, type WhatIfTurn } from './whatIfs';
