import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import fc from 'fast-check';
import { parseRequestTarget } from '../../src/routes/raw-target';
import { RouteTable } from '../../src/routes/route-table';
import { Estate, routes } from '../support/estate';
import type { Gateway } from '../support/estate';
import { RawClient } from '../support/raw';

/** The same random paths in each run; another seed and more runs cover more. */
const RUNS = Number(process.env['GATEWAY_PATH_RUNS'] ?? 5000);
const SEED = Number(process.env['GATEWAY_PATH_SEED'] ?? 1);

/** Fastify has no wildcards at the root; services and gateway match those by the same file. */
const FIXED = Object.entries(routes).filter(([template]) => !template.startsWith('/*'));

/** A service's router, which decodes a path once. */
function createRouter(): FastifyInstance {
  const app = Fastify({ routerOptions: { maxParamLength: 10_000 } });
  for (const [template, methods] of FIXED) {
    for (const method of Object.keys(methods)) {
      const path = template.replace(/\{(\w+)\*\}/, '*').replace(/\{(\w+)\}/g, ':$1');
      app.route({
        method: method as 'GET',
        url: path,
        handler: (request, reply) => reply.send({ template, params: request.params }),
      });
    }
  }
  return app;
}

const odd = fc.constantFrom(
  ...['%2F', '%2f', '%5C', '%5c', '%2E', '%2e%2e', '..', '.', '...', '%252F', '%25', '%252e', '%00', '%0A', '%7F'],
  ...['%C3%A9', '%C0%AE', '%', '%2', '//', '\\', '#', '?', ';', ':', '@', '~', '+', '%20', '*', '{id}', '$', ',', '&'],
);
const word = fc.constantFrom(
  ...['api', 'v4', 'projects', 'issues', 'notes', 'users', 'import', 'labels', 'packages', 'maven', 'generic', 'todos'],
  ...['1', '23', 'a.b', 'x.json', '%70rojects', 'is%73ues', 'a%2Fb', 'new', 'rotate', 'slow'],
);
const segment = fc.oneof(
  { weight: 5, arbitrary: word },
  fc.tuple(word, odd, word).map((parts) => parts.join('')),
  odd,
);
const known = fc
  .constantFrom(...FIXED.map(([template]) => template))
  .chain((template) =>
    fc.tuple(...template.split('/').map((part) => (part.startsWith('{') ? segment : fc.constant(part)))),
  )
  .map((parts) => parts.join('/'));
const loose = fc.array(segment, { maxLength: 8 }).map((parts) => `/api/v4/${parts.join('/')}`);
const method = fc.constantFrom('GET', 'PUT', 'POST', 'DELETE');

describe('paths', () => {
  it('match the same template in the gateway’s router and in the service’s', async () => {
    const app = createRouter();
    await app.ready();
    const table = new RouteTable(routes);
    let routed = 0;
    await fc.assert(
      fc.asyncProperty(method, fc.oneof(known, loose), async (verb, url) => {
        const target = parseRequestTarget(url);
        if (!target) return;
        const match = table.findRoute(verb, target.segments);
        const reply = await app.inject({ method: verb as 'GET', url: target.path });
        if (match.kind !== 'route') {
          expect({ url, status: reply.statusCode }).toEqual({ url, status: 404 });
          return;
        }
        routed += 1;
        const { template, params } = reply.json<{ template: string; params: Record<string, string> }>();
        expect({ url, template }).toEqual({ url, template: match.route.template });
        // Each parameter is one raw segment, decoded once.
        const raw = target.segments;
        match.route.template
          .slice(1)
          .split('/')
          .forEach((part, index) => {
            const name = /^\{(\w+)\}$/.exec(part)?.[1];
            if (name) expect(params[name]).toBe(decodeURIComponent(raw[index] as string));
          });
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(routed).toBeGreaterThan(RUNS / 20);
    await app.close();
  }, 600_000);

  describe('through the gateway', () => {
    const estate = new Estate();
    let gateway: Gateway;
    beforeAll(async () => {
      await estate.start();
      gateway = await estate.gateway();
    });
    afterAll(() => estate.stop());
    const get = (path: string): Promise<string> =>
      RawClient.exchange(gateway.port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

    it.each([
      ['/api/v4/projects/a%2Fb%2Fc/issues', '/api/v4/projects/a%2Fb%2Fc/issues'],
      ['/api/v4//projects/1//issues/', '/api/v4/projects/1/issues'],
      ['/api/v4/projects/1/labels/a.json', '/api/v4/projects/1/labels/a.json'],
      ['/api/v4/projects/1/labels/50%25', '/api/v4/projects/1/labels/50%25'],
      ['/api/v4/projects/1/issues?search=a%2Fb+c&x[]=%00', '/api/v4/projects/1/issues?search=a%2Fb+c&x[]=%00'],
    ])('%s reaches the service as %s', async (path, url) => {
      expect(await get(path)).toMatch(/^HTTP\/1.1 200/);
      expect(estate.collaboration.last.url).toBe(url);
    });

    it.each([
      ['/api/v4/projects/a/b/issues', 404],
      ['/api/v4/projects/1/../2/issues', 400],
      ['/api/v4/projects/%2e%2e/issues', 400],
      ['/api/v4/projects/a%252Fb/issues', 400],
      ['/api/v4/projects/1%00/issues', 400],
      ['/api/v4/projects/1%zz/issues', 400],
      ['/api/v4/..%2f..%2finternal/tokens/resolve', 400],
      ['/internal/tokens/resolve', 404],
    ])('%s is refused with %d', async (path, status) => {
      const before = estate.collaboration.seen.length;
      const answer = await get(path);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer.toLowerCase()).toContain('content-type: application/json');
      expect(estate.collaboration.seen).toHaveLength(before);
    });
  });
});
