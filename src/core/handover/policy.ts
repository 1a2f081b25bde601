import { isObject, type Json, StemmaError } from '../base/index.js';
import type { Card } from '../contract/index.js';

/**
 * Checks the delegation policy of the caller's profile (H9). `delegation_policy.target_profiles` lists allowed profiles by
 * exact name, null for any. `target_tags` needs one common tag. A profile without a policy allows everything.
 * @throws UNAUTHORIZED
 */
export function allowDelegation(caller: Card | undefined, target: { readonly name: string; readonly card: Card | undefined }): void {
  const policy = readData(caller).delegation_policy;
  if (policy === undefined) return;
  const denied = (why: string): Error =>
    new StemmaError('UNAUTHORIZED', `the delegation policy of the caller's profile does not let it delegate to ${target.name}: ${why}`, {
      profile: target.name,
    });
  if (!isObject(policy)) throw denied('delegation_policy is not an object');
  const { target_profiles: profiles = null, target_tags: tags } = policy;
  if (profiles !== null && !listed(profiles).includes(target.name)) throw denied('the profile is not among target_profiles');
  const wanted = listed(tags);
  if (wanted.length > 0 && !tagsOf(target.card).some((tag) => wanted.includes(tag))) throw denied('the profile has none of target_tags');
}

const listed = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const readData = (card: Card | undefined): Readonly<Record<string, Json>> =>
  card?.content.kind === 'json' && isObject(card.content.data) ? card.content.data : {};
const tagsOf = (card: Card | undefined): readonly Json[] => [...listed(readData(card).tags), ...listed(card?.metadata.tags as Json | undefined)];
