import type { AvatarChange } from '../avatars/avatars.service';
import { problemsByField, topLevelPathProblems } from '../paths/path-rules';
import { MIN_PASSWORD_LENGTH } from './passwords';
import type { Profile } from './user.entity';
import { PROFILE_TEXTS, User } from './user.entity';

/** What may be said of a user; what is left out stays, or is the default. */
export type UserFields = {
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

/** What an administrator says of a new user. */
export type NewUser = UserFields & {
  readonly id?: number;
  readonly email: string;
  readonly username: string;
  readonly name: string;
};

export const EMAIL_TAKEN = 'Email has already been taken';
export const USERNAME_TAKEN = 'Username has already been taken';
export const NOT_OWN_ADDRESS = 'is not an email you own';

// Deliberately loose: no list of top-level domains, numbers may end the host. Source: reference identity-and-import 10.1.
const EMAIL = /^[^@\s]+@[^@\s]+$/;
const MAX_LENGTH = 255;

const tooLong = (text: string): string[] =>
  text.length > MAX_LENGTH ? [`is too long (maximum is ${MAX_LENGTH} characters)`] : [];
const blank = (text: string): string[] => (text.trim() === '' ? ["can't be blank"] : []);

function addressProblems(address: string): string[] {
  if (address.trim() === '') return ["can't be blank"];
  return EMAIL.test(address) ? tooLong(address) : ['is invalid'];
}

/** What is wrong with the fields that are there, by field. */
export function problemsOfUser(person: Partial<NewUser>): Record<string, string[]> {
  const { email, name, username, password } = person;
  const isShort = password !== undefined && password.length < MIN_PASSWORD_LENGTH;
  return problemsByField({
    email: email === undefined ? [] : addressProblems(email),
    name: name === undefined ? [] : [...blank(name), ...tooLong(name)],
    username: username === undefined ? [] : topLevelPathProblems(username),
    password: isShort ? [`is too short (minimum is ${MIN_PASSWORD_LENGTH} characters)`] : [],
    ...Object.fromEntries(PROFILE_TEXTS.map((field) => [field, tooLong(person[field] ?? '')])),
  });
}

/** The columns of the fields that are there. */
export function columnsOfUser(person: Partial<NewUser>): Partial<User> & { readonly profile: Profile } {
  const { admin, external, private_profile, can_create_group, projects_limit, note } = person;
  const columns = { admin, external, private_profile, can_create_group, projects_limit, note };
  const addresses = Object.entries({ public_email: person.public_email, commit_email: person.commit_email })
    .filter(([, address]) => address !== undefined)
    .map(([field, address]) => [field, address === '' ? null : address]);
  const fields = [...PROFILE_TEXTS, 'theme_id', 'color_scheme_id', 'view_diffs_file_by_file'] as const;
  const profile = Object.fromEntries(
    fields.filter((field) => person[field] !== undefined).map((field) => [field, person[field]]),
  ) as Profile;
  const sent = Object.entries(columns).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries([...sent, ...addresses]) as Partial<User>), profile };
}
