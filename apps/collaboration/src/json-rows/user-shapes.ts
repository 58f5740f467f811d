import { bool } from '@rookery/api-v4';
import { json, jsonShape, literalSql } from './json-shape';
import type { JsonField, JsonShape } from './json-shape';

/**
 * People as they appear inside other things, built by PostgreSQL from a row of directory_users.
 * Shape: the fields of directory's `userSummary`, in its order (a contract test holds the two together).
 * Source: reference work-tracking 1.3.
 */
export function userShape(user: string, externalUrl: string): JsonShape {
  return jsonShape('UserSummary', userFields(user, externalUrl));
}

/**
 * The author of a note: also `email` and `created_at`. The address is the public one, else a private no-reply address;
 * the real one goes to an administrator and to the person alone.
 * Shape: `viewer` and `isAdmin` are SQL expressions. Source: requirements 1 §2; reference work-tracking 1.3; ADR 0074.
 */
export function noteAuthorShape(
  user: string,
  externalUrl: string,
  o: { readonly viewer: string; readonly isAdmin: string },
): JsonShape {
  const noReply = `${user}.id || '-' || ${user}.username || ${literalSql(`@users.noreply.${new URL(externalUrl).hostname}`)}`;
  const real = `case when ${o.isAdmin} or ${user}.id = ${o.viewer} then ${user}.notification_email end`;
  return jsonShape('NoteAuthor', {
    ...userFields(user, externalUrl),
    email: json.text(`coalesce(${real}, ${user}.public_email, ${noReply})`),
    created_at: json.instant(`${user}.created_at`),
  });
}

function userFields(user: string, externalUrl: string): Record<string, JsonField> {
  const plain = externalUrl.replace(/\/+$/, '');
  const base = literalSql(plain);
  const avatar = `${user}.avatar_url`;
  return {
    id: json.int(`${user}.id`),
    username: json.token(`${user}.username`),
    public_email: json.textOrNull(`${user}.public_email`),
    name: json.text(`${user}.name`),
    state: json.token(`${user}.state`),
    locked: json.constant(bool, false),
    avatar_url: json.textOrNull(`case when left(${avatar}, 1) = '/' then ${base} || ${avatar} else ${avatar} end`),
    web_url: json.token(`${user}.username`, `${plain}/`),
  };
}
