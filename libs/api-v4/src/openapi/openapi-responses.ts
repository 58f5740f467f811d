import type { AnswerHeaders, JsonSchema } from '../answers/answers';
import type { EndpointRecord } from '../endpoint/endpoint';
import { acceptsIdempotencyKey } from '../endpoint/keyed-request';
import {
  importRefusalResponse,
  errorListRefusalResponse,
  pageHeaderRefs,
  refusalResponse,
  refusalResponseAs,
  problemRefusalResponse,
  registryRefusalResponse,
  replayHeaderRefs,
} from './openapi-components';
import type { Presenter } from '../answers/presenter';
import type { GitClientErrorFormat } from '../answers/text-errors';
import { statusesOf } from '../endpoint/statuses';

/** Statuses that the gateway may answer for any endpoint. */
const GATEWAY_STATUSES = [429, 502, 504];

const text = { type: 'string' };
const FILE_HEADERS = {
  'Accept-Ranges': { description: '`bytes`: supports byte ranges (`Range`).', schema: text },
  ETag: { description: 'Version of the contents.', schema: text },
};
const CONTENT_RANGE = {
  description: 'Range of these bytes, and size of the whole file.',
  required: true,
  schema: text,
};
const OUT_OF_RANGE = {
  description: 'The requested range begins after the end of the file.',
  headers: { 'Content-Range': CONTENT_RANGE },
  content: jsonContent({ $ref: '#/components/schemas/Refusal' }),
};

/** Returns the response objects of an endpoint by status: its successes and every possible failure. */
export function describeResponses(endpoint: EndpointRecord): JsonSchema {
  const { answers } = endpoint.options;
  const second = answers.alternative;
  const again = acceptsIdempotencyKey(endpoint) ? { headers: replayHeaderRefs() } : {};
  const successes = [answers.status, second?.status];
  const parts = answers.hasRanges ? { 206: describePartialContent(endpoint), 416: OUT_OF_RANGE } : {};
  const refusals = [...statusesOf(endpoint), ...GATEWAY_STATUSES].filter(
    (status) => !successes.includes(status) && !(status in parts),
  );
  return {
    [answers.status]: { ...describeSuccessResponse(endpoint), ...again },
    ...parts,
    ...(second
      ? {
          [second.status]: {
            description: 'Alternative success.',
            ...(second.schema ? { content: jsonContent(second.schema) } : {}),
            ...(second.schema === null && answers.headers ? { headers: describeHeaders(answers.headers) } : {}),
            ...again,
          },
        }
      : {}),
    ...Object.fromEntries(refusals.map((status) => [String(status), describeRefusalResponse(endpoint, status)])),
  };
}

function describeRefusalResponse({ options }: EndpointRecord, status: number): JsonSchema {
  if (status < 400) return refusalResponse(status);
  if (options.failsAs !== undefined) return describeGitRefusal(options.failsAs);
  if (options.answers.kind === 'web' && status === 400) return refusalResponseAs(status, 'text/html');
  if (options.refusals?.offersProblemDetails) return problemRefusalResponse(status);
  if (options.refusals?.startsImport) return importRefusalResponse(status, options.refusals.startsImport);
  if (options.refusals?.isText) return refusalResponseAs(status, 'text/plain');
  if (options.refusals?.isErrorList) return errorListRefusalResponse(status);
  if (options.refusals?.renderedAs !== undefined) return registryRefusalResponse(status);
  return refusalResponse(status);
}

/** Failures at routes of git. Those of the gateway itself are plain text. */
function describeGitRefusal(form: GitClientErrorFormat): JsonSchema {
  const own = form === 'lfs' ? { 'application/vnd.git-lfs+json': { schema: objectWithTextSchema('message') } } : {};
  return { description: 'The reason.', content: { 'text/plain': { schema: text }, ...own } };
}

function describeSuccessResponse({ options: { answers } }: EndpointRecord): JsonSchema {
  const item = (answers.presenter as Presenter<unknown> | undefined)?.reference;
  const array = { type: 'array', items: item };
  switch (answers.kind) {
    case 'one':
      return { description: 'Success.', content: jsonContent(item!) };
    case 'all':
      return { description: 'The complete list.', content: jsonContent(array) };
    case 'page': {
      return { description: 'One page.', content: jsonContent(answers.schema ?? array), headers: pageHeaderRefs() };
    }
    case 'json':
      return { description: 'Success.', content: jsonContent(answers.schema ?? {}) };
    case 'message':
      return { description: 'Success.', content: jsonContent(objectWithTextSchema('message')) };
    case 'file':
      return {
        description: 'The file.',
        content: {
          [answers.mediaType!]: answers.schema ? { schema: answers.schema } : {},
          ...Object.fromEntries(Object.entries(answers.otherTypes ?? {}).map(([type, schema]) => [type, { schema }])),
        },
        ...(answers.hasRanges ? { headers: FILE_HEADERS } : {}),
      };
    case 'web':
      return { description: 'A page for a browser.', content: { [answers.mediaType!]: {} } };
    case 'headers':
      return { description: 'Success, without a body.', headers: describeHeaders(answers.headers) };
    case 'redirect':
      return {
        description: 'Redirect to another address.',
        headers: { Location: { required: true, schema: { type: 'string' } } },
      };
    case 'none':
    case 'empty':
      return { description: 'Success, without a body.' };
  }
}

/** Headers of an answer by name, with descriptions. */
function describeHeaders(about: AnswerHeaders = {}): JsonSchema {
  return Object.fromEntries(
    Object.entries(about).map(([name, description]) => [name, { description, required: true, schema: text }]),
  );
}

function describePartialContent({ options: { answers } }: EndpointRecord): JsonSchema {
  return {
    description: 'The requested range of the file.',
    headers: { ...FILE_HEADERS, 'Content-Range': CONTENT_RANGE },
    content: Object.fromEntries(
      [answers.mediaType!, ...Object.keys(answers.otherTypes ?? {})].map((type) => [type, {}]),
    ),
  };
}

function objectWithTextSchema(name: string): JsonSchema {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

function jsonContent(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}
