import { AtLeastOneOf, Day, Flag, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { MilestoneInput } from './milestone.entity';
import type { MilestoneFilters, MilestoneReach } from './milestones.queries';

const TITLE = 'At most 255 characters.';
const DAY = '`YYYY-MM-DD`; of a timestamp only its day is used.';

export class ListMilestones implements ExactInput<MilestoneFilters & MilestoneReach, ListMilestones> {
  @ListOf('int', { optional: true }) iids?: readonly number[];
  @OneOf(['active', 'closed', 'all'], { default: 'all' }) state: 'active' | 'closed' | 'all';
  @Text({ optional: true, about: 'The exact title.' }) title?: string;
  @Search({ about: 'Part of the title or description.' }) search?: string;
  @Instant({ optional: true }) updated_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Day({ optional: true, about: 'Milestones that start on or before this day and are due on or after it.' })
  containing_date?: string;
  @Flag({ default: false, alias: 'include_parent_milestones', about: 'Also lists milestones of the groups above.' })
  include_ancestors: boolean;
}

export class ListGroupMilestones
  extends ListMilestones
  implements ExactInput<MilestoneFilters & MilestoneReach, ListGroupMilestones>
{
  @Flag({ default: false, about: 'Also lists milestones of the groups and projects below that the caller may see.' })
  include_descendants: boolean;
}

export class IdentifyMilestone {
  @Int() milestone_id: number;
}

/** Parameters of creation and update, except for the title. */
class MilestoneWriteFields {
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Day({ optional: true, nullable: true, about: DAY }) due_date?: string | null;
  @Day({ optional: true, nullable: true, about: DAY }) start_date?: string | null;
}

export class CreateMilestone extends MilestoneWriteFields implements ExactInput<MilestoneInput, CreateMilestone> {
  @Text({ about: TITLE }) title: string;
}

@AtLeastOneOf('title', 'description', 'due_date', 'start_date', 'state_event')
export class UpdateMilestone
  extends MilestoneWriteFields
  implements ExactInput<MilestoneInput, UpdateMilestone, 'milestone_id'>
{
  @Int() milestone_id: number;
  @Text({ optional: true, about: TITLE }) title?: string;
  @OneOf(['close', 'activate'], { optional: true }) state_event?: 'close' | 'activate';
}
