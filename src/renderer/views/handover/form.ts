import type { Ticket } from '../../../core/contract/index.js';

/** A pack as it is filled in by hand: each argument is a text, JSON where it reads as such and is asked to. */
export interface ArgumentRow {
  readonly id: number;
  readonly name: string;
  readonly value: string;
  readonly as: 'text' | 'json';
}

/** A rule: this argument becomes a card of this type. */
export interface RuleRow {
  readonly id: number;
  readonly argument: string;
  readonly type: string;
  readonly role: string;
}

export interface PackForm {
  readonly source: string;
  readonly profile: string;
  readonly args: readonly ArgumentRow[];
  readonly rules: readonly RuleRow[];
  /** Boxes to inherit, passed as the argument below. */
  readonly boxes: readonly string[];
  readonly parent: boolean;
}

export const boxesArgument = 'input_box_ids';

const freshForm: PackForm = {
  source: 'user',
  profile: '',
  args: [{ id: 1, name: 'instruction', value: '', as: 'text' }],
  rules: [{ id: 1, argument: 'instruction', type: 'task.instruction', role: '' }],
  boxes: [],
  parent: true,
};

/** What is filled in beforehand: a ticket's words are the instruction, a box that was chosen is inherited. */
export const formFor = (ticket: Pick<Ticket, 'title' | 'body'> | undefined, box: string | undefined): PackForm => ({
  ...freshForm,
  args: freshForm.args.map((row) => (ticket ? { ...row, value: [ticket.title, ticket.body.trim()].filter(Boolean).join('\n\n') } : row)),
  boxes: box ? [box] : [],
});

export interface PackInput {
  readonly toolSuffix: string;
  readonly sourceAgentId: string;
  readonly arguments: Record<string, unknown>;
  readonly handover: Record<string, unknown>;
}

/** What the engine is asked, or what is wrong with the form. */
export function inputOf(form: PackForm): PackInput | { readonly problem: string } {
  if (form.profile === '') return { problem: 'Choose the profile that it is packed for.' };
  const given: Record<string, unknown> = {};
  for (const { name, value, as } of form.args) {
    if (name.trim() === '') continue;
    if (as === 'text') given[name.trim()] = value;
    else
      try {
        given[name.trim()] = JSON.parse(value);
      } catch {
        return { problem: `The value of “${name.trim()}” is no JSON.` };
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

export const nextId = (rows: readonly { readonly id: number }[]): number => Math.max(0, ...rows.map((row) => row.id)) + 1;
