import type { UserFace } from '../users/user-row';

/** Who marked a project with a star, and since when. */
export interface StarrerRow {
  readonly starred_since: Date;
  readonly user: UserFace;
}
