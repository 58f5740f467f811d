import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { CLOCK, Forbidden, Refused } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { isPackageInOtherProject, lockPackageNameBelowRoot } from '../../../packages/indexing/names-below-root';
import { raisePackageIndexGeneration } from '../../../packages/indexing/package-index';
import { setTag } from '../../../packages/indexing/package-tags';
import { setPackagesDeprecated } from '../../../packages/publishing/package-deprecation';
import { PackagePublishing } from '../../../packages/publishing/package-publishing';
import {
  identifyUploadCredential,
  isRetryOfUnansweredUpload,
  UploadAnswerTracker,
} from '../../../packages/publishing/upload-answer-tracker';
import type { EarlierUpload, UploadTurn } from '../../../packages/publishing/upload-answer-tracker';
import { parseNpmScope, renderNpmTarballName, stripBuildMetadata } from '../npm-names';
import type { StoredTarball } from './document-reader';
import { stripUnstorableCharacters } from './new-version';
import type { NewNpmVersion, StoredManifest } from './new-version';

/** A version that is published. */
export interface PublishedVersion {
  readonly id: number;
  readonly name: string;
  readonly version: string;
}

/**
 * A version that is ready to be published. `session` names the run of the client, or is null if the client does not
 * send it.
 */
export interface Publication {
  readonly sent: NewNpmVersion;
  readonly tarball: StoredTarball;
  readonly stored: StoredManifest;
  readonly session: string | null;
  readonly turn: UploadTurn;
}

/** A request to publish. `tarball` is null if it was not stored. */
type RequestedPublication = Pick<Publication, 'sent' | 'session' | 'turn'> & { readonly tarball: StoredTarball | null };

interface ExistingVersion extends EarlierUpload {
  readonly id: number;
  readonly file_id: number | null;
  readonly creator_id: number | null;
  readonly session: string | null;
}

const EXISTING = statement<{ project: number; name: string; version: string }, ExistingVersion>(
  'npm_existing_version',
  `select p.id, p.creator_id, v.session, f.id as file_id, f.sha256, f.unanswered_token_id
   from packages p left join npm_versions v on v.package_id = p.id
   left join lateral (select id, sha256, unanswered_token_id from package_files
     where package_id = p.id and not is_pending_destruction order by id desc limit 1) f on true
   where p.project_id = :project::bigint and p.package_type = 'npm' and p.name_key = :name
     and p.status <> 'pending_destruction' and split_part(p.version, '+', 1) = :version
   order by p.id desc limit 1`,
);
const ADD = statement<
  {
    package: number;
    project: number;
    manifest: string;
    brief: string;
    readme: string | null;
    integrity: string;
    shasum: string;
    deprecation: string | null;
    session: string | null;
  },
  never
>(
  'npm_versions_add',
  `insert into npm_versions (package_id, project_id, manifest, brief, readme, integrity, shasum, deprecation, session)
   values (:package::bigint, :project::bigint, :manifest, :brief, :readme::text, :integrity, :shasum,
     :deprecation::text, :session::text)`,
);

/** Rows of published versions. Source: reference packages-and-admin 4.4. */
@Injectable()
export class NpmPublications {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    private readonly receipts: UploadAnswerTracker,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Waits for the turn of a version. Versions that differ only in build metadata are the same version to npm.
   * `answered` resolves with whether the client was sent the whole answer.
   */
  beginTurn({ id }: ProjectScope, { name, version }: NewNpmVersion, answered: Promise<boolean>): Promise<UploadTurn> {
    return this.receipts.beginTurn(JSON.stringify(['npm version', id, name, stripBuildMetadata(version)]), answered);
  }

  /**
   * Returns the version that an earlier request published, if this one repeats it; null for a new version. For use before
   * the tarball is checked. Errors: Forbidden `Package already exists.`
   */
  findRepeated(
    project: ProjectScope,
    viewer: SignedInViewer,
    asked: RequestedPublication,
  ): Promise<PublishedVersion | null> {
    return this.findRepeatedOrRefuse(this.database, project, viewer, asked);
  }

  /** Adds the version, and lets its tags name it. Errors: as `findRepeated`; Forbidden beyond a limit of storage; Refused. */
  publishVersion(project: ProjectScope, viewer: SignedInViewer, publication: Publication): Promise<PublishedVersion> {
    return this.work.run((tx) => this.addVersion(tx, project, viewer, publication));
  }

  /**
   * Errors: Forbidden `Package already exists.`, unless the version was published with the same bytes by the same session,
   * or by the same credential that got no answer: then the client repeats a request, and its version is returned.
   */
  private async findRepeatedOrRefuse(
    reads: SqlReader,
    project: ProjectScope,
    viewer: SignedInViewer,
    { sent, tarball, session, turn }: RequestedPublication,
  ): Promise<PublishedVersion | null> {
    const { name, version } = sent;
    const [found] = await reads.run(EXISTING, {
      project: project.id,
      name,
      version: stripBuildMetadata(version),
    });
    if (!found) return null;
    const sha256 = tarball?.content.sha256;
    const isOfSession = session !== null && found.session === session && found.creator_id === viewer.userId;
    if (!(isOfSession && found.sha256 === sha256) && !isRetryOfUnansweredUpload(found, sha256, viewer))
      throw new Forbidden('Package already exists.', { verbatim: true });
    if (found.file_id !== null) turn.stored(found.file_id);
    return { id: found.id, name, version };
  }

  private async addVersion(
    tx: Tx,
    project: ProjectScope,
    viewer: SignedInViewer,
    publication: Publication,
  ): Promise<PublishedVersion> {
    const { sent, tarball, stored, session, turn } = publication;
    const { name, version } = sent;
    const named = { projectId: project.id, type: 'npm', name } as const;
    const now = this.clock.now();
    await this.refuseInOtherProject(tx, project, sent);
    await raisePackageIndexGeneration(tx, named, now);
    const existing = await this.findRepeatedOrRefuse(tx, project, viewer, publication);
    if (existing) return existing;
    const { package_id: id, id: fileId } = await this.publishing.publishFile(tx, {
      ...{ project, type: 'npm' as const, name, version, fileName: renderNpmTarballName(name, version) },
      ...{ creatorId: viewer.userId, content: tarball.content, repeatableBy: identifyUploadCredential(viewer) },
    });
    const sentDeprecation = sent.manifest['deprecated'];
    const deprecation =
      typeof sentDeprecation === 'string' && sentDeprecation ? stripUnstorableCharacters(sentDeprecation) : null;
    await tx.run(ADD, {
      ...{ package: id, project: project.id, ...stored, readme: sent.readme, session, deprecation },
      integrity: `sha512-${tarball.sha512}`,
      shasum: tarball.content.sha1,
    });
    if (deprecation !== null) await setPackagesDeprecated(tx, [id], true, now);
    for (const tag of sent.tags) await setTag(tx, named, tag, id, now);
    turn.stored(fileId);
    return { id, name, version };
  }

  /** A name whose scope is the top-level namespace is found by the registry of the instance, so it has one project. */
  private async refuseInOtherProject(tx: Tx, project: ProjectScope, { name, version }: NewNpmVersion): Promise<void> {
    if (parseNpmScope(name) !== project.fullPath.split('/', 1)[0]) return;
    const owned = { project, type: 'npm', name, version } as const;
    await lockPackageNameBelowRoot(tx, owned);
    if (await isPackageInOtherProject(tx, owned))
      throw new Refused('Validation failed: Package already exists', { verbatim: true });
  }
}
