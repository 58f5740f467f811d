import { bool, day, instant, int, list, nullable, presenter, text, choice } from '@rookery/api-v4';
import type { NewTokenRow, TokenRow } from './access-token.entity';
import type { NewResourceTokenRow, ResourceTokenRow } from './resource/resource-tokens.queries';

/** Source: reference identity-and-import 4.6, 4.7. */
export const accessToken = presenter<TokenRow>('PersonalAccessToken').fields({
  id: [int, (token) => token.id],
  name: [text, (token) => token.name],
  revoked: [bool, (token) => token.revoked],
  created_at: [instant, (token) => token.created_at],
  description: [nullable(text), (token) => token.description],
  scopes: [list(text), (token) => token.scopes],
  user_id: [int, (token) => token.user_id],
  last_used_at: [nullable(instant), (token) => token.last_used_at],
  active: [bool, (token) => token.active],
  expires_at: [nullable(day), (token) => token.expires_on],
  last_used_ips: [list(text), (token) => token.last_used_ips, { about: 'Up to five IP addresses, newest first.' }],
});

export const newAccessToken = accessToken
  .extend<NewTokenRow>('PersonalAccessTokenWithSecret')
  .fields({ token: [text, (token) => token.token, { shownOnce: true }] });

export const impersonationToken = accessToken
  .extend<TokenRow>('ImpersonationToken')
  .fields({ impersonation: [bool, (token) => token.impersonation] });

export const newImpersonationToken = impersonationToken
  .extend<NewTokenRow>('ImpersonationTokenWithSecret')
  .fields({ token: [text, (token) => token.token, { shownOnce: true }] });

/** Source: requirements 2 §2 Group access token; reference identity-and-import 4.9. */
export const resourceToken = accessToken.extend<ResourceTokenRow>('ResourceAccessToken').fields({
  access_level: [int, (token) => token.member_level ?? token.access_level],
  resource_type: [choice('project', 'group'), (token) => token.resource_type],
  resource_id: [int, (token) => token.resource_id],
});

export const newResourceToken = resourceToken
  .extend<NewResourceTokenRow>('ResourceAccessTokenWithSecret')
  .fields({ token: [text, (token) => token.token, { shownOnce: true }] });
