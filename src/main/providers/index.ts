// providers: those who answer when a turn is run again: Anthropic, any OpenAI-compatible endpoint, and local servers that are found by themselves.
// Keys come from the environment or from the operating system's keeping and go into one header; they are in no message, log or store.
// A reply is passed on as it arrives; refusals, limits and broken lines become UNAVAILABLE with what the provider said.
export { openAccounts, type Vault } from './accounts.js';
export { anthropicProvider, anthropicUrl } from './anthropic.js';
export { openaiProvider } from './openai.js';
