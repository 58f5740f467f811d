import type { OpenApiDocument } from './openapi-document';

const json = (schema: Readonly<Record<string, unknown>>) => ({ 'application/json': { schema } });
const text = { type: 'string' };
/** An object schema whose properties are all required. */
const object = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const version = { version: text, revision: text };
const kas = {
  ...object({
    enabled: { type: 'boolean' },
    externalUrl: { type: ['string', 'null'] },
    externalK8sProxyUrl: { type: ['string', 'null'] },
    version: { type: ['string', 'null'] },
  }),
  description: 'A server for agents of clusters; there is none.',
};
const refusal = (name: string) => ({ $ref: `#/components/responses/${name}` });
const SIGNED_IN_REFUSALS = {
  '401': refusal('Unauthorized'),
  '403': refusal('Forbidden'),
  '429': refusal('TooManyRequests'),
  '503': refusal('Unavailable'),
};
/** Security of operations without a credential. */
const OPEN = [{}];
const signedIn = {
  security: ['api', 'read_api', 'read_user'].flatMap((scope) => [{ token: [scope] }, { bearer: [scope] }]),
  'x-rookery-source': 'reference packages-and-admin 10.2',
  'x-rookery-token-scopes': ['api', 'read_api', 'read_user'],
};
const health = (operationId: string, summary: string, fails: boolean) => ({
  operationId,
  'x-rookery-source': 'reference identity-and-import 1.4',
  tags: ['Health'],
  summary,
  security: OPEN,
  responses: { '200': { description: 'Healthy' }, ...(fails ? { '503': { description: 'Not ready' } } : {}) },
});

const docsPage = (operationId: string, summary: string) => ({
  operationId,
  security: OPEN,
  tags: ['About'],
  summary,
  'x-rookery-source': 'reference pages 4',
  responses: {
    '200': { description: 'A page', content: { 'text/html': { schema: text } } },
    '429': refusal('TooManyRequests'),
  },
});

/**
 * OpenAPI document of the gateway's own routes. Source: reference packages-and-admin 10.2; reference
 * identity-and-import 1.4.
 */
export const aboutDocument: OpenApiDocument = {
  openapi: '3.1.0',
  tags: [
    { name: 'About', description: 'The instance itself.' },
    { name: 'Health', description: 'For load balancers and orchestrators.' },
  ],
  paths: {
    '/api/v4/version': {
      get: {
        operationId: 'getVersion',
        tags: ['About'],
        summary: 'Names the version of the instance.',
        ...signedIn,
        responses: {
          '200': { description: 'The version', content: json(object(version)) },
          ...SIGNED_IN_REFUSALS,
        },
      },
    },
    '/api/v4/metadata': {
      get: {
        operationId: 'getMetadata',
        tags: ['About'],
        summary: 'Names the version and the edition of the instance.',
        ...signedIn,
        responses: {
          '200': {
            description: 'The metadata',
            content: json(object({ ...version, kas, enterprise: { type: 'boolean' } })),
          },
          ...SIGNED_IN_REFUSALS,
        },
      },
    },
    '/api/v4/openapi.json': {
      get: {
        operationId: 'getOpenApiDocument',
        security: OPEN,
        tags: ['About'],
        summary: 'This document.',
        'x-rookery-source': 'reference identity-and-import 1.4; docs/architecture.md 2',
        responses: {
          '200': { description: 'An OpenAPI document', content: json({ type: 'object' }) },
          '429': refusal('TooManyRequests'),
        },
      },
    },
    '/api/v4/asyncapi.json': {
      get: {
        operationId: 'getAsyncApiDocument',
        security: OPEN,
        tags: ['About'],
        summary: 'The document of all events.',
        'x-rookery-source': 'reference pages 4',
        responses: {
          '200': { description: 'An AsyncAPI document', content: json({ type: 'object' }) },
          '429': refusal('TooManyRequests'),
        },
      },
    },
    '/-/docs': { get: docsPage('showApiDocs', 'Shows this document as a page, on which requests can be tried out.') },
    '/-/docs/events': { get: docsPage('showEventDocs', 'Shows the document of all events as a page.') },
    '/-/docs/assets/{file}': {
      get: {
        ...docsPage('getDocsAsset', 'Returns a file of the page of the API.'),
        parameters: [{ name: 'file', in: 'path', required: true, schema: text, description: 'Name of the file.' }],
        responses: {
          '200': { description: 'The file', content: { '*/*': { schema: text } } },
          '404': refusal('NotFound'),
          '429': refusal('TooManyRequests'),
        },
      },
    },
    '/-/health/live': { get: health('checkLiveness', 'Checks that the gateway is running.', false) },
    '/-/health/ready': { get: health('checkReadiness', 'Checks that all services are ready.', true) },
  },
};
