import { type AgentTurn, endStatuses } from '../../core/contract/index.js';
import { api } from '../client';
import { reloadAndSay } from '../parts';
import { type FormSpec, givenIn, objectIn, textIn } from '../state';
import { cardFields, cardIn, newCard } from './card';

/** The steps of a turn by hand. Each names the epoch that the window shows, so that one for an earlier epoch is refused. */
export type TurnStep = 'write' | 'suspend' | 'answer' | 'submit' | 'finish';

const of = ({ agentTurnId, turnEpoch }: AgentTurn) => ({ agentTurnId, ...(turnEpoch !== null && { turnEpoch }) });

const steps: Readonly<Partial<Record<AgentTurn['status'], readonly TurnStep[]>>> = {
  running: ['write', 'suspend', 'submit', 'finish'],
  suspended: ['answer', 'finish'],
  dispatched: ['finish'],
};

/** The steps that the state of a turn allows. */
export const stepsOf = ({ status }: Pick<AgentTurn, 'status'>): readonly TurnStep[] => steps[status] ?? [];

export const stepNames: Readonly<Record<TurnStep, string>> = {
  write: 'Write a card',
  suspend: 'Suspend',
  answer: 'Answer',
  submit: 'Submit',
  finish: 'End',
};

/** Begins a dispatched turn. */
export async function beginTurn(turn: AgentTurn): Promise<void> {
  await api.agent.begin(of(turn));
  await reloadAndSay('The turn began. Its input is fixed from now on.');
}

const stepForms: Readonly<Record<TurnStep, (turn: AgentTurn, draft: string) => FormSpec>> = {
  write: (turn, draft) => ({
    title: 'Write a card',
    intro: 'The card is added to the output box of the turn.',
    fields: cardFields('cards.0'),
    start: { ...newCard(), type: 'agent.thought' },
    action: 'Write card',
    draft,
    submit: async (values) => {
      await api.agent.write({ ...of(turn), cards: [cardIn(values)] });
      await reloadAndSay('Card written');
    },
  }),
  suspend: (turn) => ({
    title: 'Suspend the turn',
    intro: 'The turn waits until each of these tool calls has a result.',
    fields: [{ name: 'toolCallIds', label: 'Ids of the tool calls', required: true, hint: 'Separate several ids with spaces.' }],
    action: 'Suspend',
    submit: async (values) => {
      await api.agent.suspend({ ...of(turn), toolCallIds: textIn(values, 'toolCallIds').split(/[\s,]+/) });
      await reloadAndSay('The turn waits for the results');
    },
  }),
  answer: (turn, draft) => ({
    title: 'Answer a tool call',
    intro: 'The turn continues after the last result that it waits for.',
    fields: cardFields(),
    start: { ...newCard(), type: 'tool.result', role: 'tool', toolCallId: turn.waiting?.[0] ?? '' },
    action: 'Answer',
    draft,
    submit: async (values) => {
      const { turn: after } = await api.agent.answer({ ...of(turn), card: cardIn(values) });
      await reloadAndSay(after.status === 'suspended' ? `Answered. ${after.waiting?.length ?? 0} more to come.` : 'Answered. The turn continues.');
    },
  }),
  submit: (turn, draft) => ({
    title: 'Submit the result',
    intro: 'The result of the turn, as the agent would submit it. If a required field is missing, the turn continues.',
    fields: [
      { name: 'args', label: 'Result', kind: 'code', required: true, hint: 'A JSON object with the fields of the result.' },
      { name: 'toolCallId', label: 'Id of the tool call', required: true },
    ],
    start: { args: '{\n  "result": ""\n}', toolCallId: 'by-hand' },
    action: 'Submit',
    draft,
    submit: async (values) => {
      const { complete, cards } = await api.agent.submit({
        ...of(turn),
        toolCallId: textIn(values, 'toolCallId'),
        args: objectIn(values, 'args') ?? {},
      });
      await reloadAndSay(
        complete ? 'The result is complete. The turn has ended.' : `The result is not complete: ${cards.length} card explains what is missing.`,
      );
    },
  }),
  finish: (turn) => ({
    title: 'End the turn',
    intro: 'What was written stays. An ended turn does not change any more.',
    fields: [
      { name: 'status', label: 'How it ends', kind: 'choice', options: endStatuses.map((value) => ({ value, name: value })) },
      { name: 'error', label: 'What went wrong', shown: ({ status }) => status !== 'success' },
    ],
    start: { status: 'success' },
    action: 'End turn',
    submit: async (values) => {
      const status = textIn(values, 'status') as (typeof endStatuses)[number];
      await api.agent.finish({ ...of(turn), status, error: givenIn(values, 'error') });
      await reloadAndSay('The turn has ended');
    },
  }),
};

/** The form of a step. */
export const stepForm = (turn: AgentTurn, step: TurnStep): FormSpec => stepForms[step](turn, `${step} ${turn.agentTurnId}`);
