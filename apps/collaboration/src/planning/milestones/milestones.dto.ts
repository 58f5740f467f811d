import { AtLeastOneOf, Day, Flag, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import type { MilestoneInput } from './milestone.entity';
import type { MilestoneFilters, MilestoneReach } from './milestones.queries';

const TITLE = 'At most 255 characters.';
const DAY = '`YYYY-MM-DD`; of a whole instant its day.';

export class ListMilestones implements NothingBut<MilestoneFilters & MilestoneReach, ListMilestones> {
  @ListOf('int', { optional: true }) iids?: readonly number[];
  @OneOf(['active', 'closed', 'all'], { default: 'all' }) state: 'active' | 'closed' | 'all';
  @Text({ optional: true, about: 'The whole title.' }) title?: string;
  @Search({ about: 'Part of the title or description.' }) search?: string;
  @Instant({ optional: true }) updated_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Day({ optional: true, about: 'Those that have begun by this day and are not due before it.' })
  containing_date?: string;
  @Flag({ default: false, alias: 'include_parent_milestones', about: 'Of the groups above, too.' })
  include_ancestors: boolean;
}

export class ListGroupMilestones
  extends ListMilestones
  implements NothingBut<MilestoneFilters & MilestoneReach, ListGroupMilestones>
{
  @Flag({ default: false, about: 'Of groups and projects below that the caller may see, too.' })
  include_descendants: boolean;
}

export class OneMilestone {
  @Int() milestone_id: number;
}

/** What both writes take besides the title. */
class MilestoneFields {
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Day({ optional: true, nullable: true, about: DAY }) due_date?: string | null;
  @Day({ optional: true, nullable: true, about: DAY }) start_date?: string | null;
}

export class CreateMilestone extends MilestoneFields implements NothingBut<MilestoneInput, CreateMilestone> {
  @Text({ about: TITLE }) title: string;
}

@AtLeastOneOf('title', 'description', 'due_date', 'start_date', 'state_event')
export class UpdateMilestone
  extends MilestoneFields
  implements NothingBut<MilestoneInput, UpdateMilestone, 'milestone_id'>
{
  @Int() milestone_id: number;
  @Text({ optional: true, about: TITLE }) title?: string;
  @OneOf(['close', 'activate'], { optional: true }) state_event?: 'close' | 'activate';
}
