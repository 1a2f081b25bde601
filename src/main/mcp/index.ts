// mcp: the contract as tools for an agent, over the Model Context Protocol on standard input and output.
// A table of tools and the server that answers them; what a tool takes, gives and refuses is the contract's, not its own.
// Standard output carries the protocol and nothing else.
export { type McpHost, serveTools } from './server.js';
