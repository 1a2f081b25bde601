import type { Ticket } from '../../../core/contract/index.js';

/** An argument of the form: text, or JSON if the person chose that. */
interface ArgumentRow {
  readonly id: number;
  readonly name: string;
  readonly value: string;
  readonly as: 'text' | 'json';
}

/** A rule: this argument becomes a card of this type. */
interface RuleRow {
  readonly id: number;
  readonly argument: string;
  readonly type: string;
  readonly role: string;
}

export interface PackForm {
  /** The saved handover that it came from. */
  readonly name?: string | undefined;
  readonly source: string;
  readonly profile: string;
  readonly args: readonly ArgumentRow[];
  readonly rules: readonly RuleRow[];
  readonly boxes: readonly string[];
  readonly parent: boolean;
}

/** The argument that carries the inherited boxes. */
export const boxesArgument = 'input_box_ids';

const freshForm: PackForm = {
  source: 'user',
  profile: '',
  args: [{ id: 1, name: 'instruction', value: '', as: 'text' }],
  rules: [{ id: 1, argument: 'instruction', type: 'task.instruction', role: '' }],
  boxes: [],
  parent: true,
};

/** The form to start with: a ticket's text is the instruction, and a selected box is inherited. */
export const formFor = (ticket: Pick<Ticket, 'title' | 'body'> | undefined, box: string | undefined): PackForm => ({
  ...freshForm,
  args: freshForm.args.map((row) => (ticket ? { ...row, value: [ticket.title, ticket.body.trim()].filter(Boolean).join('\n\n') } : row)),
  boxes: box ? [box] : [],
});

/** The input of `handover.pack` and `handover.preview`. */
export interface PackFormInput {
  readonly toolSuffix: string;
  readonly sourceAgentId: string;
  readonly arguments: Record<string, unknown>;
  readonly handover: Record<string, unknown>;
}

/** Turns the form into the engine's input, or names the problem in it. */
export function readForm(form: PackForm): PackFormInput | { readonly problem: string } {
  if (form.profile === '') return { problem: 'Choose a profile first.' };
  const given: Record<string, unknown> = {};
  for (const { name, value, as } of form.args) {
    if (name.trim() === '') continue;
    if (as === 'text') given[name.trim()] = value;
    else
      try {
        given[name.trim()] = JSON.parse(value);
      } catch {
        return { problem: `The value of “${name.trim()}” is not valid JSON.` };
      }
  }
  if (form.boxes.length > 0) given[boxesArgument] = [...form.boxes];
  return {
    toolSuffix: 'by_hand',
    sourceAgentId: form.source.trim() || 'user',
    arguments: given,
    handover: {
      target_profile_config: { profile_name: form.profile },
      context_packing_config: {
        pack_arguments: form.rules.map(({ argument, type, role }) => ({
          arg_key: argument,
          ...(type && { as_card_type: type }),
          ...(role && { card_metadata: { role } }),
        })),
        inherit_context: { include_boxes_from_args: form.boxes.length > 0 ? [boxesArgument] : [], include_parent: form.parent },
      },
    },
  };
}
