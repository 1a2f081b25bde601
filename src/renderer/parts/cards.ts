import type { CardContent } from '../../core/contract/index.js';

/** The content of a card as text for rows and previews. */
export function textOfContent(content: CardContent): string {
  if (content.kind === 'text') return content.text;
  if (content.kind === 'json') return factsIn(content.data);
  return content.fields.map(({ name, description }) => (description ? `${name}: ${description}` : name)).join('\n');
}

/** Flat data as one line per field, nested data as JSON. */
function factsIn(data: unknown): string {
  const parts = typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.entries(data) : [];
  const isFlat = parts.length > 0 && parts.every(([, value]) => value === null || typeof value !== 'object');
  return isFlat ? parts.map(([name, value]) => `${name}: ${value}`).join('\n') : JSON.stringify(data);
}
