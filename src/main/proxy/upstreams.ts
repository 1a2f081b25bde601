import { type Provider, providers } from '../../core/contract/index.js';
import { anthropicUrl, geminiUrl, openaiUrl } from '../providers/index.js';

/** The address of each provider. Its path is put before the paths of the calls. */
export type Upstreams = Readonly<Record<Provider, URL>>;

export const defaultUpstreams: Upstreams = {
  anthropic: new URL(anthropicUrl),
  openai: new URL(openaiUrl),
  gemini: new URL(geminiUrl),
};

/** Splits a path such as `/anthropic/v1/messages?beta=true` into the provider and the rest. Undefined if the path names no provider. */
export function providerIn(target: string): { readonly provider: Provider; readonly rest: string } | undefined {
  const [, first, rest = ''] = /^\/([a-z]+)((?:[/?].*)?)$/s.exec(target) ?? [];
  const provider = providers.find((each) => each === first);
  return provider && { provider, rest };
}

/** The path at the upstream with the query, exactly as the client wrote it. */
export const pathAt = (upstream: URL, rest: string): string => `${upstream.pathname.replace(/\/$/, '')}${rest}` || '/';

/** Parses an upstream such as `openai=http://127.0.0.1:8000/v1`. Returns the reason if it is invalid. */
export function parseUpstream(text: string): { readonly provider: Provider; readonly url: URL } | string {
  const [, name, address = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const provider = providers.find((each) => each === name);
  if (!provider) return `an upstream must be PROVIDER=URL, where PROVIDER is one of ${providers.join(', ')}.`;
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    return `the upstream of ${provider} must be an http or https address without a query or a user name.`;
  return { provider, url };
}
