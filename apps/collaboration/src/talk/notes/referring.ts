import type { Reads, Statement } from '@rookery/persistence';
import { UNSEEN } from './note.shape';

/** The statements of a kind, and the same ones that ask of each reference whether the reader sees where it leads. */
export interface Referring<S> {
  readonly plain: S;
  readonly referring: S;
}

/**
 * Runs a statement on notes, and again with references where the answer left some out: to ask of every note whether the
 * reader sees what it refers to costs a tenth of a page, and few pages hold one that refers to anything.
 */
export async function withReferences<S, R extends { readonly json: string | null }>(
  db: Reads,
  { plain, referring }: Referring<S>,
  statement: (statements: S) => Statement<R>,
): Promise<R | undefined> {
  const [row] = await db.run(statement(plain));
  if (!row?.json?.includes(UNSEEN)) return row;
  return (await db.run(statement(referring)))[0];
}
