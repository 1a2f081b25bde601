// The public addresses of the providers, so that a person only has to set a key. The command line reads them without loading a provider.

/** The Messages API of Anthropic. */
export const anthropicUrl = 'https://api.anthropic.com';
/** The API of OpenAI. */
export const openaiUrl = 'https://api.openai.com/v1';
/** The API of Gemini. */
export const geminiUrl = 'https://generativelanguage.googleapis.com';
