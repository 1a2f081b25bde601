import { badRequest, inWords, StemmaError } from '../base/index.js';
import { type Call, composeCall } from '../composer/index.js';
import { composedBody, type ModelProvider } from '../turns/index.js';

/** Asks a model for a text. `parameters` are settings of the call. @throws BAD_REQUEST for an unknown provider; UNAVAILABLE without a reply. */
export async function askFor(
  asked: { readonly provider: string; readonly model?: string | undefined },
  call: Call,
  providers: readonly ModelProvider[],
  signal: AbortSignal | undefined,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const provider = providers.find((each) => each.id === asked.provider);
  if (!provider)
    throw badRequest(
      'provider',
      `unknown provider ${inWords(asked.provider)}; known providers: ${providers.map((each) => each.id).join(', ') || '(no provider is set up)'}`,
    );
  const known = await provider.models();
  const model = asked.model ?? known.models[0];
  if (model === undefined)
    throw new StemmaError('UNAVAILABLE', `${provider.title} offers no model: ${known.problem ?? 'its list of models is empty'}`, {
      provider: provider.id,
    });
  const body = composedBody(composeCall(call).messages, provider.wire, { model, tools: [], parameters });
  let text = '';
  for await (const piece of provider.stream({ model, body, headers: {} }, signal)) if (piece.kind === 'text') text += piece.delta;
  if (text.trim() === '' || signal?.aborted)
    throw new StemmaError('UNAVAILABLE', `${provider.title} returned no summary; nothing was changed`, { provider: provider.id });
  return text.trim();
}
