import type { WriteChain } from '../chain/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';
import { inputOf, turnInput, turnNamed } from '../handover/index.js';
import { composedBody } from '../turns/index.js';
import type { RunnerParts } from './parts.js';
import { optionsOf } from './turn.js';

/** The input of a turn's model now (`agent.input`), with the body of the request if the call names a wire. @throws NOT_FOUND */
export function readTurnInput(chain: WriteChain, layers: RunnerParts['layers'], given: InputOf<'agent.input'>): OutputOf<'agent.input'> {
  const options = { ...optionsOf({ chain, layers }, turnNamed(chain, given.agentTurnId)), ...given };
  const input = turnInput(chain, options);
  if (given.wire === undefined) return input;
  const { composed, sent } = inputOf(chain, turnNamed(chain, given.agentTurnId), options);
  const model = String(sent.parameters.model ?? 'MODEL');
  return { ...input, body: composedBody(composed.messages, given.wire, { model, tools: (sent.tools ?? []) as never, parameters: sent.parameters }) };
}
