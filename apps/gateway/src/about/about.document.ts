import type { OpenApiDocument } from '../routes/openapi-document';

const json = (schema: Readonly<Record<string, unknown>>) => ({ 'application/json': { schema } });
const text = { type: 'string' };
const version = { version: text, revision: text };
const kas = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean' },
    externalUrl: { type: ['string', 'null'] },
    externalK8sProxyUrl: { type: ['string', 'null'] },
    version: { type: ['string', 'null'] },
  },
};
const signedIn = {
  'x-rookery-source': 'reference packages-and-admin 10.2',
  'x-rookery-token-scopes': ['api', 'read_api', 'read_user'],
};
const health = (summary: string, fails: boolean) => ({
  'x-rookery-source': 'reference identity-and-import 1.4',
  tags: ['Health'],
  summary,
  responses: { '200': { description: 'Yes' }, ...(fails ? { '503': { description: 'Not now' } } : {}) },
});

/** What the gateway answers itself. Source: reference packages-and-admin 10.2; reference identity-and-import 1.4. */
export const aboutDocument: OpenApiDocument = {
  openapi: '3.1.0',
  tags: [{ name: 'About' }, { name: 'Health' }],
  paths: {
    '/api/v4/version': {
      get: {
        tags: ['About'],
        summary: 'Names the version of the instance.',
        ...signedIn,
        responses: {
          '200': { description: 'The version', content: json({ type: 'object', properties: version }) },
          '401': { description: 'No credential' },
        },
      },
    },
    '/api/v4/metadata': {
      get: {
        tags: ['About'],
        summary: 'Names the version and the edition of the instance.',
        ...signedIn,
        responses: {
          '200': {
            description: 'The metadata',
            content: json({ type: 'object', properties: { ...version, kas, enterprise: { type: 'boolean' } } }),
          },
          '401': { description: 'No credential' },
        },
      },
    },
    '/api/v4/openapi.json': {
      get: {
        tags: ['About'],
        summary: 'This document.',
        'x-rookery-source': 'reference identity-and-import 1.4; docs/architecture.md 2',
        responses: { '200': { description: 'An OpenAPI document', content: json({ type: 'object' }) } },
      },
    },
    '/-/health/live': { get: health('Does the gateway run?', false) },
    '/-/health/ready': { get: health('Are all services ready?', true) },
  },
};
