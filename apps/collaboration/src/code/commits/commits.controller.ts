import { Controller } from '@nestjs/common';
import { choice, Endpoint, json, one, page, presenter, text } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { NotFound, offsetOf } from '@rookery/kernel';
import type { Page } from '@rookery/kernel';
import { readsHistoryOf } from '../repositories/code.permission';
import { CommitHistory } from './commit-history';
import type { TypedRef } from './commit-history';
import { describeCommitSignature, signatureSchema } from './commit-signature.presenter';
import { detailedCommitPresenter, measuredCommitPresenter } from './commit.presenter';
import type { DetailedCommitRow, MeasuredCommitRow } from './commit.presenter';
import {
  ShowCommitWithStats,
  ShowCommitSequence,
  ListCommitDiffs,
  ListCommitRefs,
  ListCommits,
  IdentifyCommit,
} from './commits.dto';
import { diffPresenter } from './diffs/diff.presenter';
import { readDiffPage } from './diffs/read-diffs';
import type { FileDiff } from './diffs/read-diffs';

const reads = { ...readsHistoryOf, tokenScopes: ['read_repository'] } as const;
const refPresenter = presenter<TypedRef>('CommitRef').fields({
  type: [choice('branch', 'tag'), ({ type }) => type],
  name: [text, ({ name }) => name],
});
const sequenceSchema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
type ReadCall<P> = Call<P, ProjectScope>;

/** History of a project's repository. */
@Controller('projects/:id/repository/commits')
export class CommitsController {
  constructor(private readonly history: CommitHistory) {}

  @Endpoint('GET', '', {
    ...reads,
    about: 'Lists commits, the newest first.',
    source: 'reference repositories 4.1',
    params: ListCommits,
    answers: page(measuredCommitPresenter, { hasStrictPages: true }),
  })
  async list({ params, within, page: asked }: ReadCall<ListCommits>): Promise<Page<MeasuredCommitRow>> {
    const { rows, ...rest } = await this.history.listCommits(within, params, asked);
    const shared = { projectPath: within.fullPath, hasTrailers: params.trailers };
    return { ...rest, rows: rows.map((row) => ({ ...row, ...shared })) };
  }

  @Endpoint('GET', ':sha', {
    ...reads,
    about: 'Shows a commit.',
    source: 'reference repositories 4.2',
    params: ShowCommitWithStats,
    answers: one(detailedCommitPresenter),
    fails: [404],
  })
  async show({ params, within }: ReadCall<ShowCommitWithStats>): Promise<DetailedCommitRow> {
    const found = await this.history.findCommit(within, params.sha, params.stats);
    return { ...found, projectId: within.id, projectPath: within.fullPath, hasTrailers: true };
  }

  @Endpoint('GET', ':sha/diff', {
    ...reads,
    about: 'Lists the files that a commit changes, compared with its first parent.',
    source: 'reference repositories 4.2',
    params: ListCommitDiffs,
    answers: page(diffPresenter),
    fails: [404],
  })
  diff({ params, within, page: asked }: ReadCall<ListCommitDiffs>): Promise<Page<FileDiff>> {
    return this.history.withCommit(within, params.sha, (repository, { id, parents }) =>
      readDiffPage(repository, { oldId: parents[0] ?? null, newId: id }, { page: asked, isUnified: params.unidiff }),
    );
  }

  @Endpoint('GET', ':sha/refs', {
    ...reads,
    about: 'Lists the branches and tags from which a commit can be reached.',
    source: 'reference repositories 4.2',
    params: ListCommitRefs,
    answers: page(refPresenter),
    fails: [404],
  })
  async refs({ params, within, page: asked }: ReadCall<ListCommitRefs>): Promise<Page<TypedRef>> {
    const refs = await this.history.listRefsContaining(within, params.sha, params.type);
    const [from, to] = [offsetOf(asked), offsetOf(asked) + asked.perPage];
    return { rows: refs.slice(from, to), total: refs.length, hasNext: refs.length > to };
  }

  @Endpoint('GET', ':sha/sequence', {
    ...reads,
    about: 'Counts the commits from the first one to this one.',
    source: 'reference repositories 4.2',
    params: ShowCommitSequence,
    answers: json<{ count: number }>(sequenceSchema),
    fails: [404],
  })
  async sequence({ params, within }: ReadCall<ShowCommitSequence>): Promise<{ count: number }> {
    return { count: await this.history.countHistory(within, params.sha, params.first_parent) };
  }

  @Endpoint('GET', ':sha/signature', {
    ...reads,
    about: 'Shows the signature of a commit.',
    source: 'reference repositories 4.2',
    params: IdentifyCommit,
    answers: json(signatureSchema),
    fails: [404],
  })
  async signature({ params, within }: ReadCall<IdentifyCommit>): Promise<unknown> {
    const { commit } = await this.history.findCommit(within, params.sha, false);
    const signature = commit.signature === null ? null : describeCommitSignature(commit.signature);
    if (signature === null) throw new NotFound('Signature');
    return signature;
  }
}
