// mcp: procedures of the contract as tools for an agent, over the Model Context Protocol on standard input and output.
// A table of tools and the server that answers their calls. Inputs, results and errors are the same as in the contract.
// Nothing but the protocol is written to standard output.
export { type McpHost, serveTools } from './server.js';
export { toolNames } from './tools.js';
