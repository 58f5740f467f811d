import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import type { Readable } from 'node:stream';
import { PackageFiles } from '../../packages/package-files';
import { toArchiveRateLimitKey, SourceCodeClient } from '../../packages/source/source-code';
import {
  parseComposerJson,
  composerJsonTooLargeRefusal,
  composerVersionOfBranch,
  composerVersionOfTag,
} from './composer-json';
import { ComposerReleases } from './composer-releases';
import { ComposerQueries } from './composer.queries';

/** Largest `composer.json` that is read. Units: bytes. */
const MAX_BYTES = 1024 * 1024;

/** A tag or a branch. Exactly one of the fields is set. */
export interface ComposerRef {
  readonly tag?: string;
  readonly branch?: string;
}

/** Versions of Composer packages, and archives of their commits. Source: reference packages-and-admin 4.11. */
@Injectable()
export class ComposerService {
  constructor(
    private readonly source: SourceCodeClient,
    private readonly releases: ComposerReleases,
    private readonly composer: ComposerQueries,
    private readonly files: PackageFiles,
  ) {}

  /**
   * Publishes the commit of a tag or branch. A version that exists moves to the commit. Errors: NotFound for a missing ref;
   * Unprocessable for an invalid `composer.json`; Refused for a tag that is no version, and for a name that another
   * project has; Unavailable.
   */
  async publishVersion(project: ProjectScope, viewer: SignedInViewer, { tag, branch }: ComposerRef): Promise<void> {
    const version = tag === undefined ? composerVersionOfBranch(branch!) : composerVersionOfTag(tag);
    const found = await this.source.readFile({
      ...{ project_id: project.id, path: 'composer.json', max_bytes: MAX_BYTES },
      ref: tag === undefined ? `refs/heads/${branch}` : `refs/tags/${tag}`,
    });
    if (found.commit === null) throw new NotFound(tag === undefined ? 'Branch' : 'Tag');
    if (found.is_too_large) throw composerJsonTooLargeRefusal();
    const description = parseComposerJson(found.content === null ? null : Buffer.from(found.content, 'base64'));
    await this.releases.saveRelease({ project, viewer, version, sha: found.commit, description });
  }

  /** Opens the archive of a version. Errors: NotFound unless the commit is that of a version; Unavailable. */
  async findArchive(
    project: ProjectScope,
    viewer: Viewer,
    name: string,
    sha: string,
  ): Promise<() => Promise<Readable>> {
    const packageId = await this.composer.findPackage(project.id, name, sha);
    return async () => {
      const prefix = `${project.path}-${sha}`;
      const caller = toArchiveRateLimitKey(viewer);
      const archive = await this.source.openArchive({ project_id: project.id, commit: sha, prefix, caller });
      this.files.recordDownload(packageId);
      return archive;
    };
  }
}
