/**
 * Finds tables in a statement that it reads or writes without a condition on their distribution key. PostgreSQL's own parser
 * reads the statement.
 *
 * @typedef {Record<string, any>} SqlNode A part of the syntax tree, as `libpg-query` returns it.
 * @typedef {{ table: string, name: string }} TableRange A table and its name in a statement: the alias if it has one.
 * @typedef {{ keyOf(table: string): string | undefined, columnsOf(table: string): string[] }} TableKeys
 *   `keyOf` returns the distribution key, or undefined for a table that is not distributed.
 * @typedef {{ temporary: Set<string>, outer: TableRange[] }} QueryScope
 *   Names of `with` queries, and tables of the enclosing queries.
 * @typedef {{ distributed: TableRange[], others: TableRange[], outer: TableRange[],
 *   tables: TableKeys }} QueryTables The tables of a query.
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
 * @param {TableKeys} tables
 * @returns {TableRange[]}
 */
export function tablesWithoutKeyCondition(sql, tables) {
  /** @type {TableRange[]} */
  const found = [];
  for (const { stmt } of parseSync(withNumberedParameters(sql)).stmts ?? [])
    visit(stmt, { temporary: new Set(), outer: [] });
  return found;

  /** @type {(value: unknown, scope: QueryScope) => void} */
  function visit(value, scope) {
    if (Array.isArray(value)) for (const one of value) visit(one, scope);
    else if (value && typeof value === 'object')
      for (const [name, child] of Object.entries(value))
        if (STATEMENTS.has(name)) examine(child, scope);
        else visit(child, scope);
  }

  /**
   * Examines the tables of one query, then those of the queries in it.
   * @type {(query: SqlNode, scope: QueryScope) => void}
   */
  function examine(query, scope) {
    const { op, larg, rarg, ...parts } = query;
    const names = (query['withClause']?.ctes ?? []).map((/** @type {SqlNode} */ one) => one['CommonTableExpr'].ctename);
    const temporary = new Set([...scope.temporary, ...names]);
    if (op !== undefined && op !== 'SETOP_NONE') for (const one of [larg, rarg]) examine(one, { ...scope, temporary });
    const { ranges, conditions } = tablesAndConditionsOf(query);
    const distributed = ranges.filter(({ table }) => !temporary.has(table) && tables.keyOf(table) !== undefined);
    const others = ranges.filter((range) => !distributed.includes(range));
    const within = { distributed, others, outer: scope.outer, tables };
    const bound = new Set(conditions.flatMap((one) => [...tableNamesBoundByKey(one, within)]));
    const inserted = new Set((query['cols'] ?? []).map((/** @type {SqlNode} */ one) => one['ResTarget'].name));
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
function withNumberedParameters(sql) {
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
 * @param {SqlNode} query
 */
function tablesAndConditionsOf(query) {
  /** @type {TableRange[]} */
  const ranges = [];
  /** @type {SqlNode[]} */
  const conditions = query['whereClause'] ? [query['whereClause']] : [];
  /** @param {SqlNode} node */
  const add = (node) => {
    const { RangeVar: range, JoinExpr: join } = node;
    if (range) ranges.push({ table: range.relname, name: range.alias?.aliasname ?? range.relname });
    if (!join) return;
    add(join.larg);
    add(join.rarg);
    if (join.quals) conditions.push(join.quals);
    if (join.usingClause)
      conditions.push({ Using: join.usingClause.map((/** @type {SqlNode} */ one) => one['String'].sval) });
  };
  if (query['relation']) add({ RangeVar: query['relation'] });
  for (const node of [...(query['fromClause'] ?? []), ...(query['usingClause'] ?? [])]) add(node);
  return { ranges, conditions };
}

/**
 * Names of tables that a condition binds to one value or a list of values of their keys.
 * @param {SqlNode} condition
 * @param {QueryTables} within
 * @returns {Set<string>}
 */
function tableNamesBoundByKey(condition, within) {
  const { BoolExpr: logical, A_Expr: comparison, SubLink: subquery, Using: shared } = condition;
  if (logical?.boolop === 'AND_EXPR')
    return new Set(logical.args.flatMap((/** @type {SqlNode} */ one) => [...tableNamesBoundByKey(one, within)]));
  if (logical?.boolop === 'OR_EXPR') {
    const [first, ...others] = logical.args.map((/** @type {SqlNode} */ one) => tableNamesBoundByKey(one, within));
    return new Set([...first].filter((name) => others.every((/** @type {Set<string>} */ one) => one.has(name))));
  }
  if (shared)
    return new Set(
      within.distributed.filter((one) => shared.includes(distributionKeyColumnOf(one, within))).map(({ name }) => name),
    );
  if (subquery?.subLinkType === 'ANY_SUBLINK')
    return new Set(
      operandsOfRowExpression(subquery.testexpr).flatMap((part) => tableNamesBoundByEquality(part, null, within)),
    );
  if (!isEquality(comparison)) return new Set();
  const [left, right] = [operandsOfRowExpression(comparison.lexpr), operandsOfRowExpression(comparison.rexpr)];
  return new Set([
    ...left.flatMap((part, at) => tableNamesBoundByEquality(part, right[at] ?? null, within)),
    ...right.flatMap((part, at) => tableNamesBoundByEquality(part, left[at] ?? null, within)),
  ]);
}

/** @param {SqlNode | undefined} comparison */
function isEquality(comparison) {
  const isKind = ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN', 'AEXPR_NOT_DISTINCT'].includes(comparison?.['kind']);
  return isKind && comparison?.['name'].at(-1).String.sval === '=';
}

/**
 * The columns of a row, or the one value.
 * @param {SqlNode} side
 * @returns {SqlNode[]}
 */
function operandsOfRowExpression(side) {
  return side['RowExpr'] ? side['RowExpr'].args : [side];
}

/**
 * The name of the table whose key is equal to the other side. A column of a distributed table that is not the same key does
 * not count: its row may be in another part.
 * @param {SqlNode} node
 * @param {SqlNode | null} otherSide
 * @param {QueryTables} within
 */
function tableNamesBoundByEquality(node, otherSide, within) {
  const range = distributedTableOfColumn(node, within);
  if (!range || columnNameOf(node) !== distributionKeyColumnOf(range, within)) return [];
  const partner = otherSide && distributedTableOfColumn(otherSide, within);
  const isElsewhere =
    partner &&
    (columnNameOf(otherSide) !== distributionKeyColumnOf(partner, within) ||
      distributionKeyColumnOf(partner, within) !== distributionKeyColumnOf(range, within));
  return isElsewhere ? [] : [range.name];
}

/**
 * The distributed table that a column belongs to, the innermost first.
 * @param {SqlNode} node
 * @param {QueryTables} within
 */
function distributedTableOfColumn(node, { distributed, others, outer, tables }) {
  const column = columnNameOf(node);
  if (column === undefined) return undefined;
  const [name] = node['ColumnRef'].fields.length > 1 ? node['ColumnRef'].fields : [];
  if (name)
    return others.some((one) => one.name === name.String.sval)
      ? undefined
      : [...distributed, ...outer].find((one) => one.name === name.String.sval);
  return [...distributed, ...outer].find(({ table }) => tables.columnsOf(table).includes(column));
}

/**
 * @param {SqlNode} node
 * @returns {string | undefined}
 */
function columnNameOf(node) {
  return node['ColumnRef']?.fields.at(-1).String?.sval;
}

/**
 * @param {TableRange} range
 * @param {QueryTables} within
 */
function distributionKeyColumnOf({ table }, { tables }) {
  return tables.keyOf(table);
}
