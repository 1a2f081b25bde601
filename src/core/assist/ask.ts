import { badRequest, inWords, type JsonObject, StemmaError } from '../base/index.js';
import { type Call, type ComposedCall, composeCall } from '../composer/index.js';
import { composedBody, type ModelProvider, type PreviewOf } from '../turns/index.js';

/** A call for a text about a project, with the settings of its request. */
export interface TextCall {
  readonly call: Call;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

/** The body of the request of a call for a text. */
export const textBody = (composed: ComposedCall, { parameters = {} }: TextCall, { wire, model = 'MODEL' }: PreviewOf): JsonObject =>
  composedBody(composed.messages, wire, { model, tools: [], parameters });

/** Asks a model for a text. @throws BAD_REQUEST for an unknown provider; UNAVAILABLE without a reply. */
export async function askFor(
  asked: { readonly provider: string; readonly model?: string | undefined },
  text: TextCall,
  providers: readonly ModelProvider[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const provider = providers.find((each) => each.id === asked.provider);
  if (!provider)
    throw badRequest(
      'provider',
      `unknown provider ${inWords(asked.provider)}; known providers: ${providers.map(({ id }) => id).join(', ') || '(no provider is set up)'}`,
    );
  const known = await provider.models();
  const model = asked.model ?? known.models[0];
  if (model === undefined)
    throw new StemmaError('UNAVAILABLE', `${provider.title} offers no model: ${known.problem ?? 'its list of models is empty'}`, {
      provider: provider.id,
    });
  const body = textBody(composeCall(text.call), text, { wire: provider.wire, model });
  let reply = '';
  for await (const piece of provider.stream({ model, body, headers: {} }, signal)) if (piece.kind === 'text') reply += piece.delta;
  if (reply.trim() === '' || signal?.aborted)
    throw new StemmaError('UNAVAILABLE', `${provider.title} returned no summary; nothing was changed`, { provider: provider.id });
  return reply.trim();
}
