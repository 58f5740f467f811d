import { Invalid } from '@rookery/kernel';

const MAX_PEOPLE = 200;

/** Checks how many people an update or a new merge request names. Errors: Invalid. Source: reference repositories 8.4. */
export function assertPeopleWithinLimit({
  assigneeIds,
  reviewerIds,
}: {
  readonly assigneeIds?: readonly number[] | undefined;
  readonly reviewerIds?: readonly number[] | undefined;
}): void {
  const problems = Object.entries({ assignees: assigneeIds, reviewers: reviewerIds })
    .filter(([, ids]) => new Set(ids).size > MAX_PEOPLE)
    .map(([field]) => [field, [`total must be less than or equal to ${MAX_PEOPLE}`]]);
  if (problems.length > 0) throw new Invalid(Object.fromEntries(problems) as Record<string, string[]>);
}
