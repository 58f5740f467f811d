import { IdOrPath, Int, OneOf, Text } from '@rookery/api-v4';
import type { Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import type { NewFork } from './project-forks.service';

/** `namespace_id` takes precedence over `namespace_path`, and that over `namespace`. */
export class ForkProject implements NewFork {
  @IdOrPath({ in: 'path' }) id: number | string;
  @IdOrPath({ optional: true, deprecated: 'namespace_id' }) namespace?: number | string;
  @Int({ optional: true }) namespace_id?: number;
  @Text({ optional: true }) namespace_path?: string;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) path?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true, about: 'At most the visibility of the source and of the namespace.' })
  visibility?: Visibility;
  @Text({ optional: true, about: 'The only branch to copy; it becomes the default branch. Blank: all branches.' })
  branches?: string;
}
