import { alwaysNull, instant, int, list, mapOf, nested, nullable, object, presenter, text } from '@rookery/api-v4';
import type { FieldType, PresentContext } from '@rookery/api-v4';
import { parseTrailers } from '@rookery/git';
import type { Commit, LineCounts, Trailer } from '@rookery/git';
import { CommitPipelines } from './commit-pipelines';
import type { CommitPipeline } from './commit-pipelines';
import { extractTitle } from './commit-title';
import { formatCommitTimeZoned } from '../repositories/commit-times';

/** A commit with what its answer needs. */
export interface CommitRow {
  readonly commit: Commit;
  /** Full path of the project, for the URL. */
  readonly projectPath: string;
  /** Shows the trailers of the message; otherwise both fields are empty. */
  readonly hasTrailers: boolean;
}

export interface MeasuredCommitRow extends CommitRow {
  /** Null if the caller does not want them. */
  readonly stats: LineCounts | null;
}

export interface DetailedCommitRow extends MeasuredCommitRow {
  readonly projectId: number;
}

const SHORT_ID = 8;
const createIntFieldWithDescription = (description: string): FieldType<number> => ({
  ...int,
  schema: { ...int.schema, description },
});
const stats = object<{ additions: number; deletions: number; total: number }>({
  additions: createIntFieldWithDescription('Added lines.'),
  deletions: createIntFieldWithDescription('Removed lines.'),
  total: createIntFieldWithDescription('Added and removed lines.'),
});
const STATS = { about: 'Numbers of changed lines.', when: (row: MeasuredCommitRow) => row.stats !== null };
/** A time in the zone of its author, as git stores it: a text, because `instant` is UTC. */
const zoned: FieldType<string> = { ...text, schema: { type: 'string', format: 'date-time' } };

/** Source: reference repositories 4.1. */
export const commitPresenter = presenter<CommitRow>('Commit').fields({
  id: [text, ({ commit }) => commit.id],
  short_id: [text, ({ commit }) => commit.id.slice(0, SHORT_ID), { about: 'First 8 characters of the id.' }],
  created_at: [zoned, ({ commit }) => formatCommitTimeZoned(commit.committer)],
  parent_ids: [list(text), ({ commit }) => commit.parents, { about: 'Ids of the parents; a merge has several.' }],
  title: [text, ({ commit }) => extractTitle(commit), { about: 'First line of the message.' }],
  message: [text, ({ commit }) => commit.message],
  author_name: [text, ({ commit }) => commit.author.name, { about: 'Name of the author.' }],
  author_email: [text, ({ commit }) => commit.author.email, { about: 'E-mail address of the author.' }],
  authored_date: [
    zoned,
    ({ commit }) => formatCommitTimeZoned(commit.author),
    { about: 'Date of the author, in their zone.' },
  ],
  committer_name: [text, ({ commit }) => commit.committer.name, { about: 'Name of the committer.' }],
  committer_email: [text, ({ commit }) => commit.committer.email, { about: 'E-mail address of the committer.' }],
  committed_date: [
    zoned,
    ({ commit }) => formatCommitTimeZoned(commit.committer),
    { about: 'Date of the committer, in their zone.' },
  ],
  trailers: [
    mapOf(text),
    (row) => Object.fromEntries(commitTrailers(row).map(({ key, value }) => [key, value])),
    { about: 'Trailers of the message. Of several values of a key the last one.' },
  ],
  extended_trailers: [
    mapOf(list(text)),
    (row) => trailerValuesByKey(commitTrailers(row)),
    { about: 'The same with all values of a key.' },
  ],
  web_url: [text, ({ commit, projectPath }, _, { links }) => links.webUrl(`${projectPath}/-/commit/${commit.id}`)],
});

/** A pipeline with the full path of its project, which its URL contains. */
interface PipelineWithProject extends CommitPipeline {
  readonly projectPath: string;
}

/** A pipeline of a commit, with the fields that lists of pipelines have. Source: reference identity-and-import 7.3. */
const commitPipelinePresenter = presenter<PipelineWithProject>('CommitPipeline').fields({
  id: [int, (pipeline) => pipeline.id],
  iid: [int, (pipeline) => pipeline.iid],
  project_id: [int, (pipeline) => pipeline.project_id],
  sha: [text, (pipeline) => pipeline.sha],
  ref: [text, (pipeline) => pipeline.ref],
  status: [text, (pipeline) => pipeline.status],
  source: [text, (pipeline) => pipeline.source, { about: 'Cause of the pipeline.' }],
  created_at: [instant, (pipeline) => pipeline.created_at],
  updated_at: [instant, (pipeline) => pipeline.updated_at],
  web_url: [text, ({ projectPath, id }, _, { links }) => links.webUrl(`${projectPath}/-/pipelines/${id}`)],
  name: [alwaysNull, () => null, { about: 'Always null: a pipeline of an outside CI has no name.' }],
});

type PipelinesBySha = ReadonlyMap<string, CommitPipeline>;

/** Loads the newest pipelines of commits of one project. */
async function loadNewestPipelinesByCommit(
  rows: readonly DetailedCommitRow[],
  ctx: PresentContext,
): Promise<PipelinesBySha> {
  const shas = rows.map(({ commit }) => commit.id);
  return ctx.get(CommitPipelines).findNewest(rows[0]!.projectId, shas);
}

function latestPipeline(
  { commit, projectPath }: DetailedCommitRow,
  pipelines: PipelinesBySha,
): PipelineWithProject | null {
  const found = pipelines.get(commit.id);
  return found ? { ...found, projectPath } : null;
}

/** A single commit. Source: reference repositories 4.1. */
export const detailedCommitPresenter = commitPresenter
  .extend<DetailedCommitRow>('DetailedCommit')
  .load(loadNewestPipelinesByCommit)
  .fields({
    stats: [stats, (row) => withTotal(row.stats!), STATS],
    status: [
      nullable(text),
      ({ commit }, pipelines) => pipelines.get(commit.id)?.status ?? null,
      { about: 'Status of `last_pipeline`.' },
    ],
    project_id: [int, (row) => row.projectId],
    last_pipeline: [
      nullable(nested(commitPipelinePresenter)),
      latestPipeline,
      { about: 'The newest pipeline of the commit; null without one.' },
    ],
  });

/** A commit in a list with numbers of lines. Source: reference repositories 4.1. */
export const measuredCommitPresenter = commitPresenter
  .extend<MeasuredCommitRow>('MeasuredCommit')
  .fields({ stats: [stats, (row) => withTotal(row.stats!), STATS] });

function commitTrailers({ commit, hasTrailers }: CommitRow): readonly Trailer[] {
  return hasTrailers ? parseTrailers(commit.message) : [];
}

function trailerValuesByKey(trailers: readonly Trailer[]): Record<string, string[]> {
  const keys = new Set(trailers.map(({ key }) => key));
  const valuesOf = (wanted: string) => trailers.filter(({ key }) => key === wanted).map(({ value }) => value);
  return Object.fromEntries([...keys].map((key) => [key, valuesOf(key)]));
}

function withTotal({ additions, deletions }: LineCounts) {
  return { additions, deletions, total: additions + deletions };
}
