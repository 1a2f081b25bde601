import { layerSources } from '../assist/index.js';
import * as handover from '../handover/index.js';
import { readTurnInput } from '../runner/index.js';
import { reads, writes, writesUnless } from './procedure.js';

export const agentRouter = {
  register: writes.agent.register.handler(({ input, context }) => handover.registerAgent(context.chain, input)),
  get: reads.agent.get.handler(({ input, context }) => handover.toAgent(handover.requireAgent(context.chain, input.agentId))),
  turns: reads.agent.turns.handler(({ input, context }) => handover.turnsOf(context.chain, input.agentId)),
  input: writesUnless('preview').agent.input.handler(({ input, context }) => readTurnInput(context.chain, layerSources(context.project), input)),
  begin: writes.agent.begin.handler(({ input, context }) => handover.beginTurn(context.chain, input)),
  write: writes.agent.write.handler(({ input, context }) => handover.writeTurn(context.chain, input)),
  suspend: writes.agent.suspend.handler(({ input, context }) => handover.suspendTurn(context.chain, input)),
  answer: writes.agent.answer.handler(({ input, context }) => handover.answerTurn(context.chain, input)),
  submit: writes.agent.submit.handler(({ input, context }) => handover.submitTurn(context.chain, input)),
  finish: writes.agent.finish.handler(({ input, context }) => handover.finishTurn(context.chain, input)),
};
