/**
 * State of an issue or epic whose confidentiality changes, with an internal note on it.
 * Source: reference work-tracking 2.4, 5.1, 9.1.
 */
export interface Secrecy {
  readonly confidential: boolean;
  /** Ids of people. */
  readonly author: number;
  readonly assignees: readonly number[];
  /** Whether it was deleted. */
  readonly isDeleted: boolean;
}

export type SecretKind = 'issue' | 'epic';

/** A visibility question about a secret. `reader` is the caller's id, or null for anonymous callers. */
export interface SecretQuestion {
  readonly kind: SecretKind;
  readonly reader: number | null;
  /** Whether the question is about its internal note instead of the secret itself. */
  readonly isNote?: true;
  /** The group whose list is read: the secret's group or one above it. */
  readonly listGroup?: number;
  /** Whether the list is that of the reader's assigned issues. */
  readonly isAssignedList?: true;
  /** Whether the list omits issues of read-only projects, as `non_archived` has it by default. */
  readonly omitsReadOnly?: boolean;
}

const LEAST = { member: 10, planner: 15, reporter: 20 };

/** Reports whether a reader who can see its project or group, with this level there, can see the secret. */
export function canSeeSecret(
  secrecy: Secrecy,
  { kind, reader, isNote, isAssignedList }: SecretQuestion,
  level: number,
): boolean {
  const isAssigned = kind === 'issue' && reader !== null && secrecy.assignees.includes(reader);
  const isAuthor = kind === 'issue' && secrecy.author === reader && level >= LEAST.member;
  const isOpen = !secrecy.confidential || level >= LEAST.planner || isAuthor || isAssigned;
  if (secrecy.isDeleted || !isOpen) return false;
  return (!isNote || level >= LEAST.reporter) && (!isAssignedList || isAssigned);
}
