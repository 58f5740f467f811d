import { bool, int, nullable, presenter, text } from '@rookery/api-v4';
import type { DirectoryUserRow } from './directory-rows';

/** Everywhere a person appears inside another thing. Source: reference work-tracking 1.3. */
export const userSummary = presenter<DirectoryUserRow>('UserSummary').fields({
  id: [int, (user) => user.id],
  username: [text, (user) => user.username],
  public_email: [nullable(text), (user) => user.publicEmail],
  name: [text, (user) => user.name],
  state: [text, (user) => user.state],
  // Accounts are never locked: there is no sign-in with a password that could be tried too often.
  locked: [bool, () => false],
  avatar_url: [nullable(text), (user, _, { links }) => absoluteUrl(user.avatarUrl, links)],
  web_url: [text, (user, _, { links }) => links.web(user.username)],
});

/** The address of an avatar as the API shows it. Shape: `url` absolute, or a path of this instance with its slash. */
export function absoluteUrl(url: string | null, links: { web(path: string): string }): string | null {
  return url?.startsWith('/') ? links.web(url.slice(1)) : url;
}

/**
 * The same shape built by PostgreSQL, for hot lists. Shape: an SQL expression of type json; `alias` names a row of
 * directory_users, which may be missing (outer join): then it is null. `externalUrl` becomes a literal.
 */
export function userSummarySql(alias: string, externalUrl: string): string {
  const base = `'${externalUrl.replace(/\/+$/, '').replaceAll("'", "''")}'`;
  return `case when ${alias}.id is not null then json_build_object(
    'id', ${alias}.id, 'username', ${alias}.username, 'public_email', ${alias}.public_email, 'name', ${alias}.name,
    'state', ${alias}.state, 'locked', false,
    'avatar_url', case when left(${alias}.avatar_url, 1) = '/' then ${base} || ${alias}.avatar_url else ${alias}.avatar_url end,
    'web_url', ${base} || '/' || ${alias}.username) end`;
}
