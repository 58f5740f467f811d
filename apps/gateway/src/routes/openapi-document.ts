/** The parts of OpenAPI 3 that routes and merging need. */
export interface OpenApiDocument {
  readonly openapi?: string;
  readonly info?: Readonly<Record<string, unknown>>;
  readonly servers?: readonly { readonly url: string }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface OpenApiOperation {
  readonly responses?: Readonly<Record<string, OpenApiResponse>>;
  /** Largest body. Units: bytes. */
  readonly 'x-rookery-body-limit'?: number;
  /** Time until the answer must begin. Units: milliseconds. */
  readonly 'x-rookery-deadline-ms'?: number;
  /** Given for templates with a wildcard, which OpenAPI cannot express: `/files/:id/*path`. */
  readonly 'x-rookery-template'?: string;
  /** Directions in which the route streams. */
  readonly 'x-rookery-streams'?: readonly ('request' | 'response')[];
  /** Token scopes of the operation; the gateway checks them only for its own routes. */
  readonly 'x-rookery-token-scopes'?: readonly string[];
}

interface OpenApiResponse {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly type?: unknown } }>>;
}

export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;

/** The path with the base of `servers` as prefix, unless it has it already. */
export function addServerPath(document: OpenApiDocument, path: string): string {
  const server = document.servers?.[0]?.url ?? '';
  const base = (server.includes('://') ? new URL(server).pathname : server).replace(/\/+$/, '');
  return base === '' || path.startsWith(`${base}/`) ? path : `${base}${path}`;
}

/** The template that the router uses for an operation. */
export function routerTemplate(document: OpenApiDocument, path: string, operation: OpenApiOperation): string {
  const own = operation['x-rookery-template'];
  return own === undefined ? addServerPath(document, path) : own.replaceAll(/:([A-Za-z_]\w*)/g, '{$1}');
}
