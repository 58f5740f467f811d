import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SourceCommit, SourceCommitRequest } from '@rookery/contracts';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { PackageFiles } from '../../packages/package-files';
import { toArchiveRateLimitKey, SourceCodeClient } from '../../packages/source/source-code';
import {
  parseDeclaredGoModulePath,
  listModuleFolders,
  joinFolderPath,
  parseGoModulePath,
  unescapeGoPathOrVersion,
} from './go-module';
import type { GoModule } from './go-module';
import { GoPins } from './go-pins';
import {
  canGoModuleHaveMajor,
  findHighestGoVersion,
  findLatestGoVersion,
  parsePseudoVersion,
  createPseudoVersion,
  parseTagVersion,
  renderPseudoVersionTime,
} from './go-version';
import type { GoPseudoVersion, GoTagVersion } from './go-version';

/** A version with its files. `folder` holds the module; `packageId` is null for a version that names a commit. */
export interface ResolvedGoVersion {
  readonly module: GoModule;
  readonly version: string;
  readonly commit: string;
  /** Time of the commit, in ISO 8601, in UTC and without fractions of a second. */
  readonly time: string;
  readonly folder: string;
  readonly goMod: string;
  readonly packageId: number | null;
}

/** A commit with the module in it. */
interface GoModuleFolder {
  readonly folder: string;
  readonly goMod: string | null;
}

/** Units: bytes. */
const MAX_GO_MOD = 1024 * 1024;

