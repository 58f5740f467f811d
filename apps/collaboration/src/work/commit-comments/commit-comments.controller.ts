import { Controller } from '@nestjs/common';
import { ability, created, Endpoint, JsonText, page, project } from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { IdentifyCommit } from '../../code/commits/commits.dto';
import { mayReadHistory, readsHistoryOf } from '../../code/repositories/code.permission';
import { notePolicy } from '../../talk/notes/note.policy';
import { NOTE_BODY_LIMIT } from '../../talk/notes/notes.controller';
import { commitCommentShape } from './commit-comment.shape';
import { CreateCommitComment, toNewComment } from './commit-comments.dto';
import { CommitCommentsQueries } from './commit-comments.queries';
import { CommitCommentsService } from './commit-comments.service';
import { DiscussedCommits } from './discussed-commits';

const comment = commitCommentShape.presenter;
const SOURCE = 'reference repositories 4.6';
const mayCreateCommitComments = ability<unknown, ProjectScope>(
  'may comment on commits',
  ({ viewer, within }) => mayReadHistory(viewer, within) && notePolicy.mayCreate(viewer, within, false),
  { signedIn: true },
);

/** Comments on commits. Source: reference repositories 4.6. */
@Controller('projects/:id/repository/commits')
export class CommitCommentsController {
  constructor(
    private readonly commits: DiscussedCommits,
    private readonly queries: CommitCommentsQueries,
    private readonly comments: CommitCommentsService,
  ) {}

  @Endpoint('GET', ':sha/comments', {
    ...readsHistoryOf,
    about: 'Lists the comments on a commit, oldest first.',
    source: SOURCE,
    params: IdentifyCommit,
    answers: page(comment),
    fails: [404],
  })
  async list({ params, within, page: asked }: Call<IdentifyCommit, ProjectScope>): Promise<JsonPage> {
    return this.queries.list(await this.commits.findCommit(within, params.sha), asked);
  }

  @Endpoint('POST', ':sha/comments', {
    within: project(),
    may: mayCreateCommitComments,
    about: 'Adds a comment to a commit, or to an added or removed line of it.',
    source: SOURCE,
    params: CreateCommitComment,
    answers: created(comment),
    fails: [404, 429],
    bodyLimit: NOTE_BODY_LIMIT,
  })
  async create({ params, viewer, within }: Call<CreateCommitComment, ProjectScope, SignedInViewer>): Promise<JsonText> {
    return new JsonText(await this.comments.create(viewer, within, params.sha, toNewComment(params)));
  }
}
