// engine: the process that holds the projects and answers the contract. It runs as Electron's utility process,
// as a plain Node process beside Electron, or as a worker of the web host; never on a thread that draws or listens.
// This door loads the engine into the process that comes through it: the command line does, hosts use `launch`.
export { startEngine } from './start.js';
