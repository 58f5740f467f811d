import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { releaseCreated } from '@rookery/contracts';
import { CLOCK, Conflict, Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Collection, Tx } from '@rookery/persistence';
import { findMilestonesByTitle } from '../../planning/milestones/assigning/milestone-choice';
import type { TagWriter } from '../../code/refs/tags/tag-changes';
import { describeDuplicateReleaseLinks, describeReleaseLinkProblems } from './links/link-rules';
import { ReleaseLink } from './links/release-link.entity';
import type { ReleaseLinkInput } from './links/release-link.entity';
import { Release } from './release.entity';
import type { ReleaseInput } from './release.entity';
import { ReleaseTags } from './release-tags';
import type { ReleaseTag } from './release-tags';
import { releases } from './releases.queries';

/** Milestones of a release, by titles or by ids. Omitted, they stay. */
interface MilestonesOfRelease {
  readonly milestones?: readonly string[];
  readonly milestone_ids?: readonly number[];
}

/** A new release. */
export interface NewRelease extends ReleaseInput, ReleaseTag, MilestonesOfRelease {
  readonly assets?: { readonly links: readonly ReleaseLinkInput[] };
}

/** A change of a release. */
export interface ReleaseChange extends ReleaseInput, MilestonesOfRelease {}

const clearMilestones = statement<{ id: number }, never>(
  'releases_clear_milestones',
  'delete from release_milestones where release_id = :id::bigint',
);
const addMilestones = statement<{ id: number; milestones: readonly number[] }, never>(
  'releases_add_milestones',
  `insert into release_milestones (release_id, milestone_id)
   select :id::bigint, m.id from milestones m where m.id = any(:milestones::bigint[]) for key share of m
   on conflict do nothing`,
);
const reachedMilestones = statement<
  { ids: readonly number[]; project: number; above: readonly number[] },
  { id: number }
>(
  'releases_reached_milestones',
  `select m.id from milestones m where m.id = any(:ids::bigint[])
     and (m.project_id = :project::bigint or m.group_id = any(:above::bigint[]))`,
);
const PROTECTED = 'You are not allowed to create this tag as it is protected.';

/**
 * Creates, changes and removes releases. The tag comes first, then the row: if the process dies between the two, the
 * repeated request finds the tag. Source: reference repositories 7.3.
 */
@Injectable()
export class ReleasesService {
  private readonly releases: Collection<Release>;

  constructor(
    private readonly work: Work,
    private readonly tags: ReleaseTags,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.releases = releases.on(work);
  }

  /** Errors: Forbidden, Conflict, Refused, Invalid, Unprocessable. */
  async create(writer: TagWriter, input: NewRelease): Promise<Release> {
    const { tag_name: tag, tag_message: _message, ref: _ref, assets, ...rest } = input;
    const { milestones: _titles, milestone_ids: _ids, ...fields } = rest;
    const { project, viewer } = writer;
    if (!(await this.tags.mayCreate(writer, tag))) throw new Forbidden(PROTECTED, { verbatim: true });
    if ((await this.releases.listAll({ within: project.id, where: { tag } })).length > 0)
      throw new Conflict('Release already exists');
    const facts = { projectId: project.id, authorId: viewer.userId, tag, sha: null, now: this.clock.now() };
    const release = Release.create(fields, facts);
    const links = createLinks(assets?.links ?? [], facts.now);
    // A tag for a release that is refused would remain.
    await this.work.run((tx) => findReachableMilestones(tx, project, input));
    release.sha = await this.tags.ensureTag(writer, input);
    const by = { actorId: viewer.userId, within: project.id };
    const made = await this.releases.create(release, by, async (row, tx) => {
      await replaceMilestonesOfRelease(tx, row.id, await findReachableMilestones(tx, project, input));
      await tx.manager.insert(ReleaseLink, links.map((link) => ({ ...link, releaseId: row.id })) as never);
      emitReleaseCreated(tx, viewer, row);
    });
    await this.removeIfTagIsGone(writer, made);
    return made;
  }

