import { scopesOf } from '@rookery/kernel';

/** Scopes that the token of a group or project may carry. Source: reference identity-and-import 4.3. */
export const RESOURCE_SCOPES: readonly string[] = scopesOf('bot');

/** Scopes that anybody may give himself: they open next to nothing. Source: reference identity-and-import 4.7. */
export const OWN_SCOPES: readonly string[] = ['k8s_proxy', 'self_rotate'];

/** Scopes that a token of a person or a service account may carry. */
export function scopesFor(holder: { readonly admin: boolean }): readonly string[] {
  return scopesOf(holder.admin ? 'administrator' : 'person');
}
