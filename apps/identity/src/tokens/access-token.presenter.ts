import { bool, day, instant, int, list, nullable, presenter, text } from '@rookery/api-v4';
import type { NewTokenRow, TokenRow } from './token-row';

/** Source: reference identity-and-import 4.6, 4.7; ADR 0151. */
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
  last_used_ips: [list(text), (token) => token.last_used_ips, { about: 'Up to five addresses, newest first.' }],
});

export const newAccessToken = accessToken
  .extend<NewTokenRow>('PersonalAccessTokenWithSecret')
  .fields({ token: [text, (token) => token.token] });

export const impersonationToken = accessToken
  .extend<TokenRow>('ImpersonationToken')
  .fields({ impersonation: [bool, (token) => token.impersonation] });

export const newImpersonationToken = impersonationToken
  .extend<NewTokenRow>('ImpersonationTokenWithSecret')
  .fields({ token: [text, (token) => token.token] });
