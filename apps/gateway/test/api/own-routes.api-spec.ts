import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0.json';
import { EVENTS } from '@rookery/contracts';
import { recordTestedRoute, writeRouteTestCounts } from '@rookery/testing';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { request } from 'undici';
import { aHolder } from '../support/fake-identity';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';

describe('the gateway’s own routes', () => {
  const estate = new Estate();
  let gateway: Gateway;
  let management: Server;
  let notReady = '';
  beforeAll(async () => {
    await estate.start();
    estate.identityInside.give('reader', aHolder({ scopes: ['read_user'] }));
    estate.identityInside.give('rotator', aHolder({ token_id: 71, scopes: ['self_rotate'] }));
    management = createServer((incoming, response) => {
      response.statusCode = notReady !== '' && (incoming.url ?? '').startsWith(`/${notReady}/`) ? 503 : 200;
      response.end();
    });
    await new Promise<void>((resolve) => management.listen(0, '127.0.0.1', resolve));
    const at = `http://127.0.0.1:${(management.address() as AddressInfo).port}`;
    gateway = await estate.gateway(
      Object.fromEntries(
        ['identity', 'collaboration', 'import', 'package', 'admin'].map((name) => [
          `GATEWAY_MANAGEMENT_${name.toUpperCase()}`,
          `${at}/${name}`,
        ]),
      ),
    );
  });
  afterAll(async () => {
    writeRouteTestCounts('gateway');
    await estate.stop();
    management.closeAllConnections();
    management.close();
  });
  const isReady = async () => (await get('/-/health/ready')).status === 200;
  const get = async (path: string, token?: string) => {
    recordTestedRoute({ method: 'GET', path });
    const answer = await request(`${gateway.url}${path}`, { headers: token ? { 'private-token': token } : {} });
    return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as object };
  };

  it('is live', async () => {
    expect(await get('/-/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it('is ready when all services are, and names services that are not', async () => {
    await eventually(isReady);
    expect(await get('/-/health/ready')).toMatchObject({ status: 200, body: { status: 'ok' } });
    notReady = 'package';
    await eventually(async () => !(await isReady()));
    expect(await get('/-/health/ready')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { status: 'unavailable', reasons: { package: 'not ready' } },
    });
    notReady = '';
    await eventually(isReady);
  });

  it('ignores credentials for health checks, valid or not', async () => {
    expect((await get('/-/health/live', 'nobody')).status).toBe(200);
  });

  it.each(['/api/v4/version', '/api/v4/metadata', '/api/v4//version/'])(
    'returns %s to signed-in callers',
    async (path) => {
      const answer = await get(path, 'reader');
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['x-request-id']).toMatch(/./);
      expect(answer.headers['cache-control']).toBe('max-age=0, private, must-revalidate');
      expect(answer.body).toMatchObject({
        version: expect.stringMatching(/^\d+\.\d+\.\d+-ee$/),
        revision: 'development',
      });
      expect(await get(path)).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } });
      expect(await get(path, 'rotator')).toMatchObject({
        status: 403,
        body: { error: 'insufficient_scope', scope: 'api read_api read_user' },
      });
    },
  );

  it('reports no agent server in the metadata', async () => {
    const { body } = await get('/api/v4/metadata', 'reader');
    expect(body).toMatchObject({ enterprise: true, kas: { enabled: false, externalUrl: null, version: null } });
  });

  it('serves the merged document to anonymous callers', async () => {
    const { status, body } = await get('/api/v4/openapi.json');
    expect(status).toBe(200);
    expect(body).toMatchObject({ openapi: '3.1.0', paths: { '/api/v4/version': { get: {} } } });
  });

  it('counts its requests', async () => {
    await get('/api/v4/nothing').catch(() => undefined);
    const { body } = await gateway.metrics.text();
    expect(body).toMatch(/rookery_gateway_requests_total\{service="gateway",status="200"\} \d+/);
    expect(body).toMatch(/rookery_gateway_token_checks_total\{by="identity"\} \d+/);
  });

  describe('documents', () => {
    const open = async (path: string) => {
      recordTestedRoute({ method: 'GET', path: path.replace(/(?<=^\/-\/docs\/assets\/).+/, '{file}') });
      const answer = await request(`${gateway.url}${path}`, { headers: { accept: 'text/html' } });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    };

    it('has an AsyncAPI document of all events that the official schema accepts', async () => {
      const { status, body } = await get('/api/v4/asyncapi.json');
      expect(status).toBe(200);
      const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
      addFormats(ajv);
      const isValid = ajv.compile(asyncApiSchema);
      expect([isValid(body), isValid.errors]).toEqual([true, null]);
      const { channels, components } = body as {
        channels: object;
        components: { messages: Record<string, AsyncApiMessage> };
      };
      expect(Object.keys(channels)).toEqual([...EVENTS.keys()].toSorted((a, b) => a.localeCompare(b)));
      const { envelope, errors } = validateSamples(components.messages, body);
      expect([envelope, errors]).toEqual([EVENTS.size, []]);
    });

    it('shows the API as a page with files of its own', async () => {
      const { status, headers, text } = await open('/-/docs');
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy']).toContain("script-src 'self'");
      const files = [...text.matchAll(/(?:src|href)="(\/-\/docs\/assets\/[^"]+)"/g)].map(([, path]) => path!);
      expect(files).toHaveLength(3);
      for (const path of files) expect((await open(path)).status).toBe(200);
      expect(text).not.toMatch(/https?:\/\//);
    });

    it.each(['package.json', 'constructor', 'toString', 'swagger-ui.js'])('has no file %s', async (name) => {
      expect((await open(`/-/docs/assets/${name}`)).status).toBe(404);
    });

    it('shows the events as a page without scripts', async () => {
      const { status, headers, text } = await open('/-/docs/events');
      expect([status, headers['x-frame-options']]).toEqual([200, 'DENY']);
      expect(headers['content-security-policy']).not.toContain('script-src');
      for (const subject of EVENTS.keys()) expect(text).toContain(`id="${subject}"`);
    });
  });
});

interface AsyncApiMessage {
  readonly payload: object;
  readonly examples: readonly { readonly payload: object }[];
}

/**
 * Validates the samples of all messages by the schemas of the document. Returns the number of samples and the errors.
 */
function validateSamples(messages: Readonly<Record<string, AsyncApiMessage>>, document: object) {
  const ajv = new Ajv({ strict: false });
  addFormats(ajv);
  ajv.addSchema({ ...document, $id: 'events' });
  const errors = Object.entries(messages).flatMap(([subject, { examples }]) =>
    examples.flatMap(({ payload }) =>
      ajv.validate({ $ref: `events#/components/messages/${subject}/payload` }, payload)
        ? []
        : [`${subject}: ${ajv.errorsText()}`],
    ),
  );
  return { envelope: Object.values(messages).flatMap(({ examples }) => examples).length, errors };
}
