/**
 * An issue or epic that is confidential now and then, with an internal note on it: who may know of them.
 * Source: reference work-tracking 2.4, 5.1, 9.1.
 */
export interface Secrecy {
  readonly confidential: boolean;
  /** Ids of people. */
  readonly author: number;
  readonly assignees: readonly number[];
  /** Whether it was deleted. */
  readonly gone: boolean;
}

export type SecretKind = 'issue' | 'epic';

/** What is asked of a secret. Shape: `reader` is the id of who asks, null for nobody. */
export interface SecretQuestion {
  readonly kind: SecretKind;
  readonly reader: number | null;
  /** Its internal note, and not the thing itself. */
  readonly isNote?: true;
  /** The group whose list shall have it: that must be its own or above that. */
  readonly among?: number;
  /** Whether the list is that of what the reader is assigned to. */
  readonly isMine?: true;
}

const LEAST = { member: 10, planner: 15, reporter: 20 };

/** Does somebody who sees its project or group, and holds that level there, know of it? */
export function knowsOf(secrecy: Secrecy, { kind, reader, isNote, isMine }: SecretQuestion, level: number): boolean {
  const isAssigned = kind === 'issue' && reader !== null && secrecy.assignees.includes(reader);
  const isAuthor = kind === 'issue' && secrecy.author === reader && level >= LEAST.member;
  const isOpen = !secrecy.confidential || level >= LEAST.planner || isAuthor || isAssigned;
  if (secrecy.gone || !isOpen) return false;
  return (!isNote || level >= LEAST.reporter) && (!isMine || isAssigned);
}
