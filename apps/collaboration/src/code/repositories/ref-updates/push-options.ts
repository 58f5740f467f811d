import { NO_OBJECT } from '@rookery/git';
import type { ObjectId } from '@rookery/git';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Push options that have an effect after the push: those about pipelines and merge requests. */
const KEPT = /^(ci|merge_request)\./;

/** A pushed branch to which the options of its push have not been applied. */
export interface OptionedBranch {
  readonly project_id: number;
  /** Null after the user was removed. */
  readonly user_id: number | null;
  readonly options: readonly string[];
  readonly ref: string;
  readonly new_id: ObjectId;
}

/** Branches of a settled push with options about merge requests. */
export const optionedBranches = statement<{ id: number }, OptionedBranch>(
  'pushes_optioned_branches',
  `select p.project_id, p.user_id, p.options, u.ref, u.new_id from pushes p join ref_updates u on u.push_id = p.id
   where p.id = :id::bigint and p.settled_at is not null and u.state = 'done' and u.options_applied_at is null
     and u.new_id <> '${NO_OBJECT}' and u.ref like 'refs/heads/%'
     and exists (select 1 from unnest(p.options) as one (option) where one.option like 'merge_request.%')
   order by u.ref`,
);
const claimPushOptions = statement<{ id: number; ref: string }, { readonly ref: string }>(
  'pushes_claim_options',
  `update ref_updates set options_applied_at = now()
   where push_id = :id::bigint and ref = :ref and options_applied_at is null returning ref`,
);
/** Removes options about merge requests: they may contain text by the user. */
export const forgetRequestOptions = statement<{ id: number }, never>(
  'pushes_forget_request_options',
  `update pushes set options = array(
     select one.option from unnest(options) with ordinality as one (option, place)
     where one.option not like 'merge_request.%' order by one.place)
   where id = :id::bigint`,
);

/** Selects the options that are stored with a push. */
export function selectStoredPushOptions(options: readonly string[]): string[] {
  return options.filter((option) => KEPT.test(option) && !option.includes('\0'));
}

/** Marks the options of a push as applied to a branch. Returns false if they are applied already. */
export async function markPushOptionsApplied(tx: Tx, id: number, ref: string): Promise<boolean> {
  return (await tx.run(claimPushOptions, { id, ref })).length > 0;
}
