// system: processes, terminals and access lists of Linux, macOS and Windows: the only folder that starts programs, sends signals, and
// knows where a system keeps its own. The pure parts (paths, names, quotes) are in core/system. Each function that decides something takes
// the system as an argument, so that all three are tested on any of them.
export { protectFiles } from './access.js';
export { endProcess, goFirst, goSecond, isRoot, isRunning, limitMemory, processesIn } from './processes.js';
export { findProgram, launchOf, type ProgramSearch } from './programs.js';
export { type Ended, endBySignal, endLike, forwardSignals, onEndSignal, onReload } from './signals.js';
export { type Piped, programOutput, runBeside, runForPerson, runShell, setVariables, startPiped } from './start.js';
export { openTerminal, terminalFor } from './terminals.js';
export { wslHomes } from './wsl.js';
