import { type Provider, providers } from '../../core/contract/index.js';
import { anthropicUrl, geminiUrl, openaiUrl } from '../providers/index.js';

/** Where the calls of each provider go on to. A path there stands before the paths of the calls. */
export type Upstreams = Readonly<Record<Provider, URL>>;

/** Where the providers are for everybody, as their own clients have it: the clients' paths follow. */
export const defaultUpstreams: Upstreams = {
  anthropic: new URL(anthropicUrl),
  openai: new URL(openaiUrl),
  gemini: new URL(geminiUrl),
};

/** `/anthropic/v1/messages?beta=true` in two: whose call it is, and the rest; undefined where it is nobody's. */
export function providerIn(target: string): { readonly provider: Provider; readonly rest: string } | undefined {
  const [, first, rest = ''] = /^\/([a-z]+)((?:[/?].*)?)$/s.exec(target) ?? [];
  const provider = providers.find((each) => each === first);
  return provider && { provider, rest };
}

/** The path at the upstream, with the query, letter for letter as the client wrote it. */
export const pathAt = (upstream: URL, rest: string): string => `${upstream.pathname.replace(/\/$/, '')}${rest}` || '/';

/** `openai=http://127.0.0.1:8000/v1` as an upstream; a sentence where it is none. */
export function upstreamOf(text: string): { readonly provider: Provider; readonly url: URL } | string {
  const [, name, address = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const provider = providers.find((each) => each === name);
  if (!provider) return `an upstream is PROVIDER=URL, where PROVIDER is one of ${providers.join(', ')}.`;
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    return `the upstream of ${provider} is an http or https address without a query or a name.`;
  return { provider, url };
}
