import { bool } from '@rookery/api-v4';
import { USER_STATES } from '@rookery/kernel';
import { json, jsonShape, literalSql } from './json.shape';

/** A person in a statement. Shape: `user` is an alias of directory_users. */
export interface PersonRow {
  readonly user: string;
  readonly externalUrl: string;
}

/** A person who wrote something. Shape: `viewer` and `isAdmin` are SQL expressions. */
interface NoteAuthorSql extends PersonRow {
  readonly viewer: string;
  readonly isAdmin: string;
}

/** The address of this instance without a slash at its end. */
export function baseOf({ externalUrl }: { readonly externalUrl: string }): string {
  return externalUrl.replace(/\/+$/, '');
}

/**
 * People as they appear inside other things. Shape: the fields of directory's `userSummary`, in its order (a contract
 * test holds the two together). Source: reference work-tracking 1.3.
 */
export const personShape = jsonShape<PersonRow>('UserSummary').fields({
  id: [json.int, ({ user }) => `${user}.id`],
  username: [json.token, ({ user }) => `${user}.username`],
  public_email: [json.textOrNull, ({ user }) => `${user}.public_email`],
  name: [json.text, ({ user }) => `${user}.name`],
  state: [json.choice<string>(...USER_STATES), ({ user }) => `${user}.state`],
  locked: [json.constant(bool), () => false],
  avatar_url: [json.textOrNull, avatarSql],
  web_url: [json.prefixed, (row) => ({ prefix: `${baseOf(row)}/`, sql: `${row.user}.username` })],
});

/**
 * The author of a note: also `email` and `created_at`. The address is the public one, else a private no-reply address;
 * the real one goes to an administrator and to the person alone, as does the day on which a private profile was made.
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
        const real = `case when ${isTheirsToSee(sql)} then ${user}.notification_email end`;
        return `coalesce(${real}, ${user}.public_email, ${noReply})`;
      },
    ],
  })
  .extend<NoteAuthorSql>('NoteAuthor')
  .fields(
    { created_at: [json.instant, ({ user }) => `${user}.created_at`] },
    (sql) => `not ${sql.user}.private_profile or ${isTheirsToSee(sql)}`,
  );

/** What people keep to themselves: true for them and for administrators. */
function isTheirsToSee(sql: Pick<NoteAuthorSql, 'user' | 'viewer' | 'isAdmin'>): string {
  return `${sql.isAdmin} or ${sql.user}.id = ${sql.viewer}`;
}

function avatarSql(row: PersonRow): string {
  const avatar = `${row.user}.avatar_url`;
  return `case when left(${avatar}, 1) = '/' then ${literalSql(baseOf(row))} || ${avatar} else ${avatar} end`;
}
