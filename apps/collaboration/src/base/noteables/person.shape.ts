import { bool } from '@rookery/api-v4';
import { USER_STATES } from '@rookery/kernel';
import { json, beginJsonShape, literalSql } from './json.shape';

/** SQL sources of a user's JSON. `user` is an alias of directory_users. */
export interface PersonRow {
  readonly user: string;
  readonly externalUrl: string;
}

/** SQL sources of an author's JSON. `viewer` and `isAdmin` are SQL expressions. */
interface NoteAuthorSql extends PersonRow {
  readonly viewer: string;
  readonly isAdmin: string;
}

/** Base URL of this instance, without a trailing slash. */
export function trimBaseUrl({ externalUrl }: { readonly externalUrl: string }): string {
  return externalUrl.replace(/\/+$/, '');
}

/**
 * A user inside the JSON of other resources. The fields and their order are those of the directory's `userSummary`. A
 * contract test compares the two. Source: reference work-tracking 1.3.
 */
export const personShape = beginJsonShape<PersonRow>('UserSummary').fields({
  id: [json.int, ({ user }) => `${user}.id`],
  username: [json.token, ({ user }) => `${user}.username`],
  public_email: [json.textOrNull, ({ user }) => `${user}.public_email`],
  name: [json.text, ({ user }) => `${user}.name`],
  state: [json.choice<string>(...USER_STATES), ({ user }) => `${user}.state`],
  locked: [json.constant(bool), () => false],
  avatar_url: [json.textOrNull, avatarUrlSql],
  web_url: [json.prefixed, (row) => ({ prefix: `${trimBaseUrl(row)}/`, sql: `${row.user}.username` })],
});

/**
 * Author of a note: a user with `email` and `created_at`. The address is the public one, else a private no-reply address.
 * Only administrators and the user get the real address, and the creation time of a private profile.
 * Source: requirements 1 §2; reference work-tracking 1.3.
 */
export const noteAuthorShape = personShape
  .extend<NoteAuthorSql>('NoteAuthor')
  .fields({
    email: [
      json.text,
      ({ externalUrl, ...sql }) => {
        const { user } = sql;
        const noReply = `${user}.id || '-' || ${user}.username || ${literalSql(`@users.noreply.${new URL(externalUrl).hostname}`)}`;
        const real = `case when ${canSeePrivateUserFieldsSql(sql)} then ${user}.notification_email end`;
        return `coalesce(${real}, ${user}.public_email, ${noReply})`;
      },
    ],
  })
  .extend<NoteAuthorSql>('NoteAuthor')
  .fields(
    { created_at: [json.instant, ({ user }) => `${user}.created_at`] },
    (sql) => `not ${sql.user}.private_profile or ${canSeePrivateUserFieldsSql(sql)}`,
  );

/** Boolean SQL: whether the viewer is the user or an administrator, who alone see private fields. */
function canSeePrivateUserFieldsSql(sql: Pick<NoteAuthorSql, 'user' | 'viewer' | 'isAdmin'>): string {
  return `${sql.isAdmin} or ${sql.user}.id = ${sql.viewer}`;
}

function avatarUrlSql(row: PersonRow): string {
  const avatar = `${row.user}.avatar_url`;
  return `case when left(${avatar}, 1) = '/' then ${literalSql(trimBaseUrl(row))} || ${avatar} else ${avatar} end`;
}
