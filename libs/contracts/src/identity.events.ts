import { defineEvent } from './event';
import { IMPORT_TYPES } from './internal-http';
import { bool, choice, instant, int, list, nullable, object, optional, text } from './schema';

export const projectCreated = defineEvent(
  'identity.project.created.v1',
  'A project was created.',
  object({
    project_id: int,
    namespace_id: int,
    creator_id: int,
    created_at: instant,
    /** The creator asked for a first commit with a README. */
    initialize_with_readme: optional(bool),
    /** Kind of host that the project is imported from. */
    imported_from: optional(choice(...IMPORT_TYPES)),
    /** Names an import that the import service has prepared. */
    import_key: optional(text),
  }),
);

export const projectForked = defineEvent(
  'identity.project.forked.v1',
  'A project was created as a fork of another; this event follows its creation event.',
  object({
    project_id: int,
    source_project_id: int,
    namespace_id: int,
    creator_id: int,
    forked_at: instant,
    /** The only branch that the fork gets; absent for all. */
    branch: optional(text),
  }),
);

export const projectDeleted = defineEvent(
  'identity.project.deleted.v1',
  'A project was deleted for good; every service deletes its data.',
  object({ project_id: int }),
);

/**
 * The user who created the bot that acted, followed through bots that created bots. Absent if the actor is no bot, or its
 * creator was removed. Limits of what a user causes count by it.
 */
const responsible = { responsible_id: optional(int) };

export const projectMoved = defineEvent(
  'identity.project.moved.v1',
  'A project was moved to another namespace; settings, labels and milestones inherited from its former groups may no longer apply.',
  object({ project_id: int, namespace_id: int, ...responsible }),
);

export const projectRenamed = defineEvent(
  'identity.project.renamed.v1',
  'The path of a project changed within its namespace.',
  object({ project_id: int, namespace_id: int, ...responsible }),
);

export const groupMoved = defineEvent(
  'identity.group.moved.v1',
  'A group was moved below another group, or to the top, with everything below it.',
  object({ group_id: int }),
);

export const groupDeleted = defineEvent(
  'identity.group.deleted.v1',
  'A group was deleted for good; every service deletes its data.',
  object({ group_id: int }),
);

const membership = {
  user_id: int,
  source_type: choice('group', 'project'),
  source_id: int,
};

export const memberAdded = defineEvent(
  'identity.member.added.v1',
  'A user became a direct member of a group or project.',
  object({ ...membership, access_level: int, added_at: instant, ...responsible }),
);

export const memberChanged = defineEvent(
  'identity.member.changed.v1',
  'A direct member got another access level, or the membership ends on another day.',
  object({ ...membership, access_level: int, changed_at: instant, ...responsible }),
);

export const memberRemoved = defineEvent(
  'identity.member.removed.v1',
  'A direct membership ended: the user left or was removed, or the membership expired.',
  object({ ...membership, reason: choice('left', 'removed', 'expired'), removed_at: instant }),
);

export const memberUnassigned = defineEvent(
  'identity.member.unassigned.v1',
  'A member was removed, and the request asked to unassign them from everything in the group or project; with `includes_below` also below the group.',
  object({ ...membership, includes_below: bool }),
);

export const accessRequestChanged = defineEvent(
  'identity.access_request.changed.v1',
  'A user requested access to a group or project, or the request was settled: accepted, denied, or withdrawn by its user.',
  object({ ...membership, state: choice('requested', 'accepted', 'denied', 'withdrawn'), changed_at: instant }),
);

export const userCreated = defineEvent(
  'identity.user.created.v1',
  'A user was created.',
  object({ user_id: int, username: text, created_at: instant }),
);

export const accessTokenExpiryApproached = defineEvent(
  'identity.access_token.expiry_approached.v1',
  'An active token expires in 60, 30 or 7 days, or expired today (`days_left` 0); announced once each. `expires_on` is a day.',
  object({ token_id: int, user_id: int, days_left: int, expires_on: text, recipient_ids: list(int) }),
);

export const accessTokenCreated = defineEvent(
  'identity.access_token.created.v1',
  'A user got a token of their own. The token may have been made by an administrator.',
  object({ token_id: int, user_id: int, created_at: instant, recipient_ids: list(int) }),
);

export const accessTokenRotated = defineEvent(
  'identity.access_token.rotated.v1',
  'A token was replaced by a new one. The aggregate is the new token.',
  object({ token_id: int, previous_token_id: int, user_id: int, rotated_at: instant, recipient_ids: list(int) }),
);

export const emailConfirmationRequested = defineEvent(
  'identity.email.confirmation_requested.v1',
  'A user has to confirm an e-mail address; address and link are looked up when the e-mail is sent.',
  object({ email_id: int, user_id: int, requested_at: instant }),
);

export const emailAdded = defineEvent(
  'identity.email.added.v1',
  'A further e-mail address was added to an account; both addresses are looked up when the e-mail is sent.',
  object({ email_id: int, user_id: int, added_at: instant }),
);

export const userDeleted = defineEvent(
  'identity.user.deleted.v1',
  'A user was deleted for good: their content goes to the ghost user, or with `hard_delete` is deleted too.',
  object({ user_id: int, ghost_user_id: nullable(int), hard_delete: bool }),
);
