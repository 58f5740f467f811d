import type { ProjectScope } from '@rookery/api-v4';
import type { ReleaseLinkFields } from './release-links.queries';

/** A link with what its answer needs. */
export interface ReleaseLinkRow {
  readonly link: ReleaseLinkFields;
  readonly project: Pick<ProjectScope, 'id' | 'fullPath'>;
  readonly tag: string;
  /** The caller may read the code. Others do not see the address that contains the tag. */
  readonly readsCode: boolean;
}
