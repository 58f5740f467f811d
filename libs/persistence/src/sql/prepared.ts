import { createHash } from 'node:crypto';
import type { PageRequest } from '@rookery/kernel';
import { fitted, placesIn, renumbered } from './conditions';
import type { Draft } from './conditions';

/** A statement that each connection parses once, by name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** A statement and its values. With a name it is kept prepared. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

const texts = new Map<string, string>();
const byText = new Map<string, Prepared>();

/** Page sizes that stock clients ask for; statements of other sizes are not kept prepared. */
const USUAL_SIZES: readonly number[] = [20, 50, 100];

export function isUsualSize(perPage: number): boolean {
  return USUAL_SIZES.includes(perPage);
}

/** The first page of such a size, and a light one. */
export function isUsualPage({ page, perPage, mayBeHeavy }: PageRequest): boolean {
  return page === 1 && isUsualSize(perPage) && !mayBeHeavy;
}

/**
 * Names a statement, so that PostgreSQL parses it once a connection and keeps its plan.
 * Shape: one name for one text in the whole process; write limits as literals, since a parameter in `LIMIT` hides the
 * number of rows from the planner (one statement for each page size, when the size varies).
 * Errors: a plain Error when the name is taken by another text or too long for PostgreSQL (63 bytes).
 * Source: docs/performance.md 5.2.
 */
export function prepared(name: string, text: string): Prepared {
  const known = texts.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  if (Buffer.byteLength(name) > 63) throw new Error(`the statement name ${name} is longer than 63 bytes`);
  texts.set(name, text);
  return { name, text };
}

/** As `prepared`, for texts that are put together: those of one kind are told apart by a digest. */
export function preparedByText(kind: string, text: string): Prepared {
  const known = byText.get(text);
  if (known) return known;
  const made = prepared(`${kind}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`, text);
  byText.set(text, made);
  return made;
}

/**
 * Statements that are made at their first use, for hot paths: putting the text together costs more than sending it.
 * Shape: whatever the text depends on stands in the name. All of them may be handed the same values: those that have no
 * place in the text are left out.
 */
export class KeptStatements {
  private readonly known = new Map<string, { readonly text: string; readonly places: readonly number[] }>();

  /** Shape: without a name the statement is made for this once; it may bring more values then. */
  statement(name: string | null, values: readonly unknown[], make: () => Draft): Statement {
    if (name === null) return fitted(make());
    const { text, places } = this.known.get(name) ?? this.make(name, make().text);
    return { name, text, values: places.map((place) => values[place - 1]) };
  }

  private make(name: string, sql: string): { text: string; places: readonly number[] } {
    const places = placesIn(sql);
    const made = { text: prepared(name, renumbered(sql, places)).text, places };
    this.known.set(name, made);
    return made;
  }
}
