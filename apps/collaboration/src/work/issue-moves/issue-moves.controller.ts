import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText, project, signedIn } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { issueDetailShape } from '../issues/issue.shape';
import { CloneIssue, MoveIssue } from './issue-moves.dto';
import { IssueMovesService } from './issue-moves.service';

const below = {
  source: 'reference work-tracking 9.1',
  within: project('id', 'copy'),
  may: signedIn(),
  answers: created(issueDetailShape.presenter),
  fails: [400, 429],
} as const;

type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

/** Routes that move and clone issues. */
@Controller('projects/:id/issues/:issue_iid')
export class IssueMovesController {
  constructor(private readonly moves: IssueMovesService) {}

  @Endpoint('POST', 'move', {
    ...below,
    about: 'Moves an issue to another project: opens a copy there with all notes, and closes the original.',
    params: MoveIssue,
  })
  async move({ params, viewer, within }: WriteCall<MoveIssue>): Promise<JsonText> {
    return new JsonText(await this.moves.moveIssue(viewer, within, params.issue_iid, params.to_project_id));
  }

  @Endpoint('POST', 'clone', {
    ...below,
    about: 'Clones an issue into its own project or another one.',
    params: CloneIssue,
  })
  async clone({ params, viewer, within }: WriteCall<CloneIssue>): Promise<JsonText> {
    const { issue_iid: iid, to_project_id: toProjectId, with_notes: withNotes } = params;
    return new JsonText(await this.moves.cloneIssue(viewer, within, iid, { toProjectId, withNotes }));
  }
}
