import { isLongerThan, lengthProblems, keepFieldsWithProblems } from '@rookery/kernel';
import type { AvatarChange } from '../avatars/avatars.service';
import { avatarPictureProblems } from '../avatars/picture';
import { topLevelPathProblems } from '../namespaces/paths/path-rules';
import { asProperties } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import { MIN_PASSWORD_LENGTH } from './passwords';
import type { Profile, User } from './user.entity';
import { PROFILE_TEXTS } from './user.entity';

/** Optional fields of a user. Omitted fields keep their values, or have defaults on creation. */
type UserFields = {
  readonly admin?: boolean;
  readonly external?: boolean;
  readonly private_profile?: boolean;
  readonly can_create_group?: boolean;
  readonly projects_limit?: number;
  readonly note?: string;
  readonly public_email?: string;
  readonly commit_email?: string;
  readonly extern_uid?: string;
  readonly provider?: string;
  readonly password?: string;
  readonly avatar?: AvatarChange;
} & { readonly [field in keyof Profile]?: Exclude<Profile[field], null> };

/** Fields of a new user. */
export type NewUser = UserFields & {
  readonly id?: number;
  readonly email: string;
  readonly username: string;
  readonly name: string;
};

export const EMAIL_TAKEN = 'Email has already been taken';
export const USERNAME_TAKEN = 'Username has already been taken';
export const NOT_OWN_ADDRESS = 'is not an email you own';

// Deliberately permissive: no list of top-level domains, and a host may end with digits. Source: reference
// identity-and-import 10.1.
const EMAIL = /^[^@\s]+@[^@\s]+$/;
const MAX_LENGTH = 255;

const maxLengthProblems = (text: string): string[] => lengthProblems(text, MAX_LENGTH);
const blankProblems = (text: string): string[] => (text.trim() === '' ? ["can't be blank"] : []);

function emailAddressProblems(address: string): string[] {
  if (address.trim() === '') return ["can't be blank"];
  return EMAIL.test(address) ? maxLengthProblems(address) : ['is invalid'];
}

/** Validates the given fields of a user. Returns the problems by field; empty if all fields are valid. */
export function problemsOfUser(person: Partial<NewUser>): Record<string, string[]> {
  const { email, name, username, password } = person;
  const isShort = password !== undefined && !isLongerThan(password, MIN_PASSWORD_LENGTH - 1);
  return keepFieldsWithProblems({
    email: email === undefined ? [] : emailAddressProblems(email),
    name: name === undefined ? [] : [...blankProblems(name), ...maxLengthProblems(name)],
    username: username === undefined ? [] : topLevelPathProblems(username),
    password: isShort ? [`is too short (minimum is ${MIN_PASSWORD_LENGTH} characters)`] : [],
    ...Object.fromEntries(PROFILE_TEXTS.map((field) => [field, maxLengthProblems(person[field] ?? '')])),
    avatar: person.avatar ? avatarPictureProblems(person.avatar) : [],
  });
}

/** Possible uses of a field: a column, an entry of the profile, or a rule. */
type UserFieldUse<Field> = Field extends keyof RowOf<User, keyof User>
  ? 'column' | 'address' | 'rule'
  : Field extends keyof Profile
    ? 'profile'
    : 'rule';

/** Use of each field of a user. A field without a use does not compile. */
const USES: { readonly [Field in keyof NewUser]-?: UserFieldUse<Field> } = {
  id: 'rule',
  email: 'rule',
  username: 'rule',
  name: 'rule',
  password: 'rule',
  avatar: 'rule',
  extern_uid: 'rule',
  provider: 'rule',
  admin: 'column',
  external: 'column',
  private_profile: 'column',
  can_create_group: 'column',
  projects_limit: 'column',
  note: 'column',
  public_email: 'address',
  commit_email: 'address',
  bio: 'profile',
  location: 'profile',
  linkedin: 'profile',
  twitter: 'profile',
  discord: 'profile',
  github: 'profile',
  website_url: 'profile',
  organization: 'profile',
  job_title: 'profile',
  pronouns: 'profile',
  theme_id: 'profile',
  color_scheme_id: 'profile',
  view_diffs_file_by_file: 'profile',
};

/** Returns the columns of the given fields. A blank address becomes null. */
export function columnsOfUser(person: Partial<NewUser>): Partial<User> & { readonly profile: Profile } {
  const sent = (use: UserFieldUse<keyof NewUser>): [string, unknown][] =>
    Object.entries(person).filter(([field, value]) => value !== undefined && USES[field as keyof NewUser] === use);
  const addresses = sent('address').map(([field, address]) => [field, address === '' ? null : address]);
  return {
    ...asProperties(Object.fromEntries([...sent('column'), ...addresses])),
    profile: Object.fromEntries(sent('profile')),
  };
}
