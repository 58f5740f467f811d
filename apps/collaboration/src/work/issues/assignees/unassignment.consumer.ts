import { Controller } from '@nestjs/common';
import { memberUnassigned } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { prepareStatement, REMOVAL_CHUNK, runInChunks } from '@rookery/persistence';

/** $1-$4 columns of the events: user, type and id of the source, whether subgroups and projects below are included. */
const unassign = prepareStatement(
  'issue_assignees_unassign',
  `with e as (
     select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[]) as e (user_id, source_type, source_id, below)
   ), meant as (
     select s.issue_id, s.user_id from e
       join issue_assignees s on s.user_id = e.user_id
       join issues i on i.id = s.issue_id
       join directory_projects p on p.id = i.project_id
       join directory_namespaces n on n.id = p.namespace_id
     where case when e.source_type = 'project' then p.id = e.source_id
       when e.below then n.traversal_ids @> array[e.source_id] else n.id = e.source_id end
     limit ${REMOVAL_CHUNK}
   )
   delete from issue_assignees s using meant where s.issue_id = meant.issue_id and s.user_id = meant.user_id returning 1`,
);

/**
 * Unassigns members who were removed together with their assignments.
 * Source: reference identity-and-import 2.8.
 */
@Controller()
export class IssueUnassignmentConsumer {
  constructor(private readonly directory: Directory) {}

  @Consume(memberUnassigned, { effect: 'unassign-issues' })
  async unassign({ tx, events }: EffectBatch<typeof memberUnassigned>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const column = <K extends keyof (typeof events)[number]['data']>(key: K) => events.map(({ data }) => data[key]);
    const values = [column('user_id'), column('source_type'), column('source_id'), column('includes_below')];
    await runInChunks(tx, unassign, values);
  }
}
