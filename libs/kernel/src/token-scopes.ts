/**
 * Routes that a scope of an access token opens, as data: endpoints, tokens and tests all use this table. A scope opens
 * a route; it never grants more than its holder may do. Source: reference identity-and-import 4.3, 4.4.
 */
export interface TokenScope {
  readonly about: string;
  /** Holders whose tokens may carry it: bots of groups and projects, people and service accounts, or administrators only. */
  readonly holders: 'everybody' | 'people' | 'administrators';
  /**
   * Patterns `<VERB> <path below /api/v4, or with // at the root>`, with `*` for one segment and `**` for any number of
   * following segments, or none. GET includes HEAD. An empty list opens no route of the API, but Git, registries,
   * clusters or runners.
   */
  readonly opens: 'everything' | 'reads' | readonly string[];
}

export const TOKEN_SCOPES = {
  api: { about: 'Everything, reading and writing.', holders: 'everybody', opens: 'everything' },
  read_api: { about: 'Everything that only reads.', holders: 'everybody', opens: 'reads' },
  read_user: {
    about: 'Reading of the own profile, of users and of what they did.',
    holders: 'people',
    opens: ['GET /user/**', 'GET /users/**', 'GET /events', 'GET /version', 'GET /metadata'],
  },
  create_runner: { about: 'Making runners.', holders: 'everybody', opens: [] },
  manage_runner: { about: 'Managing runners.', holders: 'everybody', opens: [] },
  k8s_proxy: { about: 'The proxy of clusters.', holders: 'everybody', opens: [] },
  self_rotate: {
    about: 'Replacing the token itself.',
    holders: 'everybody',
    opens: [
      'POST /personal_access_tokens/self/rotate',
      'POST /groups/*/access_tokens/self/rotate',
      'POST /projects/*/access_tokens/self/rotate',
    ],
  },
  read_repository: {
    about: 'Reading by Git, and files of repositories.',
    holders: 'everybody',
    opens: [
      'GET /projects/*/repository/files/**',
      'GET /projects/*/repository/tree',
      'GET /projects/*/repository/blobs/**',
      'GET /projects/*/repository/archive',
      'GET /projects/*/repository/archive.*',
      'GET /projects/*/repository/commits',
      'GET /projects/*/repository/commits/*',
      'GET /projects/*/repository/commits/*/diff',
      'GET /projects/*/repository/commits/*/refs',
      'GET /projects/*/repository/commits/*/sequence',
      'GET /projects/*/repository/commits/*/signature',
      'GET /projects/*/repository/compare',
      'GET /projects/*/repository/contributors',
      'GET /projects/*/repository/merge_base',
      'GET /projects/*/repository/branches/**',
      'GET /projects/*/repository/tags/**',
    ],
  },
  write_repository: { about: 'Reading and writing by Git.', holders: 'everybody', opens: [] },
  read_registry: { about: 'Reading of container registries.', holders: 'everybody', opens: [] },
  write_registry: { about: 'Writing to container registries.', holders: 'everybody', opens: [] },
  read_virtual_registry: { about: 'Reading through virtual registries.', holders: 'everybody', opens: [] },
  write_virtual_registry: { about: 'Writing through virtual registries.', holders: 'everybody', opens: [] },
  ai_features: { about: 'The assistant.', holders: 'everybody', opens: [] },
  read_observability: { about: 'Reading of observability data.', holders: 'everybody', opens: [] },
  write_observability: { about: 'Writing of observability data.', holders: 'everybody', opens: [] },
  mcp: { about: 'The server of context for models.', holders: 'everybody', opens: [] },
  sudo: { about: 'Acting as another user, together with another scope.', holders: 'administrators', opens: [] },
  admin_mode: { about: 'Administering where that has to be switched on.', holders: 'administrators', opens: [] },
  read_service_ping: { about: 'Reading of usage statistics.', holders: 'administrators', opens: [] },
} as const satisfies Record<string, TokenScope>;
export type ScopeName = keyof typeof TOKEN_SCOPES;

/** Routes that a token opens whatever its scopes: they concern the token itself, or are public. */
const OPEN_TO_ALL: readonly string[] = [
  'GET /personal_access_tokens/self',
  'DELETE /personal_access_tokens/self',
  'GET //uploads/-/system/user/avatar/**',
  'GET //uploads/-/system/topics/topic/avatar/**',
  'GET //users/confirmation/**',
  'POST //users/confirmation',
  'GET //-/sent_notifications/**',
  'POST //-/sent_notifications/**',
  'GET /feature_flags/unleash/**',
  'POST /feature_flags/unleash/**',
  'POST /projects/*/trigger/pipeline',
  'POST /projects/*/ref/*/trigger/pipeline',
  'GET /job',
  'PUT /jobs/*',
  'POST /jobs/*/artifacts',
  'GET //-/go-get/**',
  'GET /openapi.json',
  'GET /asyncapi.json',
  'GET //-/docs',
  'GET //-/docs/**',
  'GET //-/geo/status',
  'GET //.well-known/terraform.json',
  'GET //-/health/**',
  // Requests of git are checked by scope after the project is found, because the parameter names the service.
  'GET //*/info/refs',
  'POST //*/git-upload-pack',
  'POST //*/git-receive-pack',
  'GET //*/info/lfs/**',
  'POST //*/info/lfs/**',
];

const NAMES = Object.keys(TOKEN_SCOPES) as ScopeName[];

/** The scopes that a token may carry, in the order of the table. */
export function scopesOf(holder: 'bot' | 'person' | 'administrator'): readonly ScopeName[] {
  const fits: Readonly<Record<typeof holder, readonly TokenScope['holders'][]>> = {
    bot: ['everybody'],
    person: ['everybody', 'people'],
    administrator: ['everybody', 'people', 'administrators'],
  };
  return NAMES.filter((name) => fits[holder].includes(TOKEN_SCOPES[name].holders));
}

/**
 * Returns the scopes that open a route, most general first; null if every token does. `path` is the path below
 * `/api/v4`, or begins with `//` at the root.
 */
export function scopesOpening(method: string, path: string): readonly ScopeName[] | null {
  const verb = method === 'HEAD' ? 'GET' : method;
  const isMatch = (pattern: string): boolean => matchesRoute(pattern, `${verb} ${path}`);
  if (OPEN_TO_ALL.some(isMatch)) return null;
  return NAMES.filter((name) => {
    const { opens }: TokenScope = TOKEN_SCOPES[name];
    if (opens === 'everything') return true;
    return opens === 'reads' ? verb === 'GET' : opens.some(isMatch);
  });
}

/** Whether a route matches a pattern of `TokenScope.opens`. */
export function matchesRoute(pattern: string, route: string): boolean {
  const text = pattern
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\/\*\*$|\*/g, (star) => (star === '*' ? '[^/]+' : '(?:/.*)?'));
  return new RegExp(`^${text}$`).test(route);
}
