import type { ProjectScope } from '@rookery/api-v4';
import type { RoutesByName } from '../../base/noteables/noteable-routes.dto';
import { mayReadHistory } from '../../code/repositories/code.permission';
import { discussionsController } from '../../talk/notes/discussions/discussions.controller';
import { commitKind } from './commit.kind';

/** Base path and kind of commits for the routes of their discussions. Source: reference work-tracking 3.1. */
const commits: RoutesByName = {
  kind: commitKind,
  path: 'projects/:id/repository/commits/:sha',
  by: 'text',
  a: 'a commit',
  notesSource: 'requirements 1 §4',
  offeredBy: (parent, viewer) => mayReadHistory(viewer, parent as ProjectScope),
};

export const CommitDiscussionsController = discussionsController(commits);
