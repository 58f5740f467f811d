/** Kinds of e-mails about projects, groups and memberships. Source: reference work-tracking 8.4, 8.9. */
export type PlaceMailTemplate =
  | 'new_release'
  | 'moved_project'
  | 'member_added'
  | 'member_changed'
  | 'access_requested'
  | 'access_denied';

/** Templates of e-mails that many users of a project get. */
export type ProjectMailTemplate = Extract<PlaceMailTemplate, 'new_release' | 'moved_project'>;

/** An event about a place. Shape: exactly one of `projectId` and `groupId` is set. */
export interface PlaceNotice {
  readonly eventId: string;
  readonly template: PlaceMailTemplate;
  readonly projectId: number | null;
  readonly groupId: number | null;
  readonly actorId: number | null;
  /** The release, or the user who requests access. */
  readonly subjectId: number | null;
}
