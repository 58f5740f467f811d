/**
 * Finds tables in a statement that it reads or writes without a condition on their distribution key. PostgreSQL's own parser
 * reads the statement.
 *
 * @typedef {Record<string, any>} Node A part of the syntax tree, as `libpg-query` returns it.
 * @typedef {{ table: string, name: string }} Range A table with its name in a statement: the alias, else its own name.
 * @typedef {{ keyOf(table: string): string | undefined, columnsOf(table: string): string[] }} Tables `keyOf` returns the
 *   distribution key, or undefined for a table that is not distributed.
 * @typedef {{ temporary: Set<string>, outer: Range[] }} Scope Names of `with` queries, and tables of the enclosing queries.
 * @typedef {{ distributed: Range[], others: Range[], outer: Range[], tables: Tables }} Within The tables of a query.
 */
import { loadModule, parseSync } from 'libpg-query';

const STATEMENTS = new Set(['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt']);
/** Texts, names and comments in which a colon is no mark of a parameter, or a parameter by number or name. */
const PARAMETER = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|:\$(\d+)|:([a-z_]\w*)/gi;

await loadModule();

/**
 * Distributed tables that a statement neither filters nor joins by their keys, by their names in the statement. An equality
 * counts, also with a list, a subquery or a column of another table; an inserted row counts if it has the key.
 * @param {string} sql Parameters are `$1` or `:name`.
 * @param {Tables} tables
 * @returns {Range[]}
 */
export function rangesWithoutKey(sql, tables) {
  /** @type {Range[]} */
  const found = [];
  for (const { stmt } of parseSync(withNumbers(sql)).stmts ?? []) visit(stmt, { temporary: new Set(), outer: [] });
  return found;

  /** @type {(value: unknown, scope: Scope) => void} */
  function visit(value, scope) {
    if (Array.isArray(value)) for (const one of value) visit(one, scope);
    else if (value && typeof value === 'object')
      for (const [name, child] of Object.entries(value))
        if (STATEMENTS.has(name)) examine(child, scope);
        else visit(child, scope);
  }

  /**
   * Examines the tables of one query, then those of the queries in it.
   * @type {(query: Node, scope: Scope) => void}
   */
  function examine(query, scope) {
    const { op, larg, rarg, ...parts } = query;
    const names = (query['withClause']?.ctes ?? []).map((/** @type {Node} */ one) => one['CommonTableExpr'].ctename);
    const temporary = new Set([...scope.temporary, ...names]);
    if (op !== undefined && op !== 'SETOP_NONE') for (const one of [larg, rarg]) examine(one, { ...scope, temporary });
    const { ranges, conditions } = sourcesOf(query);
    const distributed = ranges.filter(({ table }) => !temporary.has(table) && tables.keyOf(table) !== undefined);
    const others = ranges.filter((range) => !distributed.includes(range));
    const within = { distributed, others, outer: scope.outer, tables };
    const bound = new Set(conditions.flatMap((one) => [...namesBound(one, within)]));
    const inserted = new Set((query['cols'] ?? []).map((/** @type {Node} */ one) => one['ResTarget'].name));
    for (const range of distributed) {
      const isInserted = range.table === query['relation']?.relname && inserted.has(tables.keyOf(range.table));
      if (!bound.has(range.name) && !isInserted) found.push(range);
    }
    visit(parts, { temporary, outer: [...distributed, ...scope.outer] });
  }
}

/**
 * The statement with numbers in place of the names of the first comment, which PostgreSQL does not know.
 * @param {string} sql
 */
function withNumbers(sql) {
  const [comment = ''] = /^--[^\n]*/.exec(sql) ?? [];
  const numbers = new Map([...comment.matchAll(/(\$\d+) (\w+)/g)].map(([, number, name]) => [name, number]));
  return sql.replaceAll(PARAMETER, (text, number, name) => {
    const place = number ? `$${number}` : numbers.get(name);
    // The formatter sets no blank between a word and a colon.
    return place === undefined ? text : ` ${place} `;
  });
}

/**
 * Tables of a query, without those of the queries in it, and its conditions.
 * @param {Node} query
 */
