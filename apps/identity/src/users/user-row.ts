import type { User } from './user.entity';

/** What a summary shows of a person. */
export type UserFace = Pick<User, 'id' | 'username' | 'name' | 'state' | 'avatar_url' | 'public_email'>;
/** A user as the statements of this room read it. */
export interface UserRow extends User {
  readonly namespace_id: number | null;
  readonly plan: string | null;
  readonly created_by: UserFace | null;
  readonly identities: readonly { provider: string; extern_uid: string }[];
  /** Only where they were asked for by an administrator. */
  readonly custom_attributes?: readonly { key: string; value: string }[] | null;
}