  /** Errors: NotFound, Forbidden, Refused, Invalid. */
  async update(writer: TagWriter, tag: string, change: ReleaseChange): Promise<Release> {
    const { milestones: _titles, milestone_ids: _ids, ...fields } = change;
    const { project, viewer } = writer;
    const found = await this.releases.find({ tag }, project.id);
    if (!(await this.tags.mayCreate(writer, tag))) throw new Forbidden();
    if (Object.values(change).every((value) => value === undefined))
      throw new Refused('params is empty', { verbatim: true });
    const edit = async (row: Release, tx: Tx): Promise<void> => {
      const wanted = await findReachableMilestones(tx, project, change);
      row.change(fields, this.clock.now());
      if (wanted !== undefined) await replaceMilestonesOfRelease(tx, row.id, wanted);
    };
    return this.releases.change(found.id, edit, { actorId: viewer.userId, within: project.id });
  }

  /** Removes a release; the tag remains. Errors: Forbidden, NotFound. */
  async remove(writer: TagWriter, release: Release): Promise<void> {
    const { project, viewer } = writer;
    if (!(await this.tags.mayCreate(writer, release.tag))) throw new Forbidden();
    await this.releases.remove(release.id, { actorId: viewer.userId, within: project.id });
  }

  /** Removes a new release whose tag was deleted before its row was written. Errors: NotFound. */
  private async removeIfTagIsGone(writer: TagWriter, { id, tag }: Release): Promise<void> {
    if (await this.tags.hasTag(writer.project, tag)) return;
    await this.releases.remove(id, { actorId: writer.viewer.userId, within: writer.project.id });
    throw new NotFound('Tag');
  }
}

function emitReleaseCreated(
  tx: Tx,
  { userId, directory }: SignedInViewer,
  { id, projectId, createdAt }: Release,
): void {
  const data = { release_id: id, project_id: projectId, author_id: userId, created_at: createdAt.toISOString() };
  tx.emit(releaseCreated.of({ aggregateId: id, actorId: userId, seen: directory, data }));
}

/** Errors: Refused. */
function createLinks(inputs: readonly ReleaseLinkInput[], now: Date): ReleaseLink[] {
  const plain = inputs.map(({ name = '', url = '', direct_asset_path: path, filepath }) => ({
    ...{ name, url },
    filepath: (path === undefined ? filepath : path) || null,
  }));
  const [sentence] = [
    ...plain.flatMap((link) =>
      describeReleaseLinkProblems(link).map((one) => `Links ${one[0]!.toLowerCase()}${one.slice(1)}`),
    ),
    ...describeDuplicateReleaseLinks(plain),
  ];
  if (sentence !== undefined) throw new Refused(`Validation failed: ${sentence}`, { verbatim: true });
  return inputs.map((input) => ReleaseLink.create(input, now));
}

/** Returns the ids of the wanted milestones, undefined if none were named. Errors: Refused for missing ones. */
async function findReachableMilestones(
  tx: Tx,
  project: ProjectScope,
  { milestones: titles, milestone_ids: ids }: MilestonesOfRelease,
): Promise<readonly number[] | undefined> {
  if (titles !== undefined) {
    const found = await findMilestonesByTitle(tx, project, titles);
    assertNoneMissing(
      'Milestone(s)',
      titles.filter((title) => !found.has(title)),
    );
    return [...found.values()];
  }
  if (ids === undefined) return undefined;
  const above = project.namespace.traversalIds;
  const found = (await tx.run(reachedMilestones, { ids, project: project.id, above })).map(({ id }) => id);
  assertNoneMissing(
    'Milestone id(s)',
    ids.filter((id) => !found.includes(id)),
  );
  return found;
}

function assertNoneMissing(noun: string, missing: readonly (string | number)[]): void {
  if (missing.length > 0) throw new Refused(`${noun} not found: ${missing.join(', ')}`, { verbatim: true });
}

async function replaceMilestonesOfRelease(
  tx: Tx,
  id: number,
  milestones: readonly number[] | undefined,
): Promise<void> {
  if (milestones === undefined) return;
  await tx.run(clearMilestones, { id });
  await tx.run(addMilestones, { id, milestones });
}
