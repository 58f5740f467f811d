/** Kinds of e-mails about projects, groups and memberships. Source: reference work-tracking 8.4, 8.9. */
export type ProjectOrGroupMailTemplate =
  | 'new_release'
  | 'moved_project'
  | 'member_added'
  | 'member_changed'
  | 'access_requested'
  | 'access_denied';

/** Templates of e-mails that many users of a project get. */
export type ProjectMailTemplate = Extract<ProjectOrGroupMailTemplate, 'new_release' | 'moved_project'>;

/** Templates of e-mails that a user can cause for any other user, and whose number is limited by the hour. */
export const LIMITED_TEMPLATES = [
  'access_requested',
  'member_added',
  'member_changed',
] as const satisfies readonly ProjectOrGroupMailTemplate[];

/** An event about a place. Exactly one of `projectId` and `groupId` is set. */
export interface ProjectOrGroupNotice {
  readonly eventId: string;
  readonly template: ProjectOrGroupMailTemplate;
  readonly projectId: number | null;
  readonly groupId: number | null;
  readonly actorId: number | null;
  /** The user whose limits count the e-mails: the actor, or for a bot the user who created it. */
  readonly responsibleId: number | null;
  /** The release, or the user who requests access. */
  readonly subjectId: number | null;
}
