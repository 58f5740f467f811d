import type { ProjectScope } from '@rookery/api-v4';
import type { DirectoryUserRow } from '@rookery/directory';
import type { Commit } from '@rookery/git';
import type { ReleaseLinkRow } from './links/release-link-row';
import type { Release } from './release.entity';

/** A release with what its answer needs. */
export interface ReleaseRow {
  readonly release: Release;
  readonly project: Pick<ProjectScope, 'id' | 'fullPath'>;
  readonly author: DirectoryUserRow | null;
  /** Null for a tag of a blob or tree. */
  readonly commit: Commit | null;
  readonly links: readonly ReleaseLinkRow[];
  /** JSON text of the milestones that the caller may see, null without any. */
  readonly milestones: string | null;
  /** Rendered description, null unless the caller asked for it. */
  readonly descriptionHtml: string | null;
  readonly isUpcoming: boolean;
  /** The caller may read the code. Others see no fact about it. */
  readonly readsCode: boolean;
  /** The caller may change the release. */
  readonly mayChange: boolean;
}
