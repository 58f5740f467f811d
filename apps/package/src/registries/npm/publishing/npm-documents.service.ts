import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, Refused } from '@rookery/kernel';
import { PackageFiles } from '../../../packages/package-files';
import type { StoredFile } from '../../../packages/package-files';
import { NpmMaintenance } from '../maintenance/npm-maintenance';
import { readNpmPublishDocument } from './document-reader';
import type { PublishDocument } from './document-reader';
import { checkIntegrity, checkNpmPackageName, readSentVersion, toStoredManifest, requireTarball } from './new-version';
import { NpmGate } from './npm-gate';
import { NpmPublications } from './npm-publications';
import type { PublishedVersion } from './npm-publications';
import { checkedTarballManifest } from './tarball-manifest';

/** A document that a client sends. Units: `declaredSize` in bytes, null if the client does not say. */
export interface NpmDocumentUpload {
  readonly name: string;
  readonly body: Readable;
  readonly declaredSize: number | null;
  readonly session: string | null;
  /** Resolves with whether the client was sent the whole answer. */
  readonly answered: Promise<boolean>;
}

/** Publishes versions and changes their metadata by whole documents. Source: reference packages-and-admin 4.4. */
@Injectable()
export class NpmDocumentsService {
  constructor(
    private readonly files: PackageFiles,
    private readonly gate: NpmGate,
    private readonly publications: NpmPublications,
    private readonly maintenance: NpmMaintenance,
  ) {}

  /**
   * Takes a document: with attachments it publishes a version, without it deprecates versions. Returns null for the latter.
   * Errors: Refused, Forbidden; those of the body.
   */
  async putDocument(
    project: ProjectScope,
    viewer: SignedInViewer,
    sent: NpmDocumentUpload,
  ): Promise<PublishedVersion | null> {
    const { name, body } = sent;
    checkNpmPackageName(name);
    const limits = this.gate.documentLimits(project, sent.declaredSize);
    // A protected name is refused at the end, because an existing version is the more important refusal.
    const refusal = await this.gate.pushRefusal(project, viewer, name);
    const store = refusal
      ? null
      : (source: Readable) => this.storeTarball(project, sent.declaredSize, source, limits.tarball);
    const document = await readNpmPublishDocument(body, store, limits.document);
    if (document.root['_attachments'] !== undefined)
      return this.publishVersion(project, viewer, sent, document, refusal);
    if (refusal) throw refusal;
    await this.maintenance.deprecateVersions(project, viewer, name, document);
    return null;
  }

  private async publishVersion(
    project: ProjectScope,
    viewer: SignedInViewer,
    { name, session, answered }: NpmDocumentUpload,
    document: PublishDocument,
    refusal: Forbidden | null,
  ): Promise<PublishedVersion> {
    const sent = readSentVersion(document, name);
    const tarball = refusal ? null : requireTarball(document);
    const turn = await this.publications.beginTurn(project, sent, answered);
    const repeated = await this.publications.findRepeated(project, viewer, { sent, session, tarball, turn });
    if (repeated) return repeated;
    if (refusal || tarball === null) throw refusal ?? new Forbidden();
    checkIntegrity(sent, tarball);
    const inTarball = await checkedTarballManifest(await this.files.reopenStored(tarball.content), sent.manifest);
    const stored = toStoredManifest(sent, inTarball);
    return this.publications.publishVersion(project, viewer, { sent, tarball, session, turn, stored });
  }

  private async storeTarball(
    project: ProjectScope,
    declaredSize: number | null,
    source: Readable,
    maxBytes: number,
  ): Promise<StoredFile> {
    await this.gate.refuseBeyondStorage(project, declaredSize);
    try {
      return await this.files.storeFile(source, maxBytes);
    } catch (error) {
      throw error instanceof Refused ? new Refused(`${error.reason}.`, { verbatim: true }) : error;
    }
  }
}
