import { scopesOpening, TOKEN_SCOPES } from '@rookery/kernel';
import { request } from 'undici';
import { aboutDocument } from '../../src/routes/about.document';
import { Estate } from '../support/estate';
import type { Gateway } from '../support/estate';
import { aHolder } from '../support/fake-identity';

/**
 * Compares the gateway's own routes, called with every scope, with the table of scopes.
 * Source: reference identity-and-import 4.3.
 */
describe('the gateway’s own routes', () => {
  const estate = new Estate();
  let gateway: Gateway;
  beforeAll(async () => {
    await estate.start();
    for (const [index, scope] of Object.keys(TOKEN_SCOPES).entries()) {
      estate.identityInside.give(scope, aHolder({ token_id: 1000 + index, scopes: [scope] }));
    }
    gateway = await estate.gateway();
  });
  afterAll(() => estate.stop());

  const ask = async (method: 'GET' | 'HEAD', path: string, scope: string) => {
    const answer = await request(`${gateway.url}${path}`, { method, headers: { 'private-token': scope } });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).startsWith('application/json') && text !== '';
    return { status: answer.statusCode, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : null };
  };

  it.each(Object.keys(aboutDocument.paths ?? {}))('GET %s requires the scopes of the table', async (path) => {
    const opening = scopesOpening('GET', path.startsWith('/api/v4/') ? path.slice(7) : `/${path}`);
    for (const scope of Object.keys(TOKEN_SCOPES)) {
      const { status, body } = await ask('GET', path, scope);
      if (opening === null || opening.some((name) => name === scope)) {
        expect([scope, body?.['error']]).toEqual([scope, undefined]);
      } else {
        expect([scope, status, body]).toEqual([
          scope,
          403,
          {
            error: 'insufficient_scope',
            error_description: 'The request requires higher privileges than provided by the access token.',
            scope: opening.join(' '),
          },
        ]);
      }
      if (opening !== null) expect((await ask('HEAD', path, scope)).status).toBe(status);
    }
  });
});