/** Versions of the Go modules of a project. Source: reference packages-and-admin 4.12. */
@Injectable()
export class GoService {
  constructor(
    private readonly source: SourceCodeClient,
    private readonly pins: GoPins,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  /** Returns the module of an escaped path. Errors: NotFound for a path outside of the project. */
  parseModule({ fullPath }: ProjectScope, escaped: string): GoModule {
    const { hostname, pathname } = new URL(this.links.webUrl(fullPath));
    const path = unescapeGoPathOrVersion(escaped);
    const found = path === null ? null : parseGoModulePath(`${hostname}${decodeURI(pathname)}`, path);
    if (found === null) throw goVersionNotFoundRefusal('module path is not in this project');
    return found;
  }

  /** Versions of tags. */
  async listVersions({ id }: ProjectScope, module: GoModule): Promise<readonly string[]> {
    return this.listTagVersions(id, module, null);
  }

  /** Finds a version. Errors: NotFound. */
  async findVersion(project: ProjectScope, module: GoModule, escaped: string): Promise<ResolvedGoVersion> {
    const text = unescapeGoPathOrVersion(escaped);
    const tag = text === null ? null : parseTagVersion(text);
    if (tag !== null) return this.resolveTagVersion(project, module, tag);
    const pseudo = text === null ? null : parsePseudoVersion(text);
    if (pseudo === null) throw goVersionNotFoundRefusal('unknown version');
    return this.resolvePseudoVersion(project, module, pseudo);
  }

  /** Finds a version, or the version of a branch or commit. Errors: NotFound. */
  describeVersion(project: ProjectScope, module: GoModule, escaped: string): Promise<ResolvedGoVersion> {
    const text = unescapeGoPathOrVersion(escaped);
    const isVersion = text !== null && (parseTagVersion(text) !== null || parsePseudoVersion(text) !== null);
    return isVersion ? this.findVersion(project, module, escaped) : this.resolveVersion(project, module, escaped);
  }

  /** Finds the version of a branch or commit. `escaped` is null for the default branch. Errors: NotFound. */
  async resolveVersion(project: ProjectScope, module: GoModule, escaped: string | null): Promise<ResolvedGoVersion> {
    const rev = escaped === null ? null : unescapeGoPathOrVersion(escaped);
    if (escaped !== null && rev === null) throw goVersionNotFoundRefusal('unknown revision');
    const commit = await this.findCommit(project, module, rev, { finds_tags: true });
    const found = findModuleFolder(module, commit);
    const tags = await this.listTagVersions(project.id, module, commit.id);
    const exact = findHighestGoVersion(tags.filter((version) => commit.tags.includes(tagNameOf(module, version))));
    if (exact !== null) return this.resolveTagVersion(project, module, parseTagVersion(exact)!);
    const base = findHighestGoVersion(tags.filter((version) => !version.includes('+')));
    return toResolvedVersion(module, commit, found, createPseudoVersion(module, base, { ...commit }), null);
  }

  /** Finds the latest version: the highest release or prerelease of a tag, or else the default branch. Errors: NotFound. */
  async findLatest(project: ProjectScope, module: GoModule): Promise<ResolvedGoVersion> {
    const version = findLatestGoVersion(await this.listVersions(project, module));
    if (version === null) return this.resolveVersion(project, module, null);
    return this.resolveTagVersion(project, module, parseTagVersion(version)!);
  }

  /** Opens the files of a version. Errors: NotFound for a module that is too large or has unusable names. */
  async openZip(
    { id }: ProjectScope,
    viewer: Viewer,
    { module, version, commit, folder, packageId }: ResolvedGoVersion,
  ): Promise<Readable> {
    const prefix = `${module.path}@${version}`;
    const zip = await this.source.openGoModule({
      project_id: id,
      commit,
      folder,
      prefix,
      caller: toArchiveRateLimitKey(viewer),
    });
    if (zip === null) throw goVersionNotFoundRefusal('module is too large, or has file names that Go refuses');
    if (packageId !== null) this.files.recordDownload(packageId);
    return zip;
  }

  private async resolveTagVersion(
    project: ProjectScope,
    module: GoModule,
    asked: GoTagVersion,
  ): Promise<ResolvedGoVersion> {
    const { text: version, major, isIncompatible } = asked;
    const fits = isIncompatible
      ? module.major === null && module.folder === '' && major > 1
      : canGoModuleHaveMajor(module, major);
    if (!fits) throw goVersionNotFoundRefusal('version does not belong to the module path');
    const named = { module: module.path, version };
    const pinned = await this.pins.findPin(project, named);
    const rev = pinned?.target_sha ?? `refs/tags/${tagNameOf(module, version)}`;
    const commit = await this.findCommit(project, module, rev, { keeps: pinned === null });
    const found = findModuleFolder(module, commit);
    if (isIncompatible && found.goMod !== null)
      throw goVersionNotFoundRefusal('version has a go.mod, so it is not +incompatible');
    const row = pinned ?? (await this.pins.pinVersion(project, named, commit.id));
    // Another request has pinned another commit just now.
    if (row.target_sha !== commit.id) return this.resolveTagVersion(project, module, asked);
    return toResolvedVersion(module, commit, found, version, row.package_id);
  }

  private async resolvePseudoVersion(
    project: ProjectScope,
    module: GoModule,
    asked: GoPseudoVersion,
  ): Promise<ResolvedGoVersion> {
    if (!canGoModuleHaveMajor(module, asked.major))
      throw goVersionNotFoundRefusal('version does not belong to the module path');
    const commit = await this.findCommit(project, module, asked.rev);
    if (!commit.id.startsWith(asked.rev)) throw goVersionNotFoundRefusal('unknown revision');
    if (renderPseudoVersionTime(commit.committed_at) !== asked.time)
      throw goVersionNotFoundRefusal('time of the version is not that of the commit');
    const { base } = asked;
    if (base !== null && !(await this.listTagVersions(project.id, module, commit.id)).includes(base))
      throw goVersionNotFoundRefusal(`${base} is no ancestor of the commit`);
    return toResolvedVersion(module, commit, findModuleFolder(module, commit), asked.text, null);
  }

  /** Versions of tags, of those that a commit contains if one is given. */
  private async listTagVersions(
    project: number,
    module: GoModule,
    mergedInto: string | null,
  ): Promise<readonly string[]> {
    const folder = module.folder === '' ? '' : `${module.folder}/`;
    const tags = await this.source.listTags({
      project_id: project,
      prefix: folder,
      path: 'go.mod',
      merged_into: mergedInto,
    });
    return tags.flatMap(({ name, has_file: hasGoMod }) => {
      const version = parseTagVersion(name.slice(folder.length));
      if (version === null || version.isIncompatible) return [];
      if (canGoModuleHaveMajor(module, version.major)) return [version.text];
      const isOld = module.major === null && folder === '' && !hasGoMod;
      return isOld ? [`${version.text}+incompatible`] : [];
    });
  }

  private async findCommit(
    { id }: ProjectScope,
    module: GoModule,
    rev: string | null,
    options: Partial<Pick<SourceCommitRequest, 'keeps' | 'finds_tags'>> = {},
  ): Promise<SourceCommit> {
    const paths = listModuleFolders(module).map((folder) => joinFolderPath(folder, 'go.mod'));
    const asked = { project_id: id, rev, paths, max_bytes: MAX_GO_MOD, keeps: false, finds_tags: false, ...options };
    const commit = await this.source.readCommit(asked);
    if (commit === null) throw goVersionNotFoundRefusal('unknown revision');
    return commit;
  }
}

/** Name of the tag of a version. */
function tagNameOf({ folder }: GoModule, version: string): string {
  return joinFolderPath(folder, version.replace('+incompatible', ''));
}

/** Errors: NotFound if the commit has no such module. */
function findModuleFolder(module: GoModule, { contents }: SourceCommit): GoModuleFolder {
  for (const [index, folder] of listModuleFolders(module).entries()) {
    const content = contents[index];
    const goMod = content === null || content === undefined ? null : Buffer.from(content, 'base64').toString();
    if (goMod !== null && parseDeclaredGoModulePath(goMod) === module.path) return { folder, goMod };
  }
  const hasNone = contents.every((content) => content === null);
  if (hasNone && module.folder === '' && module.major === null) return { folder: '', goMod: null };
  throw goVersionNotFoundRefusal('no go.mod that declares the module path');
}

function toResolvedVersion(
  module: GoModule,
  commit: SourceCommit,
  { folder, goMod }: GoModuleFolder,
  version: string,
  packageId: number | null,
): ResolvedGoVersion {
  const time = `${new Date(commit.committed_at).toISOString().slice(0, 19)}Z`;
  const text = goMod ?? `module ${module.path}\n`;
  return { module, version, commit: commit.id, time, folder, goMod: text, packageId };
}

/** Refusal whose text Go shows. */
function goVersionNotFoundRefusal(text: string): NotFound {
  return new NotFound(`not found: ${text}`, { verbatim: true });
}
