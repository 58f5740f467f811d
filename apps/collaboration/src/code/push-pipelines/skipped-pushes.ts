import { statement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import { parsePipelinePushOptions } from './push-options';

/** Newest pushes of a project among which the push of a head is looked for. */
const MAX_PUSHES = 1000;

const selectPushOptions = statement<
  { project: number; ref: string; head: string },
  { readonly options: readonly string[] }
>(
  'push_options_of_head',
  `select p.options from (
     select p.id, p.options from pushes p where p.project_id = :project::bigint order by p.id desc limit ${MAX_PUSHES}) p
   join ref_updates u on u.push_id = p.id and u.ref = :ref and u.new_id = :head and u.state = 'done'
   order by p.id desc limit 1`,
);

/** Whether the push that moved a branch to its head asked for no pipeline. Source: reference identity-and-import 7.6. */
export async function isPipelineSkippedByPush(
  reads: Pick<SqlReader, 'run'>,
  { project, branch, head }: { readonly project: number; readonly branch: string; readonly head: string },
): Promise<boolean> {
  const [push] = await reads.run(selectPushOptions, { project, ref: `refs/heads/${branch}`, head });
  return push !== undefined && parsePipelinePushOptions(push.options).isSkipped;
}
