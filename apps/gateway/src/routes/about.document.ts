import type { OpenApiDocument } from './openapi-document';

const jsonContent = (schema: Readonly<Record<string, unknown>>) => ({ 'application/json': { schema } });
const text = { type: 'string' };
/** An object schema whose properties are all required. */
const allRequiredObjectSchema = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const version = { version: text, revision: text };
const kas = {
  ...allRequiredObjectSchema({
    enabled: { type: 'boolean' },
    externalUrl: { type: ['string', 'null'] },
    externalK8sProxyUrl: { type: ['string', 'null'] },
    version: { type: ['string', 'null'] },
  }),
  description: 'A server for agents of clusters; there is none.',
};
const refusalReference = (name: string) => ({ $ref: `#/components/responses/${name}` });
const SIGNED_IN_REFUSALS = {
  '401': refusalReference('Unauthorized'),
  '403': refusalReference('Forbidden'),
  '429': refusalReference('TooManyRequests'),
  '503': refusalReference('Unavailable'),
};
/** Security of operations without a credential. */
const OPEN = [{}];
const signedIn = {
  security: ['api', 'read_api', 'read_user'].flatMap((scope) => [{ token: [scope] }, { bearer: [scope] }]),
  'x-rookery-source': 'reference packages-and-admin 10.2',
  'x-rookery-token-scopes': ['api', 'read_api', 'read_user'],
};
const healthOperation = (operationId: string, summary: string, mayFail: boolean) => ({
  operationId,
  'x-rookery-source': 'reference identity-and-import 1.4',
  tags: ['Health'],
  summary,
  security: OPEN,
  responses: { '200': { description: 'Healthy' }, ...(mayFail ? { '503': { description: 'Not ready' } } : {}) },
});

const docsPageOperation = (operationId: string, summary: string) => ({
  operationId,
  security: OPEN,
  tags: ['About'],
  summary,
  'x-rookery-source': 'reference pages 4',
  responses: {
    '200': { description: 'A page', content: { 'text/html': { schema: text } } },
    '429': refusalReference('TooManyRequests'),
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
          '200': { description: 'The version', content: jsonContent(allRequiredObjectSchema(version)) },
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
            content: jsonContent(allRequiredObjectSchema({ ...version, kas, enterprise: { type: 'boolean' } })),
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
          '200': { description: 'An OpenAPI document', content: jsonContent({ type: 'object' }) },
          '429': refusalReference('TooManyRequests'),
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
          '200': { description: 'An AsyncAPI document', content: jsonContent({ type: 'object' }) },
          '429': refusalReference('TooManyRequests'),
        },
      },
    },
    '/-/docs': {
      get: docsPageOperation('showApiDocs', 'Shows this document as a page, on which requests can be tried out.'),
    },
    '/-/docs/events': { get: docsPageOperation('showEventDocs', 'Shows the document of all events as a page.') },
    '/-/docs/assets/{file}': {
      get: {
        ...docsPageOperation('getDocsAsset', 'Returns a file of the page of the API.'),
        parameters: [{ name: 'file', in: 'path', required: true, schema: text, description: 'Name of the file.' }],
        responses: {
          '200': { description: 'The file', content: { '*/*': { schema: text } } },
          '404': refusalReference('NotFound'),
          '429': refusalReference('TooManyRequests'),
        },
      },
    },
    '/-/health/live': { get: healthOperation('checkLiveness', 'Checks that the gateway is running.', false) },
    '/-/health/ready': { get: healthOperation('checkReadiness', 'Checks that all services are ready.', true) },
  },
};
