import type { JsonSchema } from '../answers/answers';

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'array', items: text };
const ref = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });

/**
 * Ways to say who one is. Basic authentication is for git and package managers only, whose endpoints name it.
 * Source: reference identity-and-import 1.1.
 */
export const SECURITY_SCHEMES: JsonSchema = {
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'A personal, project, group or impersonation access token.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same tokens as `Authorization: Bearer <token>`.' },
};

/** Bodies of refusals, as `renderError` writes them. Source: reference identity-and-import 1.1. */
export const REFUSAL_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Refusal: {
    type: 'object',
    description: 'Why not, in one sentence. It begins with the status where that says enough.',
    properties: { message: text },
    required: ['message'],
  },
  RefusalByField: {
    type: 'object',
    description: 'What is wrong with each field. `base` stands for the thing as a whole.',
    properties: { message: { type: 'object', additionalProperties: texts } },
    required: ['message'],
  },
  RefusalInSentences: {
    type: 'object',
    description: 'What is wrong, a sentence each.',
    properties: { message: texts },
    required: ['message'],
  },
  RefusalOfSome: {
    type: 'object',
    description: 'Some of several were refused; the others are done.',
    properties: { status: { const: 'error' }, message: { type: 'object', additionalProperties: text } },
    required: ['status', 'message'],
  },
  RefusalUnderError: {
    type: 'object',
    description: 'Why something was not moved.',
    properties: { message: { type: 'object', properties: { error: text }, required: ['error'] } },
    required: ['message'],
  },
  RefusalOfForm: {
    type: 'object',
    description: 'A parameter is missing or has not its form, or the path is unknown.',
    properties: { error: text },
    required: ['error'],
  },
  RefusalOfToken: {
    type: 'object',
    description: 'The token is dead, or lacks a scope; `scope` lists those that suffice.',
    properties: {
      error: { type: 'string', enum: ['invalid_token', 'insufficient_scope'] },
      error_description: text,
      scope: text,
    },
    required: ['error', 'error_description'],
  },
  RefusalOfRate: {
    type: 'object',
    description: 'A limit of this resource is used up.',
    properties: { message: { type: 'object', properties: { error: text }, required: ['error'] } },
    required: ['message'],
  },
};

interface RefusalKind {
  readonly name: string;
  readonly about: string;
  readonly bodies: readonly string[];
  readonly headers?: readonly string[];
  /** Those that only some of them have. */
  readonly headersOfSome?: readonly string[];
  /** The throttle in front of the services speaks plain text, and so do moved projects. */
  readonly plainText?: true;
}

