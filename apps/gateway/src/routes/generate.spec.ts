import { generateRoutes, mergeDocuments } from './generate';
import type { OpenApiDocument } from './openapi-document';

const operationWithSchema = (type: string) => ({
  responses: { '200': { content: { 'application/json': { schema: { type } } } } },
});
const identity: OpenApiDocument = {
  openapi: '3.1.0',
  servers: [{ url: 'https://rookery.example/api/v4/' }],
  tags: [{ name: 'Users' }],
  paths: {
    '/users': { get: operationWithSchema('array'), parameters: [] },
    '/users/{id}': { get: operationWithSchema('object'), delete: {}, put: { 'x-rookery-body-limit': 5 } },
    '/users/{id}/block': { post: {} },
    '/projects/{id}/files/{path}': { get: { 'x-rookery-template': '/api/v4/projects/:id/files/*path' } },
    '/projects/{id}/packages/npm/{name}': {
      put: { 'x-rookery-deadline-ms': 60_000 },
    },
  },
  components: { schemas: { User: { type: 'object' }, Page: { type: 'integer' } } },
};
const collaboration: OpenApiDocument = {
  paths: {
    '/api/v4/users/{id}': { patch: { responses: { '200': { $ref: '#/components/schemas/Page' } } } },
  },
  components: { schemas: { User: { type: 'object' }, Page: { type: 'string' } } },
};

describe('generateRoutes', () => {
  const rows = generateRoutes({ identity, collaboration });

  it('has a row for each operation, with its class and limits', () => {
    expect(rows['/api/v4/users']).toEqual({ GET: { service: 'identity', shed: 'list' } });
    expect(rows['/api/v4/users/{id}']).toEqual({
      DELETE: { service: 'identity', shed: 'vital' },
      GET: { service: 'identity', shed: 'read' },
      PATCH: { service: 'collaboration', shed: 'write' },
      PUT: { service: 'identity', shed: 'write', bodyLimit: 5 },
    });
    expect(rows['/api/v4/users/{id}/block']?.['POST']?.shed).toBe('vital');
    expect(rows['/api/v4/projects/{id}/packages/npm/{name}']?.['PUT']).toEqual({
      service: 'identity',
      shed: 'write',
      deadlineMs: 60_000,
      basic: true,
    });
    expect(rows['/api/v4/projects/{id}/files/*path']?.['GET']?.service).toBe('identity');
    expect(rows['/api/v4/version']?.['GET']?.scopes).toEqual(['api', 'read_api', 'read_user']);
  });

  it('is sorted, independent of the order of the documents', () => {
    expect(JSON.stringify(generateRoutes({ collaboration, identity }))).toBe(JSON.stringify(rows));
    expect(Object.keys(rows)).toEqual([...Object.keys(rows)].sort());
  });

  it('refuses two owners of one operation', () => {
    expect(() => generateRoutes({ identity, admin: identity })).toThrow('GET /api/v4/users: admin and identity');
  });
});

describe('generateRoutes with wildcards', () => {
  const ofPaths = (...paths: string[]): OpenApiDocument => ({
    paths: Object.fromEntries(
      paths.map((path) => [path.replaceAll(/[:*](\w+)/g, '{$1}'), { get: { 'x-rookery-template': path } }]),
    ),
  });
  const routesOf = (...paths: string[]) => Object.keys(generateRoutes({ identity: ofPaths(...paths) }));

  it('accepts overlapping templates if one is more specific', () => {
    const paths = ['/*full_path.git/info/refs', '/*full_path/info/refs', '/*full_path/:verb/refs', '/api/v4/x/*path'];
    expect(routesOf(...paths)).toEqual(expect.arrayContaining(['/*full_path.git/info/refs', '/api/v4/x/*path']));
  });

  it.each([
    ['/*full_path/info/:name', '/*full_path/:verb/refs'],
    ['/*full_path.git/:name', '/*full_path/refs'],
    ['/*one.git/refs', '/*other.git/refs'],
    ['/api/v4/x/*path/:name', '/api/v4/x/*path/last', '/api/v4/x/*other/last'],
  ])('refuses %s and %s', (...paths) => {
    expect(() => routesOf(...paths)).toThrow(/take the same paths, and neither is more specific/);
  });

  it('refuses a fixed route where a leading wildcard leads, and a second wildcard', () => {
    expect(() => routesOf('/*full_path/refs', '/status')).toThrow('GET /status conflicts with GET /*full_path/refs');
    expect(() => routesOf('/api/v4/*one/-/*two')).toThrow('has more than one wildcard');
  });

  it('has the directions that stream', () => {
    const get = { 'x-rookery-streams': ['response' as const] };
    const put = { 'x-rookery-streams': ['request' as const], 'x-rookery-body-limit': 7 };
    const rows = generateRoutes({ identity: { paths: { '/api/v4/blobs': { get, put } } } });
    expect(rows['/api/v4/blobs']).toEqual({
      GET: { service: 'identity', shed: 'read', streamsResponse: true },
      PUT: { service: 'identity', shed: 'write', bodyLimit: 7, streamsRequest: true },
    });
  });
});

describe('mergeDocuments', () => {
  it('merges paths, and renames components that differ', () => {
    const merged = mergeDocuments({ identity, collaboration });
    expect(Object.keys(merged.paths?.['/api/v4/users/{id}'] ?? {}).sort()).toEqual(['delete', 'get', 'patch', 'put']);
    expect(merged.components?.['schemas']).toEqual({
      Page: { type: 'string' },
      'identity.Page': { type: 'integer' },
      User: { type: 'object' },
    });
    expect(JSON.stringify(merged)).toContain('"$ref":"#/components/schemas/Page"');
    expect(merged.tags?.map((tag) => tag.name)).toEqual(['About', 'Health', 'Users']);
  });
});
