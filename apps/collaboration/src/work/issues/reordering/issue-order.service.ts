import { Injectable } from '@nestjs/common';
import { NotFound, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement, Work } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { issueKind } from '../issue.kind';
import { IssuesQueries } from '../issues.queries';
import type { IssueProject } from '../issues.queries';
import { lockIssueOrder, issuePositionSql, moveIssueBetween } from './positions';

/** $1 project, $2 number of the issue to move, $3 ids of its neighbours. */
const involved = prepareStatement(
  'issues_meant_by_order',
  `select i.id, i.iid, ${issuePositionSql('i')}::text as position from issues i
   where i.project_id = $1::bigint and (i.iid = $2::bigint or i.id = any($3::bigint[]))`,
);

/** Ids of the new neighbours of an issue; undefined for any. */
export interface IssueNeighbours {
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** Orders the issues of a project manually. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueOrderService {
  constructor(
    private readonly work: Work,
    private readonly queries: IssuesQueries,
  ) {}

  /**
   * Moves an issue between two others and returns it as JSON text. For planners, who read all issues of the project.
   * Errors: NotFound; Unprocessable if a neighbour is no other issue of the project, or if there is no room.
   */
  async moveIssue(
    viewer: SignedInViewer,
    project: IssueProject,
    iid: number,
    neighbours: IssueNeighbours,
  ): Promise<string> {
    requireNoteableReader(viewer, { kind: issueKind, parent: project });
    const others = [neighbours.after, neighbours.before].filter((id) => id !== undefined);
    await this.work.run(async (tx) => {
      await lockIssueOrder(tx, project.id);
      type Row = { id: number; iid: number; position: string };
      const rows = await tx.prepared<Row>(involved, [project.id, iid, others]);
      const issue = rows.find((row) => row.iid === iid);
      if (!issue) throw new NotFound(issueKind.resource);
      const positionOf = (id: number | undefined): bigint | null => {
        if (id === undefined) return null;
        const other = rows.find((row) => row.id === id && row !== issue);
        if (!other) throw new Unprocessable();
        return BigInt(other.position);
      };
      const between = { after: positionOf(neighbours.after), before: positionOf(neighbours.before) };
      if (!(await moveIssueBetween(tx, project.id, issue.id, between))) throw new Unprocessable();
    });
    return this.queries.answer(viewer, project, iid);
  }
}
