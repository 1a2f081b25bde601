// engine: the process that opens projects and answers the contract. It runs as Electron's utility process, as a Node process
// next to Electron, or as a worker of the web host; never on the thread of a window or a server.
// Importing this file loads the engine into the process, which only the command line does. Hosts use `launch`.
export { startEngine } from './start.js';
