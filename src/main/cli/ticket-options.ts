import { type Command, Option } from 'commander';
import { UsageError } from './errors.js';

/** Who writes, and from which context. With `by` alone, the engine finds that agent's context of the moment. */
export interface AuthorOptions {
  by?: string;
  context?: string;
}

/** The fields of a ticket that `create` and `update` both take. */
export interface FieldOptions extends AuthorOptions {
  type?: string;
  body?: string;
  parent?: string;
  label?: string[];
  dependsOn?: string[];
  assignee?: string;
}

/** `--by`: the name of the author. */
export const byOption = (): Option => new Option('--by <name>', 'who does this; their latest context is found by this name');
/** `--context`: the commit that the author understood. */
export const contextOption = (): Option => new Option('--context <commit>', 'the context that they had');
/** `--reason`: why a version was made. */
export const reasonOption = (): Option => new Option('--reason <text>', 'the reason; kept with the version');

/** The id of a ticket as a person types it: `3f9a12c4` means `tkt-3f9a12c4`. */
export const ticketName = (text: string): string => (text.startsWith('tkt-') ? text : `tkt-${text}`);

/** Adds the options of `FieldOptions`, except for the type. */
export const withFieldOptions = (command: Command): Command =>
  command
    .addOption(new Option('--body <text>', 'the text of the ticket'))
    .addOption(new Option('--parent <ticket>', 'the ticket above it').argParser(ticketName))
    .addOption(new Option('--label <label...>', 'labels'))
    .addOption(new Option('--depends-on <ticket...>', 'tickets that it depends on'))
    .addOption(new Option('--assignee <name>', 'who works on it'))
    .addOption(byOption())
    .addOption(contextOption());

/** The options as fields of the contract. */
export const fieldsOf = ({ type, body, parent, label, dependsOn, assignee, by, context }: FieldOptions) => ({
  ...{ type, body, parent, assignee, by },
  labels: label,
  dependsOn: dependsOn?.map(ticketName),
  contextId: context,
});

/** One of the allowed words. @throws UsageError that lists them. */
export function choice<T extends string>(allowed: readonly T[], text: string, what: string): T {
  const found = allowed.find((each) => each === text);
  if (found === undefined) throw new UsageError(`${text} is not a ${what}. Allowed: ${allowed.join(', ')}.`);
  return found;
}
