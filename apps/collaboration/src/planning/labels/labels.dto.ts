import { AtLeastOneOf, ExactlyOneOf, Flag, IdOrPath, Int, Search, Text } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import type { LabelChange, LabelFilters, NewLabel } from './labels.service';

/** Units: what an integer column holds. */
const MOST = 2_147_483_647;
const COLOUR = '`#RRGGBB`, `#RGB` or a name of CSS.';

export class ListLabels implements NothingBut<LabelFilters, ListLabels, 'with_counts' | 'include_ancestor_groups'> {
  @Flag({ default: false, about: 'Shows how many issues and merge requests have each label.' }) with_counts: boolean;
  @Flag({ default: true, about: 'Of the groups above, too.' }) include_ancestor_groups: boolean;
  @Search({ about: 'Part of the name or description.' }) search?: string;
  @Flag({ optional: true }) archived?: boolean;
}

export class OneLabel {
  @IdOrPath({ about: 'Id or name.' }) label_id: number | string;
}

/** A label that parameters name, not the path. */
@ExactlyOneOf('label_id', 'name')
export class OneNamedLabel {
  @IdOrPath({ optional: true, about: 'Id or name.' }) label_id?: number | string;
  @Text({ optional: true, about: 'The present name.' }) name?: string;
}

export class CreateLabel implements NothingBut<NewLabel, CreateLabel> {
  @Text({ about: 'At most 255 characters, no comma.' }) name: string;
  @Text({ optional: true, about: COLOUR }) color?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Flag({ optional: true }) archived?: boolean;
}

export class CreateProjectLabel extends CreateLabel implements NothingBut<NewLabel, CreateProjectLabel> {
  @Int({ optional: true, nullable: true, min: 0, max: MOST, about: 'The lowest counts most.' })
  priority?: number | null;
}

class LabelFields {
  @Text({ optional: true }) new_name?: string;
  @Text({ optional: true, about: COLOUR }) color?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Flag({ optional: true }) archived?: boolean;
}

class ProjectLabelFields extends LabelFields {
  @Int({ optional: true, nullable: true, min: 0, max: MOST, about: 'The lowest counts most; null takes it away.' })
  priority?: number | null;
}

/** Which label is meant: as the path says, or the parameters. */
type Naming = 'label_id' | 'name';

@AtLeastOneOf('new_name', 'color', 'description', 'archived')
export class UpdateLabel extends LabelFields implements NothingBut<LabelChange, UpdateLabel, Naming> {
  @IdOrPath({ about: 'Id or name.' }) label_id: number | string;
}

@ExactlyOneOf('label_id', 'name')
@AtLeastOneOf('new_name', 'color', 'description', 'archived')
export class UpdateNamedLabel extends LabelFields implements NothingBut<LabelChange, UpdateNamedLabel, Naming> {
  @IdOrPath({ optional: true, about: 'Id or name.' }) label_id?: number | string;
  @Text({ optional: true, about: 'The present name.' }) name?: string;
}

@AtLeastOneOf('new_name', 'color', 'description', 'priority', 'archived')
export class UpdateProjectLabel
  extends ProjectLabelFields
  implements NothingBut<LabelChange, UpdateProjectLabel, Naming>
{
  @IdOrPath({ about: 'Id or name.' }) label_id: number | string;
}

@ExactlyOneOf('label_id', 'name')
@AtLeastOneOf('new_name', 'color', 'description', 'priority', 'archived')
export class UpdateNamedProjectLabel
  extends ProjectLabelFields
  implements NothingBut<LabelChange, UpdateNamedProjectLabel, Naming>
{
  @IdOrPath({ optional: true, about: 'Id or name.' }) label_id?: number | string;
  @Text({ optional: true, about: 'The present name.' }) name?: string;
}
