const isPlan = /^Implement the following plan:?\s*$/i;

/** The heading of the plan that a prompt asks to implement; undefined for any other prompt and for a plan without words. */
export function planHeading(prompt: string): string | undefined {
  const lines = prompt.split('\n').map((line) => line.trim());
  if (!isPlan.test(lines.find((line) => line !== '') ?? '')) return undefined;
  const heading = lines.find((line) => /^#{1,6}\s+\S/.test(line)) ?? lines.filter((line) => line !== '')[1];
  return heading?.replace(/^#{1,6}\s+/, '').replace(/^Plan:\s*/i, '');
}
