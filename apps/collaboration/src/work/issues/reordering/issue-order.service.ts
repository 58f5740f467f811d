import { Injectable } from '@nestjs/common';
import { NotFound, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepared, Work } from '@rookery/persistence';
import { readerOfNamed } from '../../../base/noteables/reader';
import { issueKind } from '../issue.kind';
import { IssuesQueries } from '../issues.queries';
import type { IssueProject } from '../issues.queries';
import { holdOrder, positionSql, putBetween } from './positions';

/** $1 project, $2 the number of one issue, $3 ids of others. */
const meant = prepared(
  'issues_meant_by_order',
  `select i.id, i.iid, ${positionSql('i')}::text as position from issues i
   where i.project_id = $1::bigint and (i.iid = $2::bigint or i.id = any($3::bigint[]))`,
);

/** Which issue an issue is to follow, and which is to follow it, by id. */
export interface OrderWish {
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** The order that people give to the issues of a project. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueOrderService {
  constructor(
    private readonly work: Work,
    private readonly queries: IssuesQueries,
  ) {}

  /**
   * For planners, who read all issues of the project. Answers the issue as JSON text.
   * Errors: NotFound; Unprocessable when a wish names no other issue of the project, or when there is no room.
   */
  async put(viewer: SignedInViewer, project: IssueProject, iid: number, wish: OrderWish): Promise<string> {
    readerOfNamed(viewer, { kind: issueKind, parent: project });
    const others = [wish.after, wish.before].filter((id) => id !== undefined);
    await this.work.run(async (tx) => {
      await holdOrder(tx, project.id);
      type Row = { id: number; iid: number; position: string };
      const rows = await tx.prepared<Row>(meant, [project.id, iid, others]);
      const issue = rows.find((row) => row.iid === iid);
      if (!issue) throw new NotFound(issueKind.resource);
      const placeOf = (id: number | undefined): bigint | null => {
        if (id === undefined) return null;
        const other = rows.find((row) => row.id === id && row !== issue);
        if (!other) throw new Unprocessable();
        return BigInt(other.position);
      };
      const between = { after: placeOf(wish.after), before: placeOf(wish.before) };
      if (!(await putBetween(tx, project.id, issue.id, between))) throw new Unprocessable();
    });
    return this.queries.answer(viewer, project, iid);
  }
}
