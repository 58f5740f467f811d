/** Scopes that a token of a person may carry. Source: reference identity-and-import 4.3. */
export const ADMINISTRATOR_SCOPES: readonly string[] = ['sudo', 'admin_mode', 'read_service_ping'];

export const USER_SCOPES: readonly string[] = [
  'api',
  'read_api',
  'read_user',
  'create_runner',
  'manage_runner',
  'k8s_proxy',
  'self_rotate',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
  'ai_features',
  'read_observability',
  'write_observability',
  'mcp',
];

export function scopesFor(holder: { readonly admin: boolean }): readonly string[] {
  return holder.admin ? [...USER_SCOPES, ...ADMINISTRATOR_SCOPES] : USER_SCOPES;
}
