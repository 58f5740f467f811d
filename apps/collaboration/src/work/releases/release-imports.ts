import { Injectable } from '@nestjs/common';
import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import { isValidBranchOrTagName, resolveCommit } from '@rookery/git';
import { Invalid } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  omitAlreadyImportedObjects,
} from '../../base/imported-objects/imported-objects';
import { ObjectImporters } from '../../base/imported-objects/object-importers';
import type { ObjectImporter, PreparedObjects, ReceivedObjects } from '../../base/imported-objects/object-importers';
import { ProjectRepositories } from '../../code/repositories/project-repositories';
import { wrapMentionsInCode } from '../../talk/mentions/quoted-mentions';
import { Release } from './release.entity';

type ImportedRelease = ImportedObject<'release'>;

const ADD = statement<{ project: number; rows: string }, { id: number; tag: string }>(
  'releases_import',
  `insert into releases (project_id, tag, name, description, author_id, sha, released_at, created_at, updated_at)
   select :project::bigint, r.tag, r.name, r.description, r.author_id, r.sha, r.released_at, r.created_at, r.created_at
   from jsonb_to_recordset(:rows::jsonb) as r (tag text, name text, description text, author_id bigint, sha text,
     released_at timestamptz, created_at timestamptz)
   order by r.tag on conflict do nothing returning id, tag`,
);
const USED = 'Its tag has a release already.';

/** Adds releases of an imported project to its tags, without an event. Source: reference identity-and-import 6.6. */
@Injectable()
export class ReleaseImports implements ObjectImporter<'release'> {
  constructor(
    importers: ObjectImporters,
    private readonly repositories: ProjectRepositories,
  ) {
    importers.declare('release', this);
  }

  /** Finds the commits of the tags. Errors: Unavailable, TooLarge. */
  async prepare(project: ProjectFacts, { objects }: ReceivedObjects<'release'>): Promise<PreparedObjects> {
    const tags = [...new Set(objects.map(({ tag }) => tag).filter((tag) => isValidBranchOrTagName(tag)))];
    const commits = await this.repositories.useRepository(project, async (repository) => {
      const found = new Map<string, string>();
      for (const tag of tags) {
        const sha = await resolveCommit(repository, `refs/tags/${tag}`);
        if (sha !== null) found.set(tag, sha);
      }
      return found;
    });
    return { write: (tx) => writeReleases(tx, project, commits, objects) };
  }
}

async function writeReleases(
  tx: Tx,
  project: ProjectFacts,
  commits: ReadonlyMap<string, string>,
  objects: readonly ImportedRelease[],
): Promise<readonly UnimportedObject[]> {
  const of = { project: project.id, kind: 'release' } as const;
  const { valid, failed } = checkImportObjects(objects, (given) => createImportedRelease(project, commits, given));
  const found = await omitAlreadyImportedObjects(tx, of, valid, ({ upstreamId }) => upstreamId);
  const rows = found.map(({ object: { release } }) => ({
    ...{ tag: release.tag, name: release.name, description: release.description, author_id: release.authorId },
    ...{ sha: release.sha, released_at: release.releasedAt, created_at: release.createdAt },
  }));
  const added = await tx.run(ADD, { project: project.id, rows: JSON.stringify(rows) });
  const ids = new Map(added.map(({ id, tag }) => [tag, id]));
  const written = found.filter(({ object }, at) => {
    const isFirst = found.findIndex((other) => other.object.release.tag === object.release.tag) === at;
    return isFirst && ids.has(object.release.tag);
  });
  await addImportedObjects(
    tx,
    of,
    written.map(({ object }) => ({ upstreamId: object.upstreamId, id: ids.get(object.release.tag)! })),
  );
  const refused = found.filter((one) => !written.includes(one));
  return [...failed, ...refused.map(({ index }) => ({ index, message: USED }))];
}

/** Errors: Invalid. */
function createImportedRelease(
  { id: projectId }: ProjectFacts,
  commits: ReadonlyMap<string, string>,
  given: ImportedRelease,
) {
  const { id: upstreamId, tag, name, description, author_id: authorId, created_at, released_at } = given;
  const sha = commits.get(tag);
  if (sha === undefined) throw new Invalid({ tag: ['was not imported'] });
  const facts = { projectId, authorId, tag, sha, now: new Date(created_at) };
  const texts = { name: name || tag, description: description === null ? null : wrapMentionsInCode(description) };
  return { upstreamId, release: Release.create({ ...texts, released_at: new Date(released_at) }, facts) };
}
