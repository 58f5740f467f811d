import { registeredEndpoints, templatesOf } from '@rookery/api-v4';
import type { EndpointRecord } from '@rookery/api-v4';
import { scopesOpening, TOKEN_SCOPES } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { Response } from 'supertest';
import { requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

/**
 * Every route of a service with every scope, compared with the table of scopes: a token without a sufficient scope is
 * refused and the refusal names the sufficient scopes; a token with one is not refused for its scope. The rest of the
 * answer is not checked, and the calls do not count as tests of the route. `viewer` is an ordinary user without a token
 * id; `params` are valid parameters for endpoints that check them first, by method and template. Source: reference
 * identity-and-import 4.3, 4.4.
 */
export function registerTokenScopeTests(o: {
  readonly app: () => TestApp;
  readonly viewer: () => Viewer;
  readonly params?: Readonly<Record<string, Params>>;
}): void {
  const ask = (method: Method, template: string, scopes: readonly string[]): Promise<Response> => {
    const agent = o.app().as({ ...o.viewer(), tokenId: null, scopes }, { isUncounted: true });
    const path = template.replace(/[:*][A-Za-z_]\w*/g, '1');
    return requestOf(agent, method, path).send(o.params?.[`${method} ${template}`]);
  };

  it.each(routesOf(registeredEndpoints()))('%s %s requires the scopes of the table', async (method, template) => {
    const opening = scopesOpening(method, template.startsWith('/api/v4/') ? template.slice(7) : `/${template}`);
    const answers = await Promise.all(
      Object.keys(TOKEN_SCOPES).map(async (scope) => [scope, await ask(method, template, [scope])] as const),
    );
    const refusals = Object.fromEntries(answers.map(([scope, answer]) => [scope, scopeRefusalOf(answer, opening)]));
    const wanted = Object.keys(TOKEN_SCOPES).map((scope) => [scope, expectedScopeRefusal(scope, opening)]);
    expect(refusals).toEqual(Object.fromEntries(wanted));
    if (method !== 'GET' || opening === null) return;
    const heads = await Promise.all(['read_api', 'write_repository'].map((scope) => ask('HEAD', template, [scope])));
    const read = answers.find(([scope]) => scope === 'read_api')![1];
    expect(heads.map(({ status }) => status)).toEqual([read.status, 403]);
  });
}

function routesOf(endpoints: readonly EndpointRecord[]): [Method, string][] {
  return endpoints.flatMap((endpoint) =>
    templatesOf(endpoint).map((template): [Method, string] => [endpoint.method, template]),
  );
}

/** The body of a refusal for a missing scope; null for every other answer. A refusal as text names no scopes. */
function scopeRefusalOf(
  { status, headers, body, text, type }: Response,
  acceptedScopes: readonly string[] | null,
): unknown {
  const challenge = headers['www-authenticate'] ?? null;
  if (status !== 403) return null;
  if (type === 'text/plain' && text.includes(TOO_LITTLE))
    return { error: 'insufficient_scope', error_description: TOO_LITTLE, scope: acceptedScopes?.join(' '), challenge };
  if ((body as Params | null)?.['error'] !== 'insufficient_scope') return null;
  return { ...(body as Params), challenge };
}

const TOO_LITTLE = 'The request requires higher privileges than provided by the access token.';

function expectedScopeRefusal(scope: string, acceptedScopes: readonly string[] | null): unknown {
  if (acceptedScopes === null || acceptedScopes.includes(scope)) return null;
  return {
    error: 'insufficient_scope',
    error_description: TOO_LITTLE,
    scope: acceptedScopes.join(' '),
    challenge: null,
  };
}
