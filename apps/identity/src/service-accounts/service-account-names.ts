import { randomBytes } from 'node:crypto';
import { Conflict, Refused } from '@rookery/kernel';
import type { Tx, Work } from '@rookery/persistence';
import { violatesConstraint } from '@rookery/persistence';
import { EMAIL_TAKEN, problemsOfUser, USERNAME_TAKEN } from '../users/user-rules';
import type { ServiceAccountOwner } from './service-accounts.queries';

/** Names that a caller chose for a service account. Omitted names are undefined. */
export interface ChosenNames {
  readonly name?: string;
  readonly username?: string;
  readonly email?: string;
}

const DEFAULT_NAME = 'Service account user';

/**
 * Returns the names of a new account. Omitted ones are generated; generated username and address share the random part.
 * Source: reference identity-and-import 5.
 */
export function chooseServiceAccountNames(
  owner: ServiceAccountOwner,
  chosen: ChosenNames,
  host: string,
): Required<ChosenNames> {
  const prefix = owner === 'instance' ? 'service_account' : `service_account_group_${owner}`;
  const generated = `${prefix}_${randomBytes(16).toString('hex')}`;
  return {
    name: chosen.name || DEFAULT_NAME,
    username: chosen.username || generated,
    email: chosen.email || `${generated}@noreply.${host}`,
  };
}

/** Errors: Refused with all problems in one sentence. */
export function refuseInvalidServiceAccountNames({ name, username, email }: ChosenNames): void {
  const said = {
    ...(name === undefined ? {} : { name }),
    ...(username === undefined ? {} : { username }),
    ...(email === undefined ? {} : { email }),
  };
  const problems = Object.entries(problemsOfUser(said)).flatMap(([field, texts]) =>
    texts.map((text) => `${field[0]!.toUpperCase()}${field.slice(1)} ${text}`),
  );
  if (problems.length > 0) throw new Refused(problems.join(', '));
}

/**
 * Runs a unit of work that may violate the uniqueness of names. `addressTaken` runs before the answer discloses that
 * the address is taken. Errors: Refused for taken names; those of `addressTaken`.
 */
export async function translateAccountUniqueViolations<T>(
  work: Work,
  use: (tx: Tx) => Promise<T>,
  addressTaken: () => Promise<void>,
): Promise<T> {
  try {
    return await work.run(use);
  } catch (error) {
    if (violatesConstraint(error, 'uq_emails_email')) {
      await addressTaken();
      throw new Refused(EMAIL_TAKEN);
    }
    const isTaken =
      violatesConstraint(error, 'uq_users_username') || violatesConstraint(error, 'uq_namespaces_full_path');
    if (isTaken || error instanceof Conflict) throw new Refused(USERNAME_TAKEN);
    throw error;
  }
}
