import type { JsonSchema } from '../answers/answers';
import type { EndpointRecord } from '../endpoint/endpoint';
import { takesKey } from '../endpoint/keyed-request';
import { pageHeaders, refusalResponse, replayHeaders, shownRefusalResponse } from './openapi-components';
import type { Presenter } from '../answers/presenter';
import { statusesOf } from '../endpoint/statuses';

/** What the gateway answers in place of any endpoint. */
const OF_THE_GATEWAY = [429, 502, 504];

const text = { type: 'string' };
const FILE_HEADERS = {
  'Accept-Ranges': { description: '`bytes`: parts of it can be asked for by `Range`.', schema: text },
  ETag: { description: 'Tells contents apart.', schema: text },
};
const CONTENT_RANGE = {
  description: 'The bytes that these are, and how many there are.',
  required: true,
  schema: text,
};
const OUT_OF_RANGE = {
  description: 'The asked range begins behind the end.',
  headers: { 'Content-Range': CONTENT_RANGE },
  content: jsonContent({ $ref: '#/components/schemas/Refusal' }),
};

/** What an endpoint answers, by status: its success and every refusal that it can have. */
export function responsesOf(endpoint: EndpointRecord): JsonSchema {
  const { answers } = endpoint.options;
  const second = answers.otherwise;
  const again = takesKey(endpoint) ? { headers: replayHeaders() } : {};
  const successes = [answers.status, second?.status];
  const parts = answers.hasRanges ? { 206: partOf(endpoint), 416: OUT_OF_RANGE } : {};
  const refusals = [...statusesOf(endpoint), ...OF_THE_GATEWAY].filter(
    (status) => !successes.includes(status) && !(status in parts),
  );
  return {
    [answers.status]: { ...successOf(endpoint), ...again },
    ...parts,
    ...(second
      ? { [second.status]: { description: 'Success too.', content: jsonContent(second.schema), ...again } }
      : {}),
    ...Object.fromEntries(
      refusals.map((status) => [
        String(status),
        endpoint.options.answers.kind === 'web' && status === 400
          ? shownRefusalResponse(status)
          : refusalResponse(status),
      ]),
    ),
  };
}

function successOf({ options: { answers } }: EndpointRecord): JsonSchema {
  const item = (answers.presenter as Presenter<unknown> | undefined)?.reference;
  const array = { type: 'array', items: item };
  switch (answers.kind) {
    case 'one':
      return { description: 'Success.', content: jsonContent(item!) };
    case 'all':
      return { description: 'All of them.', content: jsonContent(array) };
    case 'page': {
      return { description: 'One page.', content: jsonContent(answers.schema ?? array), headers: pageHeaders() };
    }
    case 'json':
      return { description: 'Success.', content: jsonContent(answers.schema ?? {}) };
    case 'message':
      return { description: 'Success.', content: jsonContent(paramsLike('message')) };
    case 'file':
      return {
        description: 'The bytes.',
        content: { [answers.mediaType!]: answers.schema ? { schema: answers.schema } : {} },
        ...(answers.hasRanges ? { headers: FILE_HEADERS } : {}),
      };
    case 'web':
      return { description: 'A page for a browser.', content: { [answers.mediaType!]: {} } };
    case 'redirect':
      return { description: 'Elsewhere.', headers: { Location: { required: true, schema: { type: 'string' } } } };
    case 'none':
    case 'empty':
      return { description: 'Success, without a body.' };
  }
}

function partOf({ options: { answers } }: EndpointRecord): JsonSchema {
  return {
    description: 'The asked range of the bytes.',
    headers: { ...FILE_HEADERS, 'Content-Range': CONTENT_RANGE },
    content: { [answers.mediaType!]: {} },
  };
}

function paramsLike(name: string): JsonSchema {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

function jsonContent(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}
