import { AtLeastOneOf, ExactlyOneOf, Flag, IdOrPath, Int, Search, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { LabelChange, LabelFilters, NewLabel } from './labels.service';

/** Maximum of an integer column. */
const MAX_PRIORITY = 2_147_483_647;
const COLOUR = '`#RRGGBB`, `#RGB` or a CSS colour name.';

export class ListLabels implements ExactInput<LabelFilters, ListLabels, 'with_counts' | 'include_ancestor_groups'> {
  @Flag({ default: false, about: 'Shows the number of issues and merge requests with each label.' })
  with_counts: boolean;
  @Flag({ default: true, about: 'Also lists labels of the groups above.' }) include_ancestor_groups: boolean;
  @Search({ about: 'Part of the name or description.' }) search?: string;
  @Flag({ optional: true }) archived?: boolean;
}

export class IdentifyLabel {
  @IdOrPath({ about: 'Id or name.' }) label_id: number | string;
}

/** Label given by parameters instead of the path. */
@ExactlyOneOf('label_id', 'name')
export class IdentifyNamedLabel {
  @IdOrPath({ optional: true, about: 'Id or name.' }) label_id?: number | string;
  @Text({ optional: true, about: 'The current name.' }) name?: string;
}

export class CreateLabel implements ExactInput<NewLabel, CreateLabel> {
  @Text({ about: 'At most 255 characters, no comma.' }) name: string;
  @Text({ optional: true, about: COLOUR }) color?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Flag({ optional: true }) archived?: boolean;
}

export class CreateProjectLabel extends CreateLabel implements ExactInput<NewLabel, CreateProjectLabel> {
  @Int({
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_PRIORITY,
    about: 'The lowest number is the highest priority.',
  })
  priority?: number | null;
}

class LabelUpdateFields {
  @Text({ optional: true }) new_name?: string;
  @Text({ optional: true, about: COLOUR }) color?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Flag({ optional: true }) archived?: boolean;
}

class ProjectLabelUpdateFields extends LabelUpdateFields {
  @Int({
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_PRIORITY,
    about: 'The lowest number is the highest priority; null removes it.',
  })
  priority?: number | null;
}

/** Parameters that identify the label. */
type LabelIdentity = 'label_id' | 'name';

@AtLeastOneOf('new_name', 'color', 'description', 'archived')
export class UpdateLabel extends LabelUpdateFields implements ExactInput<LabelChange, UpdateLabel, LabelIdentity> {
  @IdOrPath({ about: 'Id or name.' }) label_id: number | string;
}

@ExactlyOneOf('label_id', 'name')
@AtLeastOneOf('new_name', 'color', 'description', 'archived')
export class UpdateNamedLabel
  extends LabelUpdateFields
  implements ExactInput<LabelChange, UpdateNamedLabel, LabelIdentity>
{
  @IdOrPath({ optional: true, about: 'Id or name.' }) label_id?: number | string;
  @Text({ optional: true, about: 'The current name.' }) name?: string;
}

@AtLeastOneOf('new_name', 'color', 'description', 'priority', 'archived')
export class UpdateProjectLabel
  extends ProjectLabelUpdateFields
  implements ExactInput<LabelChange, UpdateProjectLabel, LabelIdentity>
{
  @IdOrPath({ about: 'Id or name.' }) label_id: number | string;
}

@ExactlyOneOf('label_id', 'name')
@AtLeastOneOf('new_name', 'color', 'description', 'priority', 'archived')
export class UpdateNamedProjectLabel
  extends ProjectLabelUpdateFields
  implements ExactInput<LabelChange, UpdateNamedProjectLabel, LabelIdentity>
{
  @IdOrPath({ optional: true, about: 'Id or name.' }) label_id?: number | string;
  @Text({ optional: true, about: 'The current name.' }) name?: string;
}
