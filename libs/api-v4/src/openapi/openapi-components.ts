import type { JsonSchema } from '../answers/answers';

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'array', items: text };
const componentRef = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });

/**
 * Ways to authenticate. Basic authentication is for git and package managers only; their endpoints declare it.
 * Source: reference identity-and-import 1.1.
 */
const SECURITY_SCHEMES: JsonSchema = {
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'A personal, project, group or impersonation access token.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same tokens as `Authorization: Bearer <token>`.' },
};

/** Schemas of error bodies, as `renderError` renders them. Source: reference identity-and-import 1.1. */
export const REFUSAL_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Refusal: {
    type: 'object',
    description: 'The reason in one sentence. It begins with the status if that is sufficient.',
    properties: { message: text },
    required: ['message'],
  },
  RefusalOfRegistry: {
    type: 'object',
    description: 'The reason in one sentence. Package managers show `error`.',
    properties: { message: text, error: text },
    required: ['message'],
  },
  RefusalByField: {
    type: 'object',
    description: 'Problems of each field. `base` has the problems of the resource as a whole.',
    properties: { message: { type: 'object', additionalProperties: texts } },
    required: ['message'],
  },
  RefusalInSentences: {
    type: 'object',
    description: 'Problems, one sentence each.',
    properties: { message: texts },
    required: ['message'],
  },
  RefusalOfSome: {
    type: 'object',
    description: 'Some of several changes were refused; the others were made.',
    properties: { status: { const: 'error' }, message: { type: 'object', additionalProperties: text } },
    required: ['status', 'message'],
  },
  RefusalUnderError: {
    type: 'object',
    description: 'Reason why a resource was not moved.',
    properties: { message: { type: 'object', properties: { error: text }, required: ['error'] } },
    required: ['message'],
  },
  RefusalWithCode: {
    type: 'object',
    description: 'The reason in one sentence, and a code for programs.',
    properties: {
      message: text,
      error_code: { ...text, description: 'Code of the reason.' },
      dry_run: { const: 'error' },
    },
    required: ['message', 'error_code'],
  },
  RefusalOfForm: {
    type: 'object',
    description: 'A parameter is missing or malformed, or the path is unknown.',
    properties: { error: text },
    required: ['error'],
  },
  RefusalOfImport: {
    type: 'object',
    description: 'Reasons why an import does not start.',
    properties: { errors: { anyOf: [text, texts], description: 'The reason, or several.' } },
    required: ['errors'],
  },
  RefusalInList: {
    type: 'object',
    description: 'A list of one error, as Conan reads it.',
    properties: {
      errors: {
        type: 'array',
        description: 'Exactly one.',
        items: {
          type: 'object',
          properties: { status: { type: 'integer', description: 'The status.' }, message: text },
          required: ['status', 'message'],
        },
      },
    },
    required: ['errors'],
  },
  RefusalOfRepohostImport: {
    type: 'object',
    description: 'Reasons why an import from a repository host does not start.',
    properties: {
      message: {
        type: 'object',
        properties: { error: { anyOf: [text, texts], description: 'The reason, or several.' } },
        required: ['error'],
      },
    },
    required: ['message'],
  },
  RefusalOfToken: {
    type: 'object',
    description: 'The token is invalid or lacks a scope; `scope` lists sufficient scopes.',
    properties: {
      error: { type: 'string', enum: ['invalid_token', 'insufficient_scope'] },
      error_description: text,
      scope: text,
    },
    required: ['error', 'error_description'],
  },
  RefusalOfRate: {
    type: 'object',
    description: 'A rate limit of this resource is exceeded.',
    properties: { message: { type: 'object', properties: { error: text }, required: ['error'] } },
    required: ['message'],
  },
};

interface RefusalKind {
  readonly name: string;
  readonly about: string;
  readonly bodies: readonly string[];
  readonly headers?: readonly string[];
  /** Headers that only some of these responses have. */
  readonly headersOfSome?: readonly string[];
  /** The gateway's rate limit and moved projects are answered in plain text. */
  readonly plainText?: true;
}

