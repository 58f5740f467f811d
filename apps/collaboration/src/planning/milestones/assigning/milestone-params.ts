import { InvalidParameters } from '@rookery/kernel';
import { milestoneFilterById, milestoneFilterByTitle } from './milestone-filter';
import type { MilestoneFilter } from './milestone-filter';

/** Maps the parameters for the milestone of a list. `idParameter` is the parameter of the id. Errors: InvalidParameters. */
export function toMilestoneFilter(
  title: string | undefined,
  idParameter: string,
  id: string | undefined,
): MilestoneFilter | undefined {
  const byId = milestoneFilterById(id);
  if (byId === null) throw new InvalidParameters([`${idParameter} does not have a valid value`]);
  return byId ?? milestoneFilterByTitle(title);
}
