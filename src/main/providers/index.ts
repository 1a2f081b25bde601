// providers: the model providers that answer when a turn is run again: Anthropic, OpenAI (chat completions and responses), Gemini, and local servers.
// Keys come from the environment or the operating system's key store and go into one header; no message, log or store contains them.
// A reply is passed on as it arrives; refusals, limits and broken connections become UNAVAILABLE with the provider's message.
export { openAccounts } from './accounts.js';

export { anthropicUrl, geminiUrl, openaiUrl } from './addresses.js';
export { anthropicProvider } from './anthropic.js';
export { geminiProvider } from './gemini.js';
export { openaiProvider } from './openai.js';
export { responsesProvider } from './responses.js';
