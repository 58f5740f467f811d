import type { JsonSchema } from './answers';
import type { EndpointRecord } from './endpoint';
import type { Presenter } from './presenter';
import { statusesOf } from './statuses';

const FAILURES: Readonly<Record<number, string>> = {
  304: 'Nothing to do: the thing is in the wanted state already.',
  400: 'A parameter is missing, malformed or refused.',
  401: 'No credential, or one that does not count.',
  403: 'The token lacks a scope, or the caller lacks the permission.',
  404: 'Missing, or the caller may not know of it.',
  405: 'Not possible for this list.',
  409: 'In conflict with something that is there.',
  412: 'Changed after the time in If-Unmodified-Since.',
  413: 'The body is larger than allowed.',
  415: 'The body is of an unknown type.',
  422: 'Understood, and not possible.',
  429: 'Asked too often.',
  503: 'A part that is needed cannot be reached; try again.',
};
const PAGE_HEADERS = ['Link', 'X-Next-Page', 'X-Page', 'X-Per-Page', 'X-Prev-Page', 'X-Total', 'X-Total-Pages'];
/** What an endpoint answers, by status: its success and every refusal that it can have. */
export function responsesOf(endpoint: EndpointRecord): JsonSchema {
  const { answers } = endpoint.options;
  const refusals = statusesOf(endpoint).filter((status) => status !== answers.status);
  const refused = (status: number): [string, JsonSchema] => [
    String(status),
    {
      description: FAILURES[status] ?? 'Refused.',
      ...(status === 304 ? {} : { content: jsonContent({ $ref: '#/components/schemas/Refusal' }) }),
    },
  ];
  return { [answers.status]: successOf(endpoint), ...Object.fromEntries(refusals.map(refused)) };
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
      const headers = Object.fromEntries(PAGE_HEADERS.map((name) => [name, { schema: { type: 'string' } }]));
      return { description: 'One page.', content: jsonContent(answers.schema ?? array), headers };
    }
    case 'json':
      return { description: 'Success.', content: jsonContent(answers.schema ?? {}) };
    case 'message':
      return { description: 'Success.', content: jsonContent(paramsLike('message')) };
    case 'file':
      return { description: 'The bytes.', content: { [answers.mediaType!]: {} } };
    case 'web':
      return { description: 'A page for a browser.', content: { [answers.mediaType!]: {} } };
    case 'redirect':
      return { description: 'Elsewhere.', headers: { Location: { schema: { type: 'string' } } } };
    case 'none':
    case 'empty':
      return { description: 'Success, without a body.' };
  }
}

function paramsLike(name: string): JsonSchema {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

function jsonContent(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}
