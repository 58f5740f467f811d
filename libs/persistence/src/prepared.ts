/** A statement that each connection parses once, by name. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

const texts = new Map<string, string>();

/**
 * Names a statement, so that PostgreSQL parses it once a connection and keeps its plan.
 * Shape: one name for one text in the whole process; write limits as literals, since a parameter in `LIMIT` hides the
 * number of rows from the planner (one statement for each page size, when the size varies).
 * Errors: a plain Error when the name is taken by another text or too long for PostgreSQL (63 bytes).
 * Source: design/performance, learnt 2.
 */
export function prepared(name: string, text: string): Prepared {
  const known = texts.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  if (Buffer.byteLength(name) > 63) throw new Error(`the statement name ${name} is longer than 63 bytes`);
  texts.set(name, text);
  return { name, text };
}

/**
 * A FROM item of one row that makes prepared statements keep one plan until the end of the transaction: PostgreSQL would
 * plan statements over lists anew each time, since it guesses ten items, and planning the joins of an effect costs more
 * than running them. For work on short lists of ids only. Source: design/performance, learnt 2; ADR 0095.
 */
export const keptPlansSql = `(select set_config('plan_cache_mode', 'force_generic_plan', true)) as kept_plans`;
