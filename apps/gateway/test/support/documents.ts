import type { OpenApiDocument, OpenApiOperation } from '../../src/routes/openapi-document';

const list: OpenApiOperation = {
  responses: { '200': { content: { 'application/json': { schema: { type: 'array' } } } } },
};
const one: OpenApiOperation = {
  responses: { '200': { content: { 'application/json': { schema: { type: 'object' } } } } },
};
const write: OpenApiOperation = { responses: { '201': {} } };

const servers = [{ url: '/api/v4' }];

export const identityDocument: OpenApiDocument = {
  openapi: '3.1.0',
  // As services write them: paths include their base, since not all are below the API.
  servers: [{ url: '/' }],
  paths: {
    '/api/v4/user': { get: one },
    '/api/v4/users': { get: list, post: write },
    '/api/v4/users/{id}': { get: one, delete: write },
    '/api/v4/projects': { get: list, post: write },
    '/api/v4/projects/import': { post: write },
    '/api/v4/projects/{id}': { get: one, put: write, delete: write },
    '/api/v4/personal_access_tokens/{id}/rotate': { post: write },
    '/api/v4/groups/{id}': { get: one },
    '/uploads/-/system/user/avatar/{id}/{filename}': { get: { responses: { '200': { content: { 'image/*': {} } } } } },
  },
};

export const collaborationDocument: OpenApiDocument = {
  openapi: '3.1.0',
  servers,
  paths: {
    '/todos': { get: list },
    '/projects/{id}/issues': { get: list, post: write },
    '/projects/{id}/issues/{issue_iid}/notes': {
      get: list,
      post: { ...write, 'x-rookery-body-limit': 8 * 1024 * 1024 } as OpenApiOperation,
    },
    '/projects/{id}/issues/{issue_iid}/notes/{note_id}': { get: one, put: write, delete: write },
    '/projects/{id}/labels/{name}': { get: one },
    '/{full_path}.git/info/refs': {
      get: { ...one, 'x-rookery-template': '/*full_path.git/info/refs' } as OpenApiOperation,
    },
    '/{full_path}.git/git-upload-pack': {
      post: {
        ...write,
        'x-rookery-template': '/*full_path.git/git-upload-pack',
        'x-rookery-streams': ['request'],
        'x-rookery-deadline-ms': 60_000,
      } as OpenApiOperation,
    },
    '/projects/{id}/slow': { get: { ...one, 'x-rookery-deadline-ms': 300 } as OpenApiOperation },
  },
};

export const packageDocument: OpenApiDocument = {
  openapi: '3.1.0',
  servers,
  paths: {
    '/projects/{id}/packages/generic/{package_name}/{package_version}/{file_name}': {
      get: { responses: { '200': { content: { 'application/octet-stream': {} } } } },
      put: {
        'x-rookery-body-limit': 200 * 1024 * 1024,
      } as OpenApiOperation,
    },
    '/projects/{id}/packages/maven/{path*}': {
      get: one,
      put: { ...write, 'x-rookery-streams': ['request'] } as OpenApiOperation,
    },
    '/projects/{id}/packages/npm/{package_name}': { get: one },
    '/projects/{id}/packages/conan/v1/ping': { get: one },
    '/projects/{id}/packages/conan/v2/users/authenticate': { get: one },
  },
};
