import type { SqlReader, Statement } from '@rookery/persistence';
import { HIDDEN_REFERENCE } from './note.shape';

/**
 * The statements of a kind: `plain` ones hide every reference, `referring` ones check whether the reader may see its
 * target.
 */
export interface ReferenceStatements<S> {
  readonly plain: S;
  readonly referring: S;
}

/**
 * Runs a plain statement on notes, and runs the referring one if the result hides a reference. Checking the references of
 * every note costs a tenth of a page, and few pages contain a reference.
 */
export async function runReferringStatementIfNeeded<S, R extends { readonly json: string | null }>(
  db: SqlReader,
  { plain, referring }: ReferenceStatements<S>,
  statement: (statements: S) => Statement<R>,
): Promise<R | undefined> {
  const [row] = await db.run(statement(plain));
  if (!row?.json?.includes(HIDDEN_REFERENCE)) return row;
  return (await db.run(statement(referring)))[0];
}
