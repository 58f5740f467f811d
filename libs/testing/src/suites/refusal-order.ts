import type { Viewer } from '@rookery/kernel';
import type { Response } from 'supertest';
import { encodeBracketParams, requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

export interface RefusedEndpoint {
  readonly method: Method;
  /** A path below a parent that only its members see. */
  readonly path: string;
  /** Valid parameters, and invalid ones. */
  readonly good: Params;
  readonly bad: Params;
  readonly anonymous: Viewer;
  /** Signed in, and not a member. */
  readonly outsider: Viewer;
  /** Sees the parent, but lacks the permission; absent when everyone who sees the parent has it. */
  readonly reader?: Viewer;
  /** Has the permission. */
  readonly allowed: Viewer;
  /** Parameters are checked last, and their problems are under `message` (`authorizeFirst`). */
  readonly checksParametersLast?: true;
}

/**
 * Refusals come in one order: token 401, scope 403, parameters 400, parent 404, permission 403. An earlier one wins even
 * when later ones apply too, so that no answer reveals what the caller may not see.
 * Source: ADR 0003.
 */
export function registerRefusalOrderTests(
  app: () => TestApp,
  endpoint: () => RefusedEndpoint | Promise<RefusedEndpoint>,
): void {
  const ask = async (who: (e: RefusedEndpoint) => Viewer, params: 'good' | 'bad'): Promise<Response> => {
    const asked = await endpoint();
    const request = requestOf(app().as(who(asked)), asked.method, asked.path);
    return asked.method === 'GET' ? request.query(encodeBracketParams(asked[params])) : request.send(asked[params]);
  };

  describe('refusals', () => {
    it('begin with the missing token', async () => {
      expect((await ask((e) => e.anonymous, 'bad')).body).toEqual({ message: '401 Unauthorized' });
    });

    it('check the scope of the token next', async () => {
      const response = await ask((e) => ({ ...e.outsider, scopes: ['read_registry'] }), 'bad');
      expect([response.status, (response.body as Params)['error']]).toEqual([403, 'insufficient_scope']);
    });

    it('check parameters before any lookup, unless the endpoint checks them last', async () => {
      const asked = await endpoint();
      if (asked.checksParametersLast) {
        expect((await ask((e) => e.outsider, 'bad')).status).toBe(404);
        if (asked.reader !== undefined) expect((await ask((e) => e.reader!, 'bad')).status).toBe(403);
        const last = await ask((e) => e.allowed, 'bad');
        expect([last.status, typeof (last.body as Params)['message']]).toEqual([400, 'string']);
        return;
      }
      const response = await ask((e) => e.outsider, 'bad');
      expect([response.status, typeof (response.body as Params)['error']]).toEqual([400, 'string']);
    });

    it('do not reveal to an outsider that the resource exists', async () => {
      expect((await ask((e) => e.outsider, 'good')).status).toBe(404);
    });

    it('check the permission last', async () => {
      if ((await endpoint()).reader !== undefined) expect((await ask((e) => e.reader!, 'good')).status).toBe(403);
      expect((await ask((e) => e.allowed, 'good')).status).toBeLessThan(300);
    });
  });
}
