import type { ExperimentResult, ReplyCheck } from '../../../core/contract/index.js';
import { say, showValue } from '../../parts';

export const outcomeNames: Record<ExperimentResult['outcome'], string> = {
  pass: 'passes',
  fail: 'fails',
  unjudged: 'not judged',
  problem: 'no reply',
};

export const checkKinds: Record<ReplyCheck['kind'], string> = {
  contains: 'contains',
  matches: 'matches',
  json: 'matches JSON Schema',
  calls: 'calls tool',
  short: 'has at most (tokens)',
};

/** A check as a sentence without subject, for example: contains “done”. */
export function checkText(check: ReplyCheck): string {
  const not = 'absent' in check && check.absent ? 'not: ' : '';
  switch (check.kind) {
    case 'contains':
      return `${not}contains “${check.text}”`;
    case 'matches':
      return `${not}matches /${check.pattern}/${check.flags ?? ''}`;
    case 'json':
      return `matches JSON Schema ${showValue(check.schema)}`;
    case 'calls':
      return `${not}calls ${check.toolName}${check.with ? ` with ${showValue(check.with)}` : ''}`;
    case 'short':
      return `has at most ${say.exact(check.tokens)} tokens`;
  }
}

/** Makes a check from the fields of the form, or names the problem in them. */
export function checkFrom(kind: ReplyCheck['kind'], text: string, isAbsent: boolean): ReplyCheck | { readonly problem: string } {
  const absent = isAbsent ? { absent: true } : {};
  switch (kind) {
    case 'contains':
      return { kind, text, ...absent };
    case 'matches':
      return { kind, pattern: text, ...absent };
    case 'calls':
      return { kind, toolName: text.trim(), ...absent };
    case 'short': {
      const tokens = Number(text);
      return Number.isInteger(tokens) && tokens > 0 ? { kind, tokens } : { problem: 'Enter a number of tokens, such as 200.' };
    }
    case 'json':
      try {
        const schema: unknown = JSON.parse(text);
        if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return { kind, schema: schema as Record<string, unknown> };
        return { problem: 'Enter a JSON Schema object: { "type": "object", … }' };
      } catch {
        return { problem: 'Enter a JSON Schema, such as { "type": "object", "required": ["answer"] }' };
      }
  }
}
