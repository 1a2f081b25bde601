// providers: those who answer when a turn is run again: Anthropic, OpenAI (chat completions and responses), Gemini, and servers on this machine.
// Keys come from the environment or from the operating system's keeping and go into one header; they are in no message, log or store.
// A reply is passed on as it arrives; refusals, limits and broken lines become UNAVAILABLE with what the provider said.
export { openAccounts } from './accounts.js';

export { anthropicProvider, anthropicUrl } from './anthropic.js';
export { geminiProvider, geminiUrl } from './gemini.js';
export { openaiProvider } from './openai.js';
export { openaiUrl, responsesProvider } from './responses.js';
