import { Injectable } from '@nestjs/common';
import { COUNT_LIMIT } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, prepareStatement } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { projectAccessRowSql } from '../../base/noteables/access-sql';
import { NoteableKinds, cachePerNoteableKind, canReadNoteableRowSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import type { Label } from './label.entity';
import type { PlanningSource } from '../../base/noteables/planning.policy';

/** Number of noteables of one kind that have a label and that the viewer may see. */
export interface LabelCount {
  readonly opened: number;
  readonly closed: number;
}
/** Counts by the noun of the kind; kinds that do not exist have no entry. */
export type LabelCounts = ReadonlyMap<string, LabelCount>;

/** Label with the facts that depend on the viewer and on the project or group of the request. */
export interface LabelView {
  readonly label: Label;
  readonly isSubscribed: boolean;
  readonly priority: number | null;
  /** Null unless requested. */
  readonly counts: LabelCounts | null;
}

/** $1 labels, $2 project or null, $3 viewer or null. */
const selectLabelFacts = prepareStatement(
  'labels_facts',
  `select wanted.id, p.priority, s.user_id is not null as subscribed from unnest($1::bigint[]) wanted (id)
   left join label_priorities p on p.label_id = wanted.id and p.project_id = $2::bigint
   left join label_subscriptions s on s.label_id = wanted.id and s.user_id = $3::bigint`,
);

const viewerSql = { user: '$2::bigint', isAdmin: '$3::boolean', isExternal: '$4::boolean' };

/** Selects the viewer's access to a project: checked once per project, and not for every noteable with a label. */
const viewerAccessToProjectSql = (kind: NoteableKind, project: string): string =>
  `select a.* from ${projectAccessRowSql(project, viewerSql)} a where a.reads_${kind.feature}`;
/** Counts the noteables with the label `wanted`. `links` is a FROM item with its links `ll` and the access `a`. */
const noteableCountsOfLabelSql = (kind: NoteableKind, links: string): string => `(
     select count(*) filter (where seen.state = 'opened')::integer as opened,
       count(*) filter (where seen.state = 'closed')::integer as closed
     from (select i.${kind.stateColumn} as state from ${links} join ${kind.table} i on i.id = ll.noteable_id
       where ${canReadNoteableRowSql(kind, 'a', viewerSql.user)} limit ${COUNT_LIMIT + 1}) seen)`;

/**
 * $1 labels, $2-$4 viewer, $5 project. Counts the project's noteables of a kind with each label that the viewer may read.
 * Stops after COUNT_LIMIT.
 */
const countInProject = cachePerNoteableKind((kind) => {
  const links = `a join label_links ll on ll.project_id = $5::bigint and ll.label_id = wanted.id
       and ll.noteable_type = '${kind.type}'`;
  return prepareStatement(
    `labels_counted_${kind.table}_in_project`,
    `with a as materialized (${viewerAccessToProjectSql(kind, '$5::bigint')})
     select wanted.id, c.* from unnest($1::bigint[]) wanted (id) cross join lateral ${noteableCountsOfLabelSql(kind, links)} c`,
  );
});
/**
 * $5 group. Finds the projects that use a label by skipping from one to the next in the index, without reading all
 * links.
 */
const countInGroup = cachePerNoteableKind((kind) => {
  const next = (label: string, after = ''): string => `(select ll.project_id from label_links ll
         where ll.label_id = ${label} and ll.noteable_type = '${kind.type}'${after} order by ll.project_id limit 1)`;
  const links = `used join a on a.project_id = used.project_id join label_links ll on ll.label_id = used.label_id
       and ll.noteable_type = '${kind.type}' and ll.project_id = used.project_id and used.label_id = wanted.id`;
  return prepareStatement(
    `labels_counted_${kind.table}_in_group`,
    `with recursive used (label_id, project_id) as (
       select wanted.id, ${next('wanted.id')} from unnest($1::bigint[]) wanted (id)
       union all
       select used.label_id, ${next('used.label_id', ' and ll.project_id > used.project_id')} from used
       where used.project_id is not null
     ), a as materialized (
       select there.* from (select distinct used.project_id from used) met
       cross join lateral (${viewerAccessToProjectSql(kind, 'met.project_id')}) there where there.traversal_ids @> array[$5::bigint]
     )
     select wanted.id, c.* from unnest($1::bigint[]) wanted (id) cross join lateral ${noteableCountsOfLabelSql(kind, links)} c`,
  );
});
const counted = { project: countInProject, group: countInGroup };

interface LabelCountRow extends LabelCount {
  readonly id: number;
}

/** Queries for the facts of labels outside their rows: one statement per page, and one per kind for the counts. */
@Injectable()
export class LabelFactsQueries {
  constructor(
    private readonly database: Database,
    private readonly kinds: NoteableKinds,
  ) {}

  /** Returns the labels as the viewer sees them, in the order of `labels`, with counts if `isCounted`. */
  async listViews(
    viewer: Viewer,
    source: PlanningSource,
    labels: readonly Label[],
    { isCounted = false }: { readonly isCounted?: boolean } = {},
  ): Promise<LabelView[]> {
    if (labels.length === 0) return [];
    const ids = labels.map((label) => label.id);
    const projectId = source.kind === 'project' ? source.id : null;
    const values = [ids, projectId, viewer.userId];
    const rows = await this.database.prepared<LabelFactsRow>(selectLabelFacts, values);
    const known = new Map(rows.map((row) => [row.id, row]));
    const counts = isCounted ? await this.countNoteablesByLabel(viewer, source, ids) : null;
    return labels.map((label) => {
      const { priority, subscribed } = known.get(label.id)!;
      return { label, priority, isSubscribed: subscribed, counts: counts && counts(label.id) };
    });
  }

  countsStatement(kind: NoteableKind, within: PlanningSource['kind'], values: readonly unknown[]): Statement {
    return { ...counted[within](kind), values };
  }

  private async countNoteablesByLabel(
    viewer: Viewer,
    source: PlanningSource,
    ids: readonly number[],
  ): Promise<(id: number) => LabelCounts> {
    const values = [ids, viewer.userId, viewer.isAdmin, viewer.isExternal, source.id];
    const counts = new Map(ids.map((id) => [id, new Map<string, LabelCount>()]));
    for (const kind of this.kinds.withAbility('labels').filter((one) => one.parent === 'project')) {
      const rows = await this.database.run<LabelCountRow>(this.countsStatement(kind, source.kind, values));
      for (const row of rows) counts.get(row.id)!.set(kind.noun, row);
    }
    return (id) => counts.get(id)!;
  }
}

interface LabelFactsRow {
  readonly id: number;
  readonly priority: number | null;
  readonly subscribed: boolean;
}
