// mcp: procedures of the contract as tools for an agent, over the Model Context Protocol on standard input and output.
// A table of tools and the server that answers them. Inputs, results and errors are those of the contract.
// Standard output carries only the protocol.
export { type McpHost, serveTools } from './server.js';
export { toolNames } from './tools.js';
