import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';

/** An epic of a tree with its dates. */
export interface TreeNode {
  readonly id: number;
  readonly iid: number;
  readonly parent: TreeNode | null;
  readonly children: TreeNode[];
  readonly confidential: boolean;
  /** Fixed dates; null if inherited. */
  start: string | null;
  due: string | null;
  /** Milestone of its only issue. */
  readonly milestone: { readonly id: number; start: string; due: string } | null;
}

/**
 * Inserts a tree of 7 levels row by row: each epic of the first six has up to four children, until `count` is reached.
 * One in three has an issue with a milestone, one in ten a fixed date, one in twenty is confidential with its
 * descendants. Returns the root first, and parents before their children.
 */
export async function createTree(
  { database }: SeededService,
  group: DirectoryNamespace,
  project: DirectoryProject,
  o: { readonly authorId: number; readonly count: number },
): Promise<TreeNode[]> {
  const nodes: TreeNode[] = [];
  const levels: TreeNode[][] = [];
  const add = async (parent: TreeNode | null): Promise<TreeNode> => {
    const at = nodes.length;
    const confidential = parent !== null && (parent.confidential || at % 20 === 19);
    const [first, last] = [dayOf(at), dayOf(at + 40)].sort();
    const milestone = at % 3 === 1 ? { start: first!, due: last! } : null;
    const [start, due] = [at % 10 === 7 ? dayOf(at * 2) : null, at % 10 === 9 ? dayOf(at * 3) : null];
    const [row] = await database.query<{ id: number; iid: number; milestone_id: number | null }>(
      `with e as (
         insert into epics (group_id, iid, author_id, title, confidential, color, text_color, parent_id, relative_position,
           start_is_fixed, start_fixed_on, due_is_fixed, due_fixed_on)
         values ($1::bigint, $2::bigint, $3::bigint, 'Epic ' || $2::bigint, $4::boolean, '#fff', '#000', $5::bigint,
           $2::bigint, $6::date is not null, $6::date, $7::date is not null, $7::date)
         returning id, iid
       ), m as (
         insert into milestones (project_id, iid, title, start_on, due_on)
         select $8::bigint, $2::bigint, 'v' || $2::bigint, $9::date, $10::date where $9::date is not null returning id
       ), s as (
         insert into issues (project_id, iid, author_id, title, milestone_id, confidential)
         select $8::bigint, $2::bigint, $3::bigint, 'Issue', m.id, $4::boolean from m returning id
       ), l as (
         insert into epic_issues (epic_id, issue_id, relative_position) select e.id, s.id, 0 from e, s
       )
       select e.id, e.iid, (select id from m) as milestone_id from e`,
      [
        ...[group.id, at + 1, o.authorId, confidential, parent?.id ?? null, start, due],
        ...[project.id, milestone?.start ?? null, milestone?.due ?? null],
      ],
    );
    const { id, iid, milestone_id } = row!;
    const own = milestone && { id: milestone_id!, ...milestone };
    const node: TreeNode = { id, iid, parent, children: [], confidential, start, due, milestone: own };
    parent?.children.push(node);
    nodes.push(node);
    return node;
  };
  levels.push([await add(null)]);
  for (let level = 1; level < 7; level++) {
    const next: TreeNode[] = [];
    for (const parent of levels[level - 1]!) {
      const isLast = level === 6;
      for (let child = 0; child < (isLast ? 2 : 4) && nodes.length < o.count; child++) next.push(await add(parent));
    }
    levels.push(next);
  }
  // The remaining epics become leaves of the sixth level.
  for (let at = 0; nodes.length < o.count; at++) await add(levels[5]![at % levels[5]!.length]!);
  return nodes;
}

/** Computes the dates of an epic by recursion over its descendants, as the expected result. */
export function daysOf(node: TreeNode, readsConfidential: boolean): { start: string | null; due: string | null } {
  const below = node.children
    .filter((child) => readsConfidential || !child.confidential)
    .map((child) => daysOf(child, readsConfidential));
  const definedDays = (days: readonly (string | null | undefined)[]) =>
    days.filter((day) => typeof day === 'string').sort();
  const starts = definedDays([node.milestone?.start, ...below.map(({ start }) => start)]);
  const ends = definedDays([node.milestone?.due, ...below.map(({ due }) => due)]);
  return { start: node.start ?? starts[0] ?? null, due: node.due ?? ends.at(-1) ?? null };
}

/** Returns a date as `YYYY-MM-DD`. Numbers below 2,500 have different dates. */
export function dayOf(number: number): string {
  return new Date(Date.UTC(2026, 0, 1) + ((number * 37) % 2500) * 86_400_000).toISOString().slice(0, 10);
}