const REFUSALS: Readonly<Record<number, RefusalKind>> = {
  301: {
    name: 'Moved',
    about: 'The resource has another address now.',
    bodies: [],
    headers: ['Location'],
    plainText: true,
  },
  302: { name: 'Found', about: 'The resource is at another address.', bodies: [], headers: ['Location'] },
  304: { name: 'NotModified', about: 'The resource already has the requested state.', bodies: [] },
  400: {
    name: 'BadRequest',
    about: 'A parameter is missing, malformed or refused.',
    bodies: [
      'Refusal',
      'RefusalByField',
      'RefusalInSentences',
      'RefusalOfSome',
      'RefusalUnderError',
      'RefusalWithCode',
      'RefusalOfForm',
    ],
  },
  401: {
    name: 'Unauthorized',
    about: 'Credentials are missing or invalid.',
    bodies: ['Refusal', 'RefusalOfToken'],
  },
  403: {
    name: 'Forbidden',
    about: 'The token lacks a scope, or the caller lacks the permission.',
    bodies: ['Refusal', 'RefusalOfToken', 'RefusalOfForm'],
  },
  404: { name: 'NotFound', about: 'Missing, or not visible to the caller.', bodies: ['Refusal', 'RefusalOfForm'] },
  405: {
    name: 'MethodNotAllowed',
    about: 'Not possible for this list, or for a former path of a project.',
    bodies: ['Refusal', 'RefusalOfForm'],
  },
  409: {
    name: 'Conflict',
    about: 'Conflict with an existing resource, or a request with this `Idempotency-Key` is still running.',
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
    about: 'The request is valid but not possible, or the `Idempotency-Key` was used for another request.',
    bodies: ['Refusal', 'RefusalByField', 'RefusalInSentences'],
  },
  429: {
    name: 'TooManyRequests',
    about: 'Too many requests.',
    bodies: ['RefusalOfRate'],
    headers: ['Retry-After', 'RateLimit-Name', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
    plainText: true,
  },
  502: { name: 'BadGateway', about: 'A part of the server aborted its answer.', bodies: ['Refusal'] },
  503: {
    name: 'Unavailable',
    about: 'A required part of the server is unreachable or overloaded; try again.',
    bodies: ['Refusal'],
    headers: ['Retry-After'],
  },
  504: { name: 'GatewayTimeout', about: 'No answer within the time limit.', bodies: ['Refusal'] },
};

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  Link: { description: 'URLs of other pages: `rel` is first, prev, next or last.', schema: text },
  'X-Next-Page': { description: 'Empty on the last page.', schema: text },
  'X-Page': { schema: { type: 'integer' } },
  'X-Per-Page': { schema: { type: 'integer' } },
  'X-Prev-Page': { description: 'Empty on the first page.', schema: text },
  'X-Total': { description: 'Omitted if counting would be costly.', schema: { type: 'integer' } },
  'X-Total-Pages': { description: 'Omitted with `X-Total`.', schema: { type: 'integer' } },
  Location: { description: 'An absolute URL.', required: true, schema: text },
  'Retry-After': { description: 'Seconds.', required: true, schema: { type: 'integer' } },
  'Idempotency-Replayed': { description: '`true` on a stored answer that is sent again.', schema: text },
  'RateLimit-Name': { description: 'Name of the limit that the other headers describe.', schema: text },
  'RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'End of the minute, in seconds since 1970.', schema: { type: 'integer' } },
};
const PAGE_HEADERS = ['Link', 'X-Next-Page', 'X-Page', 'X-Per-Page', 'X-Prev-Page', 'X-Total', 'X-Total-Pages'];

const queryParameter = (name: string, schema: JsonSchema, description: string): JsonSchema => ({
  name,
  in: 'query',
  schema,
  description,
});

const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  Page: queryParameter('page', { type: 'integer', default: 1, minimum: 1 }, 'Number of the page.'),
  PerPage: queryParameter(
    'per_page',
    { type: 'integer', default: 20, minimum: 1, maximum: 100 },
    'Number of items on a page.',
  ),
  Pagination: queryParameter(
    'pagination',
    { type: 'string', enum: ['keyset', 'legacy'] },
    '`keyset` has links to the next page and no totals.',
  ),
  Cursor: queryParameter('cursor', text, 'Start of a keyset page, from `Link`.'),
  IdAfter: queryParameter('id_after', { type: 'integer' }, 'Only items with a higher id.'),
  IdBefore: queryParameter('id_before', { type: 'integer' }, 'Only items with a lower id.'),
  Sudo: {
    name: 'Sudo',
    in: 'header',
    schema: { type: ['integer', 'string'] },
    description: 'Id or username of the user to act as. For tokens of administrators with the scope `sudo`.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
    description: 'Unique key of this request, such as a UUID. Repeated within a day, it gets the first answer again.',
  },
};

/** Components of every OpenAPI document. The schemas of presenters are added to them. */
export const SHARED_COMPONENTS: Readonly<Record<string, JsonSchema>> = {
  securitySchemes: SECURITY_SCHEMES,
  parameters: PARAMETERS,
  headers: HEADERS,
  responses: Object.fromEntries(Object.values(REFUSALS).map((kind) => [kind.name, describeRefusalKind(kind)])),
};