function sourcesOf(query) {
  /** @type {Range[]} */
  const ranges = [];
  /** @type {Node[]} */
  const conditions = query['whereClause'] ? [query['whereClause']] : [];
  /** @param {Node} node */
  const add = (node) => {
    const { RangeVar: range, JoinExpr: join } = node;
    if (range) ranges.push({ table: range.relname, name: range.alias?.aliasname ?? range.relname });
    if (!join) return;
    add(join.larg);
    add(join.rarg);
    if (join.quals) conditions.push(join.quals);
    if (join.usingClause)
      conditions.push({ Using: join.usingClause.map((/** @type {Node} */ one) => one['String'].sval) });
  };
  if (query['relation']) add({ RangeVar: query['relation'] });
  for (const node of [...(query['fromClause'] ?? []), ...(query['usingClause'] ?? [])]) add(node);
  return { ranges, conditions };
}

/**
 * Names of tables that a condition binds to one value or a list of values of their keys.
 * @param {Node} condition
 * @param {Within} within
 * @returns {Set<string>}
 */
function namesBound(condition, within) {
  const { BoolExpr: logical, A_Expr: comparison, SubLink: subquery, Using: shared } = condition;
  if (logical?.boolop === 'AND_EXPR')
    return new Set(logical.args.flatMap((/** @type {Node} */ one) => [...namesBound(one, within)]));
  if (logical?.boolop === 'OR_EXPR') {
    const [first, ...others] = logical.args.map((/** @type {Node} */ one) => namesBound(one, within));
    return new Set([...first].filter((name) => others.every((/** @type {Set<string>} */ one) => one.has(name))));
  }
  if (shared)
    return new Set(within.distributed.filter((one) => shared.includes(keyOf(one, within))).map(({ name }) => name));
  if (subquery?.subLinkType === 'ANY_SUBLINK')
    return new Set(partsOf(subquery.testexpr).flatMap((part) => namesEqual(part, null, within)));
  if (!isEquality(comparison)) return new Set();
  const [left, right] = [partsOf(comparison.lexpr), partsOf(comparison.rexpr)];
  return new Set([
    ...left.flatMap((part, at) => namesEqual(part, right[at] ?? null, within)),
    ...right.flatMap((part, at) => namesEqual(part, left[at] ?? null, within)),
  ]);
}

/** @param {Node | undefined} comparison */
function isEquality(comparison) {
  const isKind = ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN', 'AEXPR_NOT_DISTINCT'].includes(comparison?.['kind']);
  return isKind && comparison?.['name'].at(-1).String.sval === '=';
}

/**
 * The columns of a row, or the one value.
 * @param {Node} side
 * @returns {Node[]}
 */
function partsOf(side) {
  return side['RowExpr'] ? side['RowExpr'].args : [side];
}

/**
 * The name of the table whose key is equal to the other side. A column of a distributed table that is not the same key does
 * not count: its row may be in another part.
 * @param {Node} part
 * @param {Node | null} other
 * @param {Within} within
 */
function namesEqual(part, other, within) {
  const range = rangeOf(part, within);
  if (!range || columnOf(part) !== keyOf(range, within)) return [];
  const partner = other && rangeOf(other, within);
  const isElsewhere =
    partner && (columnOf(other) !== keyOf(partner, within) || keyOf(partner, within) !== keyOf(range, within));
  return isElsewhere ? [] : [range.name];
}

/**
 * The distributed table that a column belongs to, the innermost first.
 * @param {Node} part
 * @param {Within} within
 */
function rangeOf(part, { distributed, others, outer, tables }) {
  const column = columnOf(part);
  if (column === undefined) return undefined;
  const [name] = part['ColumnRef'].fields.length > 1 ? part['ColumnRef'].fields : [];
  if (name)
    return others.some((one) => one.name === name.String.sval)
      ? undefined
      : [...distributed, ...outer].find((one) => one.name === name.String.sval);
  return [...distributed, ...outer].find(({ table }) => tables.columnsOf(table).includes(column));
}

/**
 * @param {Node} part
 * @returns {string | undefined}
 */
function columnOf(part) {
  return part['ColumnRef']?.fields.at(-1).String?.sval;
}

/**
 * @param {Range} range
 * @param {Within} within
 */
function keyOf({ table }, { tables }) {
  return tables.keyOf(table);
}
