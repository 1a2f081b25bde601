import { compact, exact, tokens } from './numbers';

/** How a number of tokens was determined. The tooltip of a token number begins with one of these. */
export const basis = {
  counted: 'Counted by the provider',
  calibrated: 'Estimated, calibrated on counted calls of this model',
  estimated: 'Estimated from the length of the text',
  notRecorded: 'Not recorded: the agent wrote no count of the provider',
} as const;

/** The label for the part of a count that no record explains. */
export const unexplained = 'Counted by the provider, but no record explains it: usually the system prompt, tools and memory';

/** An estimated number of tokens, with a tooltip that says so. `bare`: without the unit. */
export const Estimate = ({ of, bare = false, className }: { of: number; bare?: boolean; className?: string }) => (
  <span className={className} title={`${basis.estimated}: about ${exact(of)} tokens`}>
    {bare ? `≈ ${compact(of)}` : tokens(of)}
  </span>
);

const utf8 = new TextEncoder();

/** Estimates the tokens of a text as the engine does: one token for four bytes. */
export const estimatedTokens = (text: string): number => Math.ceil(utf8.encode(text).length / 4);
