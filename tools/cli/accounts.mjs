/**
 * Commands about users, tokens and projects, through the API.
 *
 * @import { Api } from './api.mjs'
 * @import { Output } from './output.mjs'
 */
import { CommandFailure } from './output.mjs';

/**
 * Creates a user. Without `password`, the account has a random one that no person knows.
 * @param {Api} api
 * @param {Output} output
 * @param {{ username: string, name?: string, email: string, admin?: boolean, password?: string }} options
 */
export async function createUser(api, output, { username, name = username, email, admin = false, password }) {
  const user = await api.ask('POST', '/users', {
    ...{ username, name, email, admin },
    skip_confirmation: true,
    ...(password === undefined ? { force_random_password: true } : { password }),
  });
  output.result(`user ${user.id} ${user.username} created`, { id: user.id, username: user.username, email });
}

/**
 * Creates a personal access token of a user. The output is the only place where the token ever appears.
 * @param {Api} api
 * @param {Output} output
 * @param {{ user: string, name: string, scopes: string[], expiresAt?: string }} options
 */
export async function createToken(api, output, { user, name, scopes, expiresAt }) {
  const [found] = await api.ask('GET', `/users?username=${encodeURIComponent(user)}`);
  if (!found) throw new CommandFailure(`there is no user ${user}`);
  const made = await api.ask('POST', `/users/${found.id}/personal_access_tokens`, {
    name,
    scopes,
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  });
  output.result(made.token, { id: made.id, token: made.token, user, scopes, expires_at: made.expires_at });
}

/**
 * Lists projects, the newest first.
 * @param {Api} api
 * @param {Output} output
 * @param {{ search?: string, limit: number }} options
 */
export async function listProjects(api, output, { search, limit }) {
  const rows = [];
  const filter = search === undefined ? '' : `&search=${encodeURIComponent(search)}`;
  const size = Math.min(limit, 100);
  for (let page = 1; rows.length < limit; page += 1) {
    const found = await api.ask('GET', `/projects?order_by=id&sort=desc&per_page=${size}&page=${page}${filter}`);
    rows.push(...found);
    if (found.length < size) break;
  }
  const shown = rows.slice(0, limit).map((/** @type {any} */ project) => ({
    id: project.id,
    path: project.path_with_namespace,
    visibility: project.visibility,
    last_activity_at: project.last_activity_at,
  }));
  output.rows(shown, ['id', 'path', 'visibility', 'last_activity_at']);
}
