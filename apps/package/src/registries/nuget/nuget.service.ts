import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { InvalidParameters, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageFiles } from '../../packages/package-files';
import { PackageUploadGate } from '../../packages/publishing/upload-gate';
import { MAX_SKIPPED_BYTES, readUploadForm } from '../../packages/upload-form';
import { PackageProtections } from '../../protection-rules/protections';
import { NugetReleases } from './nuget-releases';
import { parseNugetVersion } from './nuget-version';
import { nugetValidationRefusal, parseNuspec } from './nuspec';
import { NuspecReader } from './nuspec-reader';
import { SymbolReader } from './symbols/symbol-reader';
import { repairMultipartEnding } from './v2/multipart-ending';

/** The body of a push. `answered` resolves with whether the client was sent the whole answer. */
export interface NugetPush {
  readonly body: Readable & { readonly mediaType: string; readonly declaredSize: number | null };
  readonly answered: Promise<boolean>;
}

/** Package type of archives with symbols. */
const SYMBOLS = 'symbolspackage';

/** Pushes of NuGet packages. Source: reference packages-and-admin 4.9. */
@Injectable()
export class NugetService {
  constructor(
    private readonly gate: PackageUploadGate,
    private readonly protections: PackageProtections,
    private readonly files: PackageFiles,
    private readonly nuspecs: NuspecReader,
    private readonly symbols: SymbolReader,
    private readonly releases: NugetReleases,
  ) {}

  /**
   * Publishes a package, or the symbols of a version. The description inside names it, so that a protected name is refused
   * after the file is stored. Errors: Refused for an invalid package, Conflict for a version that exists, NotFound for
   * symbols without their version, Forbidden for a protected name and beyond a limit of storage; those of the body.
   */
  async pushPackage(
    project: ProjectScope,
    viewer: SignedInViewer,
    { body, answered }: NugetPush,
    kind: 'nupkg' | 'snupkg',
  ): Promise<void> {
    const maxBytes = this.gate.fileLimit(project, 'nuget');
    if (body.declaredSize !== null && body.declaredSize > maxBytes + MAX_SKIPPED_BYTES)
      throw new Refused('File is too large');
    await this.gate.refuseBeyondStorage(project, 0);
    const parts = { fields: [], file: 'package', isAnyName: true } as const;
    const { content } = await readUploadForm(repairMultipartEnding(body), parts, ({ source }) =>
      this.files.storeFile(source, maxBytes),
    );
    if (content === null) throw new InvalidParameters(['package is missing']);
    const nuspec = parseNuspec(await this.nuspecs.readNuspec(content));
    const version = parseNugetVersion(nuspec.version);
    if (version === null) throw nugetValidationRefusal('Version is invalid');
    await this.protections.refusePush(project, viewer, 'nuget', nuspec.id);
    const hasSymbols = nuspec.packageTypes.some((type) => type.toLowerCase() === SYMBOLS);
    if (kind === 'nupkg' && hasSymbols) throw nugetValidationRefusal('the package has symbols only');
    const symbols = kind === 'snupkg' ? await this.symbols.listSymbols(content) : [];
    await this.releases.publishRelease(project, viewer, { kind, nuspec, version, content, symbols, answered });
  }
}
