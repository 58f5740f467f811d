/**
 * The plan of distribution in docs/scaling.md: the key of each table, and the exceptions with their cost. The header of a
 * table in the page says what its rows mean.
 *
 * @typedef {{ kind: 'distributed', key: string } | { kind: 'reference' } | { kind: 'local' }} Placement `distributed` rows are
 *   split by the key, a `reference` table is copied to each node, a `local` one stays on the coordinator.
 * @typedef {{ rule: Rule, subjects: string[], tables: string[], hasCost: boolean }} Exceptions `subjects` are tables, names of
 *   rules or statements; `tables` are those of the statements.
 * @typedef {'no key' | 'optional key' | 'rule' | 'statement'} Rule
 * @typedef {{ whole: Set<string>, placements: Map<string, Map<string, Placement>>, exceptions: Exceptions[], problems: string[] }} Plan
 *   `whole` are services that are not distributed; `placements` are by service, or `every`, and by table.
 */

/** First words of a table's header. @type {Record<string, Rule>} */
const EXCEPTIONS = {
  'Tables without their key': 'no key',
  'Tables whose key may be empty': 'optional key',
  Rules: 'rule',
  Statements: 'statement',
};

/**
 * Reads the plan. `problems` are rows that are not understood, or that name a table again.
 * @param {string} page
 * @returns {Plan}
 */
export function parseDistributionPlan(page) {
  /** @type {Plan} */
  const plan = { whole: new Set(), placements: new Map(), exceptions: [], problems: [] };
  let heading = '';
  let header = '';
  for (const line of page.split('\n')) {
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
    if (!line.startsWith('|')) header = '';
    else if (header === '') header = splitMarkdownTableRow(line)[0] ?? '';
    else if (!/^\|[-: |]+$/.test(line)) addDistributionPlanRow(plan, heading, header, splitMarkdownTableRow(line));
  }
  return plan;
}

/** @param {string} line */
function splitMarkdownTableRow(line) {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** @type {(plan: Plan, heading: string, header: string, cells: string[]) => void} */
function addDistributionPlanRow(plan, heading, header, cells) {
  const [first = '', second = ''] = cells;
  const names = parseBackquotedNames(first);
  const rule = EXCEPTIONS[header];
  if (rule) {
    const tables = rule === 'statement' ? parseBackquotedNames(second) : [];
    plan.exceptions.push({ rule, subjects: names, tables, hasCost: (cells.at(-1) ?? '') !== '' });
  }
  if (header === 'Service on one server') for (const name of names) plan.whole.add(name);
  if (header !== 'Table') return;
  const service = heading === 'In every service' ? 'every' : heading;
  const placements = plan.placements.get(service) ?? new Map();
  plan.placements.set(service, placements);
  const placement = parsePlacement(second);
  if (placement === null)
    plan.problems.push(`${heading}: the key of ${first} is no column, \`reference\` or \`local\``);
  for (const name of placement === null ? [] : names) {
    if (placements.has(name)) plan.problems.push(`${heading}: ${name} has two rows`);
    placements.set(name, placement);
  }
}

/** @param {string} cell */
function parseBackquotedNames(cell) {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/**
 * @param {string} cell
 * @returns {Placement | null}
 */
function parsePlacement(cell) {
  const [, key, kind] = /^(?:`([a-z_]+)`|(reference|local))(?![\w`])/.exec(cell) ?? [];
  if (key) return { kind: 'distributed', key };
  return kind === 'reference' || kind === 'local' ? { kind } : null;
}

/**
 * The placement of a table of a service, undefined if the page does not name it. Names of tables in every service may end in
 * `*`.
 * @param {Plan} plan
 * @param {string} service
 * @param {string} table
 * @returns {Placement | undefined}
 */
export function placementOf({ placements }, service, table) {
  const shared = [...(placements.get('every') ?? [])].find(([name]) =>
    name.endsWith('*') ? table.startsWith(name.slice(0, -1)) : name === table,
  );
  return placements.get(service)?.get(table) ?? shared?.[1];
}
