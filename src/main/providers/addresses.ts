// The public addresses of the providers, so that a person only has to set a key. The command line reads them without loading a provider.

export const anthropicUrl = 'https://api.anthropic.com';
export const openaiUrl = 'https://api.openai.com/v1';
export const geminiUrl = 'https://generativelanguage.googleapis.com';
