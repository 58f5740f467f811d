/** As much of OpenAPI 3 as routes and merging need. */
export interface OpenApiDocument {
  readonly openapi?: string;
  readonly info?: Readonly<Record<string, unknown>>;
  readonly servers?: readonly { readonly url: string }[];
  readonly tags?: readonly { readonly name: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface OpenApiOperation {
  readonly responses?: Readonly<Record<string, OpenApiResponse>>;
  readonly requestBody?: { readonly content?: Readonly<Record<string, unknown>> };
  /** Largest body. Units: bytes. */
  readonly 'x-rookery-body-limit'?: number;
  /** Time until the answer must begin. Units: milliseconds. */
  readonly 'x-rookery-deadline-ms'?: number;
  /** The gateway checks these for its own routes. */
  readonly 'x-rookery-token-scopes'?: readonly string[];
}

export interface OpenApiResponse {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly type?: unknown } }>>;
}

export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;

/** `/api/v4` when `servers` says so and the path does not. */
export function templateOf(document: OpenApiDocument, path: string): string {
  const server = document.servers?.[0]?.url ?? '';
  const base = (server.includes('://') ? new URL(server).pathname : server).replace(/\/+$/, '');
  return base === '' || path.startsWith(`${base}/`) ? path : `${base}${path}`;
}
