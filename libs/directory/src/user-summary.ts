import { bool, int, nullable, presenter, text, choice } from '@rookery/api-v4';
import { USER_STATES } from '@rookery/kernel';
import type { DirectoryUserRow } from './copy/directory-rows';

/** Presenter of users inside other resources. Source: reference work-tracking 1.3. */
export const userSummary = presenter<DirectoryUserRow>('UserSummary').fields({
  id: [int, (user) => user.id],
  username: [text, (user) => user.username],
  public_email: [nullable(text), (user) => user.publicEmail],
  name: [text, (user) => user.name],
  state: [choice<string>(...USER_STATES), (user) => user.state],
  // Accounts are never locked, because sign-in with a password does not exist.
  locked: [bool, () => false],
  avatar_url: [nullable(text), (user, _, { links }) => absoluteUrl(user.avatarUrl, links)],
  web_url: [text, (user, _, { links }) => links.webUrl(user.username)],
});

/** Returns the absolute URL of an avatar. `url` is absolute, or a path of this instance with a leading slash. */
export function absoluteUrl(url: string | null, links: { webUrl(path: string): string }): string | null {
  return url?.startsWith('/') ? links.webUrl(url.slice(1)) : url;
}
