import * as handover from '../handover/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `agent`. */
export const agentRouter = {
  register: os.agent.register.handler(({ input, context }) => handover.registerAgent(chainOf(context), input)),
  get: os.agent.get.handler(({ input, context }) => handover.toAgent(handover.agentOf(chainOf(context), input.agentId))),
  turns: os.agent.turns.handler(({ input, context }) => handover.turnsOf(chainOf(context), input.agentId)),
  input: os.agent.input.handler(({ input, context }) => handover.turnInput(chainOf(context), input)),
  begin: os.agent.begin.handler(({ input, context }) => handover.beginTurn(chainOf(context), input)),
  write: os.agent.write.handler(({ input, context }) => handover.writeTurn(chainOf(context), input)),
  suspend: os.agent.suspend.handler(({ input, context }) => handover.suspendTurn(chainOf(context), input)),
  answer: os.agent.answer.handler(({ input, context }) => handover.answerTurn(chainOf(context), input)),
  submit: os.agent.submit.handler(({ input, context }) => handover.submitTurn(chainOf(context), input)),
  finish: os.agent.finish.handler(({ input, context }) => handover.finishTurn(chainOf(context), input)),
};
