import { prepareStatement } from '@rookery/persistence';
import { insertPersonalNamespaceSql } from '../namespaces/namespaces.service';
import { insertPrimaryAddressSql } from './addresses/addresses.service';
import { PROJECTS_LIMIT } from './user.entity';
import type { User } from './user.entity';

type NewUserColumns = Pick<
  User,
  'username' | 'name' | 'email' | 'confirmedAt' | 'kind' | 'passwordDigest' | 'profile' | 'createdById' | 'createdAt'
> &
  Partial<
    Pick<
      User,
      | 'id'
      | 'admin'
      | 'external'
      | 'privateProfile'
      | 'publicEmail'
      | 'commitEmail'
      | 'canCreateGroup'
      | 'projectsLimit'
      | 'note'
    >
  >;

/** Result of inserting a user. `namespace_id` is null if its path is taken, so that the insertion must be refused. */
export interface InsertedUser {
  readonly id: number;
  readonly namespace_id: number | null;
}

/**
 * Statement that creates a user with address and personal namespace. It is one statement, because the number of round
 * trips limits throughput, not the number of rows. `toInsertUserValues` makes its values.
 */
export const INSERT_USER = prepareStatement(
  'user_make',
  `with person as (
     insert into users (id, username, name, email, confirmed_at, kind, admin, external, private_profile, public_email,
       commit_email, password_digest, can_create_group, projects_limit, note, profile, created_by_id, created_at, updated_at)
     values (coalesce($1::bigint, nextval(pg_get_serial_sequence('users', 'id'))), $2::text, $3::text, $4::text,
       $5::timestamptz, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18::timestamptz, $18)
     returning id),
   ${insertPrimaryAddressSql('$4', '$5')},
   ${insertPersonalNamespaceSql({ name: '$3', path: '$2', plan: '$19::text' })}
   select person.id, place.namespace_id from person left join place on true`,
);

/** Returns the values in the order of the statement, with column defaults for omitted fields. */
export function toInsertUserValues(user: NewUserColumns, plan: string): readonly unknown[] {
  const { admin = false, external = false, privateProfile = false, canCreateGroup = true } = user;
  return [
    user.id ?? null,
    user.username,
    user.name,
    user.email,
    user.confirmedAt,
    user.kind,
    admin,
    external,
    privateProfile,
    user.publicEmail ?? null,
    user.commitEmail ?? null,
    user.passwordDigest,
    canCreateGroup,
    user.projectsLimit ?? PROJECTS_LIMIT,
    user.note ?? null,
    JSON.stringify(user.profile),
    user.createdById,
    user.createdAt,
    plan,
  ];
}
