import { int, text } from '@rookery/api-v4';
import { accessToken } from '../tokens/access-token.presenter';
import type { NewResourceTokenRow, ResourceTokenRow } from './resource-token-row';

/** Source: reference identity-and-import 4.9; requirements 2 §2 Group access token. */
export const resourceToken = accessToken.extend<ResourceTokenRow>('ResourceAccessToken').fields({
  access_level: [int, (token) => token.member_level ?? token.access_level],
  resource_type: [text, (token) => token.resource_type],
  resource_id: [int, (token) => token.resource_id],
});

export const newResourceToken = resourceToken
  .extend<NewResourceTokenRow>('ResourceAccessTokenWithSecret')
  .fields({ token: [text, (token) => token.token] });
