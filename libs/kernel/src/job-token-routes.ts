import { matchesRoute } from './token-scopes';

/**
 * Routes that the token of a job opens, within the project of the job. They are patterns like those of token scopes.
 * Source: reference identity-and-import 4.10.
 */
const ROUTES: readonly string[] = [
  'GET /job',
  'POST /jobs/*/artifacts',
  'PUT /jobs/*',
  'POST /projects/*/trigger/pipeline',
  'POST /projects/*/ref/*/trigger/pipeline',
  'GET /projects/*/packages/**',
  'PUT /projects/*/packages/**',
  'POST /projects/*/packages/**',
  'DELETE /projects/*/packages/**',
  'GET /projects/*/releases/**',
  'POST /projects/*/releases/**',
  'PUT /projects/*/releases/**',
  'DELETE /projects/*/releases/**',
  'GET /projects/*/repository/files/**',
  // Pushes need a token of a user.
  'GET //*/info/refs',
  'POST //*/git-upload-pack',
];
/** Protection rules are settings of the project, although their paths are below those of packages. */
const CLOSED: readonly string[] = ['* /projects/*/packages/protection/**'];

/** Whether the token of a job opens a route. `path` is the path below `/api/v4`, or begins with `//` at the root. */
export function isRouteOpenToJobTokens(method: string, path: string): boolean {
  const route = `${method === 'HEAD' ? 'GET' : method} ${path}`;
  const isMatch = (pattern: string): boolean => matchesRoute(pattern, route);
  return ROUTES.some(isMatch) && !CLOSED.some(isMatch);
}
