import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SourceCommit, SourceCommitRequest } from '@rookery/contracts';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { PackageFiles } from '../../packages/package-files';
import { archiveCallerOf, SourceCode } from '../../packages/source/source-code';
import { declaredPath, listModuleFolders, inFolder, moduleIn, unescapeGo } from './go-module';
import type { GoModule } from './go-module';
import { GoPins } from './go-pins';
import {
  fitsMajor,
  findHighestVersion,
  findLatestVersion,
  pseudoVersionIn,
  pseudoVersionOf,
  tagVersionIn,
  renderVersionTime,
} from './go-version';
import type { GoPseudoVersion, GoTagVersion } from './go-version';

/** A version with its files. `folder` holds the module; `packageId` is null for a version that names a commit. */
export interface FoundGoVersion {
  readonly module: GoModule;
  readonly version: string;
  readonly commit: string;
  /** Time of the commit. Shape: ISO 8601, UTC, without fractions of a second. */
  readonly time: string;
  readonly folder: string;
  readonly goMod: string;
  readonly packageId: number | null;
}

/** A commit with the module in it. */
interface FoundModule {
  readonly folder: string;
  readonly goMod: string | null;
}

/** Units: bytes. */
const MAX_GO_MOD = 1024 * 1024;

/** Versions of the Go modules of a project. Source: reference packages-and-admin 4.12. */
@Injectable()
export class GoService {
  constructor(
    private readonly source: SourceCode,
    private readonly pins: GoPins,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  /** Returns the module of an escaped path. Errors: NotFound for a path outside of the project. */
  moduleOf({ fullPath }: ProjectScope, escaped: string): GoModule {
    const { hostname, pathname } = new URL(this.links.web(fullPath));
    const path = unescapeGo(escaped);
    const found = path === null ? null : moduleIn(`${hostname}${decodeURI(pathname)}`, path);
    if (found === null) throw absent('module path is not in this project');
    return found;
  }

  /** Versions of tags. */
  async versions({ id }: ProjectScope, module: GoModule): Promise<readonly string[]> {
    return this.tagsOf(id, module, null);
  }

  /** Finds a version. Errors: NotFound. */
  async find(project: ProjectScope, module: GoModule, escaped: string): Promise<FoundGoVersion> {
    const text = unescapeGo(escaped);
    const tag = text === null ? null : tagVersionIn(text);
    if (tag !== null) return this.ofTag(project, module, tag);
    const pseudo = text === null ? null : pseudoVersionIn(text);
    if (pseudo === null) throw absent('unknown version');
    return this.ofCommit(project, module, pseudo);
  }

  /** Finds a version, or the version of a branch or commit. Errors: NotFound. */
  describe(project: ProjectScope, module: GoModule, escaped: string): Promise<FoundGoVersion> {
    const text = unescapeGo(escaped);
    const isVersion = text !== null && (tagVersionIn(text) !== null || pseudoVersionIn(text) !== null);
    return isVersion ? this.find(project, module, escaped) : this.resolve(project, module, escaped);
  }

  /** Finds the version of a branch or commit. Shape: null for the default branch. Errors: NotFound. */
  async resolve(project: ProjectScope, module: GoModule, escaped: string | null): Promise<FoundGoVersion> {
    const rev = escaped === null ? null : unescapeGo(escaped);
    if (escaped !== null && rev === null) throw absent('unknown revision');
    const commit = await this.commitOf(project, module, rev, { finds_tags: true });
    const found = foundIn(module, commit);
    const tags = await this.tagsOf(project.id, module, commit.id);
    const exact = findHighestVersion(tags.filter((version) => commit.tags.includes(tagNameOf(module, version))));
    if (exact !== null) return this.ofTag(project, module, tagVersionIn(exact)!);
    const base = findHighestVersion(tags.filter((version) => !version.includes('+')));
    return versionOf(module, commit, found, pseudoVersionOf(module, base, { ...commit }), null);
  }

  /** Finds the latest version: the highest release or prerelease of a tag, or else the default branch. Errors: NotFound. */
  async findLatest(project: ProjectScope, module: GoModule): Promise<FoundGoVersion> {
    const version = findLatestVersion(await this.versions(project, module));
    if (version === null) return this.resolve(project, module, null);
    return this.ofTag(project, module, tagVersionIn(version)!);
  }

  /** Opens the files of a version. Errors: NotFound for a module that is too large or has unusable names. */
  async openZip(
    { id }: ProjectScope,
    viewer: Viewer,
    { module, version, commit, folder, packageId }: FoundGoVersion,
  ): Promise<Readable> {
    const prefix = `${module.path}@${version}`;
    const zip = await this.source.openGoModule({
      project_id: id,
      commit,
      folder,
      prefix,
      caller: archiveCallerOf(viewer),
    });
    if (zip === null) throw absent('module is too large, or has file names that Go refuses');
    if (packageId !== null) this.files.noteDownload(packageId);
    return zip;
  }

  private async ofTag(project: ProjectScope, module: GoModule, asked: GoTagVersion): Promise<FoundGoVersion> {
    const { text: version, major, isIncompatible } = asked;
    const fits = isIncompatible ? module.major === null && module.folder === '' && major > 1 : fitsMajor(module, major);
    if (!fits) throw absent('version does not belong to the module path');
    const named = { module: module.path, version };
    const pinned = await this.pins.find(project, named);
    const rev = pinned?.target_sha ?? `refs/tags/${tagNameOf(module, version)}`;
    const commit = await this.commitOf(project, module, rev, { keeps: pinned === null });
    const found = foundIn(module, commit);
    if (isIncompatible && found.goMod !== null) throw absent('version has a go.mod, so it is not +incompatible');
    const row = pinned ?? (await this.pins.pin(project, named, commit.id));
    // Another request has pinned another commit just now.
    if (row.target_sha !== commit.id) return this.ofTag(project, module, asked);
    return versionOf(module, commit, found, version, row.package_id);
  }

  private async ofCommit(project: ProjectScope, module: GoModule, asked: GoPseudoVersion): Promise<FoundGoVersion> {
    if (!fitsMajor(module, asked.major)) throw absent('version does not belong to the module path');
    const commit = await this.commitOf(project, module, asked.rev);
    if (!commit.id.startsWith(asked.rev)) throw absent('unknown revision');
    if (renderVersionTime(commit.committed_at) !== asked.time)
      throw absent('time of the version is not that of the commit');
    const { base } = asked;
    if (base !== null && !(await this.tagsOf(project.id, module, commit.id)).includes(base))
      throw absent(`${base} is no ancestor of the commit`);
    return versionOf(module, commit, foundIn(module, commit), asked.text, null);
  }

  /** Versions of tags, of those that a commit contains if one is given. */
  private async tagsOf(project: number, module: GoModule, mergedInto: string | null): Promise<readonly string[]> {
    const folder = module.folder === '' ? '' : `${module.folder}/`;
    const tags = await this.source.listTags({
      project_id: project,
      prefix: folder,
      path: 'go.mod',
      merged_into: mergedInto,
    });
    return tags.flatMap(({ name, has_file: hasGoMod }) => {
      const version = tagVersionIn(name.slice(folder.length));
      if (version === null || version.isIncompatible) return [];
      if (fitsMajor(module, version.major)) return [version.text];
      const isOld = module.major === null && folder === '' && !hasGoMod;
      return isOld ? [`${version.text}+incompatible`] : [];
    });
  }

  private async commitOf(
    { id }: ProjectScope,
    module: GoModule,
    rev: string | null,
    options: Partial<Pick<SourceCommitRequest, 'keeps' | 'finds_tags'>> = {},
  ): Promise<SourceCommit> {
    const paths = listModuleFolders(module).map((folder) => inFolder(folder, 'go.mod'));
    const asked = { project_id: id, rev, paths, max_bytes: MAX_GO_MOD, keeps: false, finds_tags: false, ...options };
    const commit = await this.source.readCommit(asked);
    if (commit === null) throw absent('unknown revision');
    return commit;
  }
}

/** Name of the tag of a version. */
function tagNameOf({ folder }: GoModule, version: string): string {
  return inFolder(folder, version.replace('+incompatible', ''));
}

/** Errors: NotFound if the commit has no such module. */
function foundIn(module: GoModule, { contents }: SourceCommit): FoundModule {
  for (const [index, folder] of listModuleFolders(module).entries()) {
    const content = contents[index];
    const goMod = content === null || content === undefined ? null : Buffer.from(content, 'base64').toString();
    if (goMod !== null && declaredPath(goMod) === module.path) return { folder, goMod };
  }
  const hasNone = contents.every((content) => content === null);
  if (hasNone && module.folder === '' && module.major === null) return { folder: '', goMod: null };
  throw absent('no go.mod that declares the module path');
}

function versionOf(
  module: GoModule,
  commit: SourceCommit,
  { folder, goMod }: FoundModule,
  version: string,
  packageId: number | null,
): FoundGoVersion {
  const time = `${new Date(commit.committed_at).toISOString().slice(0, 19)}Z`;
  const text = goMod ?? `module ${module.path}\n`;
  return { module, version, commit: commit.id, time, folder, goMod: text, packageId };
}

/** Refusal whose text Go shows. */
function absent(text: string): NotFound {
  return new NotFound(`not found: ${text}`, { verbatim: true });
}