const REFUSALS: Readonly<Record<number, RefusalKind>> = {
  301: { name: 'Moved', about: 'It has another address now.', bodies: [], headers: ['Location'], plainText: true },
  302: { name: 'Found', about: 'It is to be had elsewhere.', bodies: [], headers: ['Location'] },
  304: { name: 'NotModified', about: 'Nothing to do: the thing is in the wanted state already.', bodies: [] },
  400: {
    name: 'BadRequest',
    about: 'A parameter is missing, malformed or refused.',
    bodies: ['Refusal', 'RefusalByField', 'RefusalInSentences', 'RefusalOfSome', 'RefusalUnderError', 'RefusalOfForm'],
  },
  401: {
    name: 'Unauthorized',
    about: 'No credential, or one that does not count.',
    bodies: ['Refusal', 'RefusalOfToken'],
  },
  403: {
    name: 'Forbidden',
    about: 'The token lacks a scope, or the caller lacks the permission.',
    bodies: ['Refusal', 'RefusalOfToken', 'RefusalOfForm'],
  },
  404: { name: 'NotFound', about: 'Missing, or the caller may not know of it.', bodies: ['Refusal', 'RefusalOfForm'] },
  405: { name: 'MethodNotAllowed', about: 'Not possible for this list.', bodies: ['Refusal', 'RefusalOfForm'] },
  409: {
    name: 'Conflict',
    about: 'In conflict with something that is there, or a request with this `Idempotency-Key` is still running.',
    bodies: ['Refusal', 'RefusalByField', 'RefusalInSentences'],
    headersOfSome: ['Retry-After'],
  },
  412: { name: 'PreconditionFailed', about: 'Changed after the time in If-Unmodified-Since.', bodies: ['Refusal'] },
  413: { name: 'TooLarge', about: 'The body is larger than allowed.', bodies: ['Refusal'] },
  415: {
    name: 'UnsupportedMediaType',
    about: 'The body is of an unknown type.',
    bodies: ['Refusal', 'RefusalOfForm'],
  },
  422: {
    name: 'Unprocessable',
    about: 'Understood, and not possible; or the `Idempotency-Key` was used for another request.',
    bodies: ['Refusal', 'RefusalByField'],
  },
  429: {
    name: 'TooManyRequests',
    about: 'Asked too often.',
    bodies: ['RefusalOfRate'],
    headers: ['Retry-After', 'RateLimit-Name', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
    plainText: true,
  },
  502: { name: 'BadGateway', about: 'A part of the server broke off its answer.', bodies: ['Refusal'] },
  503: {
    name: 'Unavailable',
    about: 'A part that is needed cannot be reached, or too much is asked at once; try again.',
    bodies: ['Refusal'],
    headers: ['Retry-After'],
  },
  504: { name: 'GatewayTimeout', about: 'No answer within the time for it.', bodies: ['Refusal'] },
};

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  Link: { description: 'URLs of other pages: `rel` is first, prev, next or last.', schema: text },
  'X-Next-Page': { description: 'Empty on the last page.', schema: text },
  'X-Page': { schema: { type: 'integer' } },
  'X-Per-Page': { schema: { type: 'integer' } },
  'X-Prev-Page': { description: 'Empty on the first page.', schema: text },
  'X-Total': { description: 'Left out where counting would be dear.', schema: { type: 'integer' } },
  'X-Total-Pages': { description: 'Left out with `X-Total`.', schema: { type: 'integer' } },
  Location: { description: 'An absolute URL.', required: true, schema: text },
  'Retry-After': { description: 'Seconds.', required: true, schema: { type: 'integer' } },
  'Idempotency-Replayed': { description: '`true` on an answer that was given before.', schema: text },
  'RateLimit-Name': { description: 'Which limit the others tell of.', schema: text },
  'RateLimit-Limit': { description: 'Requests a minute.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'When the minute ends, in seconds since 1970.', schema: { type: 'integer' } },
};
const PAGE_HEADERS = ['Link', 'X-Next-Page', 'X-Page', 'X-Per-Page', 'X-Prev-Page', 'X-Total', 'X-Total-Pages'];

const query = (name: string, schema: JsonSchema, description: string): JsonSchema => ({
  name,
  in: 'query',
  schema,
  description,
});

const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  Page: query('page', { type: 'integer', default: 1, minimum: 1 }, 'Which page.'),
  PerPage: query('per_page', { type: 'integer', default: 20, minimum: 1, maximum: 100 }, 'How many on a page.'),
  Pagination: query('pagination', { type: 'string', enum: ['keyset', 'legacy'] }, 'Keyset: follow `Link`, no totals.'),
  Cursor: query('cursor', text, 'Where a keyset page begins, from `Link`.'),
  IdAfter: query('id_after', { type: 'integer' }, 'Only those with a higher id.'),
  IdBefore: query('id_before', { type: 'integer' }, 'Only those with a lower id.'),
  Sudo: {
    name: 'Sudo',
    in: 'header',
    schema: { type: ['integer', 'string'] },
    description: 'Id or username of the person to act as. For tokens of administrators with the scope `sudo`.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
    description: 'A name for this very request, such as a UUID: sent again within a day, it is answered as at first.',
  },
};

/** What `$ref`s of every document of ours may name. Schemas of presenters come on top. */
export const SHARED_COMPONENTS: Readonly<Record<string, JsonSchema>> = {
  securitySchemes: SECURITY_SCHEMES,
  parameters: PARAMETERS,
  headers: HEADERS,
  responses: Object.fromEntries(Object.values(REFUSALS).map((kind) => [kind.name, refusalOf(kind)])),
};

export function sharedParameter(name: string): JsonSchema {
  return ref('parameters', name);
}

/** The response of a status that is no success. Errors: a plain Error for a status that nothing here tells of. */
export function refusalResponse(status: number): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined) throw new Error(`no refusal has the status ${status}`);
  return ref('responses', kind.name);
}

/** The same of an endpoint that answers with pages: a person reads a refusal as a page, too. */
export function shownRefusalResponse(status: number): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined || kind.bodies.length === 0) return refusalResponse(status);
  const told = refusalOf(kind);
  return { ...told, content: { ...(told['content'] as object), 'text/html': {} } };
}

/** What JSON the body of a refusal may be; null when it has none. */
export function refusalSchemaOf(status: number): JsonSchema | null {
  const bodies = REFUSALS[status]?.bodies ?? [];
  return bodies.length === 0 ? null : { anyOf: bodies.map((name) => ref('schemas', name)) };
}

export function replayHeaders(): JsonSchema {
  return headersOf(['Idempotency-Replayed']);
}

export function pageHeaders(): JsonSchema {
  return headersOf(PAGE_HEADERS);
}

function headersOf(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
}

function refusalOf({ about, bodies, headers = [], headersOfSome = [], plainText }: RefusalKind): JsonSchema {
  const anyOf = bodies.map((name) => ref('schemas', name));
  const schema = anyOf.length === 1 ? anyOf[0] : { anyOf };
  const ofSome = Object.fromEntries(headersOfSome.map((name) => [name, { ...HEADERS[name], required: false }]));
  const told = { ...headersOf(headers), ...ofSome };
  const content = {
    ...(bodies.length === 0 ? {} : { 'application/json': { schema } }),
    ...(plainText ? { 'text/plain': { schema: text } } : {}),
  };
  return {
    description: about,
    ...(Object.keys(told).length === 0 ? {} : { headers: told }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}