export function sharedParameter(name: string): JsonSchema {
  return componentRef('parameters', name);
}

/** Returns the response object of a failure. Errors: a plain Error for a status without one. */
export function refusalResponse(status: number): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined) throw new Error(`no refusal has the status ${status}`);
  return componentRef('responses', kind.name);
}

/** Returns the response object of a failure whose body is of another type, too, such as a page for browsers. */
export function refusalResponseAs(status: number, type: 'text/html' | 'text/plain'): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined || kind.bodies.length === 0) return refusalResponse(status);
  const response = describeRefusalKind(kind);
  return { ...response, content: { ...(response['content'] as object), [type]: {} } };
}

const TEXT = { type: 'string' };
/** Problem details (RFC 9457) with the keys of other refusals. */
const PROBLEM = {
  type: 'object',
  properties: {
    type: { ...TEXT, description: 'Always `about:blank`.' },
    status: { type: 'integer', description: 'The status.' },
    title: { ...TEXT, description: 'Text of the status.' },
    detail: { ...TEXT, description: 'The reason.' },
    message: { ...TEXT, description: 'As in the other form.' },
    error: { ...TEXT, description: 'The reason once more.' },
  },
  required: ['type', 'status', 'title', 'detail', 'error'],
};

/** Returns the response object of a failure that clients may also get as problem details. */
export function problemRefusalResponse(status: number): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined || kind.bodies.length === 0) return refusalResponse(status);
  const response = describeRefusalKind(kind);
  const content = { ...(response['content'] as object), 'application/problem+json': { schema: PROBLEM } };
  return { ...response, content };
}

/** Returns the response object of a failure at a route of a package manager that reads `error`. */
export function registryRefusalResponse(status: number): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined || kind.bodies.length === 0) return refusalResponse(status);
  const others = kind.bodies.filter((name) => name !== 'Refusal' && name !== 'RefusalOfForm');
  return describeRefusalKind({ ...kind, bodies: ['RefusalOfRegistry', ...others] });
}

/** Returns the response object of a failure that is a list of errors; the gateway answers some in the other form. */
export function errorListRefusalResponse(status: number): JsonSchema {
  const kind = REFUSALS[status];
  if (kind === undefined || kind.bodies.length === 0) return refusalResponse(status);
  return describeRefusalKind({ ...kind, bodies: [...kind.bodies, 'RefusalInList'] });
}

/** Statuses of refused imports, with the key that they have instead of `message`. */
const IMPORT_SCHEMAS: Readonly<Record<number, string>> = {
  400: 'RefusalOfImport',
  401: 'RefusalOfForm',
  403: 'RefusalOfImport',
  422: 'RefusalOfImport',
  429: 'RefusalOfForm',
};

/** Statuses of refused imports from repository hosts. */
const REPOHOST_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 422]);

/** Returns the response object of a failure at a route that starts imports of a kind. */
export function importRefusalResponse(status: number, of: 'gists' | 'remote' | 'repohost'): JsonSchema {
  const kind = REFUSALS[status];
  const ofRepohost = REPOHOST_STATUSES.has(status) ? 'RefusalOfRepohostImport' : undefined;
  const ofRemote = of === 'gists' && status === 401 ? 'RefusalOfImport' : IMPORT_SCHEMAS[status];
  const own = of === 'repohost' ? ofRepohost : ofRemote;
  if (kind === undefined || own === undefined) return refusalResponse(status);
  const { bodies, headers = [], headersOfSome = [] } = kind;
  return describeRefusalKind({
    ...kind,
    bodies: [...bodies, own],
    headers: [],
    headersOfSome: [...headers, ...headersOfSome],
  });
}

export function replayHeaderRefs(): JsonSchema {
  return headerRefs(['Idempotency-Replayed']);
}

export function pageHeaderRefs(): JsonSchema {
  return headerRefs(PAGE_HEADERS);
}

function headerRefs(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, componentRef('headers', name)]));
}

function describeRefusalKind({ about, bodies, headers = [], headersOfSome = [], plainText }: RefusalKind): JsonSchema {
  const anyOf = bodies.map((name) => componentRef('schemas', name));
  const schema = anyOf.length === 1 ? anyOf[0] : { anyOf };
  const ofSome = Object.fromEntries(headersOfSome.map((name) => [name, { ...HEADERS[name], required: false }]));
  const allHeaders = { ...headerRefs(headers), ...ofSome };
  const content = {
    ...(bodies.length === 0 ? {} : { 'application/json': { schema } }),
    ...(plainText ? { 'text/plain': { schema: text } } : {}),
  };
  return {
    description: about,
    ...(Object.keys(allHeaders).length === 0 ? {} : { headers: allHeaders }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}
