import { defineEvent } from './event';
import { bool, choice, instant, int, object, text } from './schema';

export const projectCreated = defineEvent(
  'identity.project.created.v1',
  'A project was created.',
  object({ project_id: int, namespace_id: int, creator_id: int, created_at: instant }),
);

export const projectDeleted = defineEvent(
  'identity.project.deleted.v1',
  'A project is gone for good; every service drops what belongs to it.',
  object({ project_id: int }),
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
  'Whoever removed a member wants him off all that he is assigned to there; with `includes_below` also below the group.',
  object({ ...membership, includes_below: bool }),
);

export const userCreated = defineEvent(
  'identity.user.created.v1',
  'A user was created.',
  object({ user_id: int, username: text, created_at: instant }),
);
