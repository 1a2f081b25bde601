import { findNodeAtLocation, getNodeValue, type JSONPath, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/** The events of Claude Code after which the transcript has new content. */
export const hookEvents = ['Stop', 'SubagentStop', 'PreCompact', 'SessionEnd'] as const;

/** Seconds after which the agent abandons a hook: most take less than one, but one waits while another process writes to the project. */
const timeout = 10;

/** Whether `stemma hook --install` wrote this command, for any program path and project. */
const isOurs = (command: unknown): boolean => typeof command === 'string' && /(^|[\s/\\])stemma(\.js)?['"]?\s+hook(\s|$)/.test(command);

/** Adds hooks that run the command, in place of earlier ones. All other bytes stay. @throws Error that names the place of a mistake. */
export function withHooks(settings: string, command: string): string {
  let text = withoutHooks(settings.trim() === '' ? '{}\n' : settings);
  if (!at(text, ['hooks'])) text = added(text, [], '"hooks": {}');
  for (const event of hookEvents) {
    if (!at(text, ['hooks', event])) text = added(text, ['hooks'], `"${event}": []`);
    text = added(text, ['hooks', event], JSON.stringify({ hooks: [{ type: 'command', command, timeout }] }, null, 1));
  }
  return text;
}

/** Removes the hooks that `withHooks` added, and lists and objects that become empty. */
export function withoutHooks(settings: string): string {
  let text = settings;
  for (const event of eventsIn(text)) {
    const groups = (at(text, ['hooks', event])?.children ?? []).map((node) => getNodeValue(node) as { hooks?: unknown } | null);
    for (const [group, value] of [...groups.entries()].reverse()) {
      const hooks: readonly { command?: unknown }[] = Array.isArray(value?.hooks) ? value.hooks : [];
      const ours = [...hooks.keys()].filter((place) => isOurs(hooks[place]?.command)).reverse();
      if (ours.length > 0 && ours.length === hooks.length) text = removed(text, ['hooks', event, group]);
      else for (const place of ours) text = removed(text, ['hooks', event, group, 'hooks', place]);
    }
    if (groups.length > 0 && at(text, ['hooks', event])?.children?.length === 0) text = removed(text, ['hooks', event]);
  }
  return text !== settings && eventsIn(text).length === 0 ? removed(text, ['hooks']) : text;
}

const at = (text: string, path: JSONPath): Node | undefined => findNodeAtLocation(treeOf(text), path);
const eventsIn = (text: string): readonly string[] => (at(text, ['hooks'])?.children ?? []).map(({ children }) => children?.[0]?.value);

/** The command of the hooks that `withHooks` added; undefined if the settings contain no such hook. */
export function hookCommandIn(settings: string): string | undefined {
  const groups = (at(settings, ['hooks'])?.children ?? []).flatMap(({ children }) => getNodeValue(children?.[1] as Node));
  return groups.flatMap((group) => (Array.isArray(group?.hooks) ? group.hooks : [])).find((hook) => isOurs(hook?.command))?.command;
}

function treeOf(text: string): Node {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (!tree || error)
    throw new Error(`it is not JSON${error ? ` (${printParseErrorCode(error.error)} at ${describePlace(text, error.offset)})` : ''}`);
  if (tree.type !== 'object') throw new Error('it is JSON, but not an object');
  const hooks = findNodeAtLocation(tree, ['hooks']);
  if (hooks && hooks.type !== 'object') throw new Error('`hooks` is not an object');
  const odd = hooks?.children?.find(({ children }) => children?.[1]?.type !== 'array')?.children?.[0]?.value;
  if (odd !== undefined) throw new Error(`\`hooks.${odd}\` is not a list`);
  return tree;
}

function describePlace(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

const endOffset = ({ offset, length }: Node): number => offset + length;

/** Appends a member to an object or list, on separate lines with the indentation of the other members. Changes no other byte. */
function added(text: string, path: JSONPath, member: string): string {
  const within = at(text, path) as Node;
  const { eol, unit } = styleOf(text);
  const outer = /[^\S\n]*/.exec(text.slice(text.lastIndexOf('\n', within.offset) + 1))?.[0] ?? '';
  const indent = `${eol}${outer}${unit}`;
  const lines = member.replaceAll(/\n( *)/g, (_, depth: string) => indent + unit.repeat(depth.length));
  const last = within.children?.at(-1);
  if (last) return `${text.slice(0, endOffset(last))},${indent}${lines}${text.slice(endOffset(last))}`;
  const inside = text.slice(within.offset + 1, endOffset(within) - 1);
  const rest = inside.trim() === '' ? `${eol}${outer}` : inside;
  return `${text.slice(0, within.offset + 1)}${indent}${lines}${rest}${text.slice(endOffset(within) - 1)}`;
}

/** Removes a member of an object or list with its comma and the white space between. A comment next to the member stays. */
function removed(text: string, path: JSONPath): string {
  const value = at(text, path) as Node;
  const member = value.parent?.type === 'property' ? value.parent : value;
  const within = member.parent as Node;
  const siblings = within.children ?? [];
  const place = siblings.indexOf(member);
  const [before, after] = [siblings[place - 1], siblings[place + 1]];
  const [start, end] = before ? [endOffset(before), endOffset(member)] : [member.offset, after ? after.offset : endOffset(member)];
  const gap = before ? text.slice(start, member.offset) : text.slice(endOffset(member), end);
  const kept = gap.trim() === ',' ? '' : gap.replace(',', '');
  const left = text.slice(0, start) + kept + text.slice(end);
  if (before || after) return left;
  // Nothing is left in the object or list, so its white space goes too.
  const close = endOffset(within) - 1 - (text.length - left.length);
  return left.slice(within.offset + 1, close).trim() === '' ? left.slice(0, within.offset + 1) + left.slice(close) : left;
}

function styleOf(text: string): { readonly unit: string; readonly eol: string } {
  return { unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' };
}
