import { defineEvent } from './event';
import { bool, choice, instant, int, list, nullable, object, optional, text } from './schema';

export const projectCreated = defineEvent(
  'identity.project.created.v1',
  'A project was created.',
  object({
    project_id: int,
    namespace_id: int,
    creator_id: int,
    created_at: instant,
    /** The first commit that its maker wishes for. */
    initialize_with_readme: optional(bool),
  }),
);

export const projectForked = defineEvent(
  'identity.project.forked.v1',
  'A project was made as a fork of another; follows its own creation.',
  object({ project_id: int, source_project_id: int, namespace_id: int, creator_id: int, forked_at: instant }),
);

export const projectDeleted = defineEvent(
  'identity.project.deleted.v1',
  'A project is gone for good; every service drops what belongs to it.',
  object({ project_id: int }),
);

export const projectMoved = defineEvent(
  'identity.project.moved.v1',
  'A project lies in another namespace now; what it took from the groups above it may not reach it any more.',
  object({ project_id: int, namespace_id: int }),
);

export const groupMoved = defineEvent(
  'identity.group.moved.v1',
  'A group lies below another group now, or at the top, with all that is below it.',
  object({ group_id: int }),
);

export const groupDeleted = defineEvent(
  'identity.group.deleted.v1',
  'A group is gone for good; every service drops what belongs to it.',
  object({ group_id: int }),
);

const membership = {
  user_id: int,
  source_type: choice('group', 'project'),
  source_id: int,
};

export const memberAdded = defineEvent(
  'identity.member.added.v1',
  'A person became a direct member of a group or project.',
  object({ ...membership, access_level: int, added_at: instant }),
);

export const memberRemoved = defineEvent(
  'identity.member.removed.v1',
  'A direct membership ended: the person left, was removed, or the membership ran out.',
  object({ ...membership, reason: choice('left', 'removed', 'expired'), removed_at: instant }),
);

export const memberUnassigned = defineEvent(
  'identity.member.unassigned.v1',
  'A member was removed, and whoever did it wants them unassigned from everything there; with `includes_below` also below the group.',
  object({ ...membership, includes_below: bool }),
);

export const userCreated = defineEvent(
  'identity.user.created.v1',
  'A user was created.',
  object({ user_id: int, username: text, created_at: instant }),
);

export const accessTokenExpiryApproached = defineEvent(
  'identity.access_token.expiry_approached.v1',
  'A token in use ends in 60, 30 or 7 days, or ended today (`days_left` 0); told once each. `expires_on` is a day.',
  object({ token_id: int, user_id: int, days_left: int, expires_on: text, recipient_ids: list(int) }),
);

export const accessTokenRotated = defineEvent(
  'identity.access_token.rotated.v1',
  'A token was replaced by a new one. The aggregate is the new token.',
  object({ token_id: int, previous_token_id: int, user_id: int, rotated_at: instant, recipient_ids: list(int) }),
);

export const emailConfirmationRequested = defineEvent(
  'identity.email.confirmation_requested.v1',
  'Somebody has to confirm an address; address and link are asked for when the e-mail is sent.',
  object({ email_id: int, user_id: int, requested_at: instant }),
);

export const userDeleted = defineEvent(
  'identity.user.deleted.v1',
  'A user is gone for good: what they wrote goes to the ghost user, or with `hard_delete` it goes too.',
  object({ user_id: int, ghost_user_id: nullable(int), hard_delete: bool }),
);
