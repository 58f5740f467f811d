import { Injectable } from '@nestjs/common';
import type { FileAnswer } from '@rookery/api-v4';
import { packageDownload } from '../../packages/package-download.presenter';
import { PackageFiles } from '../../packages/package-files';
import { digestDocument, MetadataDocuments } from './metadata/metadata-documents';
import type { MetadataDocument } from './metadata/metadata-documents';
import { METADATA_FILE } from './maven-path';
import type { MavenAddress, MavenDigest } from './maven-path';
import { MavenQueries } from './maven.queries';
import type { MavenFileRow, MavenPlace } from './maven.queries';

/** Answers for downloads: files, metadata documents, and the digests of both. Source: reference packages-and-admin 4.6. */
@Injectable()
export class MavenDownloads {
  constructor(
    private readonly maven: MavenQueries,
    private readonly documents: MetadataDocuments,
    private readonly files: PackageFiles,
  ) {}

  /** Null for an address without a file. */
  async findDownload(place: MavenPlace, address: MavenAddress): Promise<FileAnswer | null> {
    const { digest } = address;
    if (address.fileName === METADATA_FILE) {
      const document = await this.documents.findDocument(place, address);
      if (document === null || digest === null) return document && documentDownload(document);
      return digestDownload(digestDocument(document, digest), document.lastModified);
    }
    const file = await this.maven.findNewest(place, address);
    if (file === null || digest === null) return file && this.fileDownload(file);
    const text = file[digest];
    return text === null ? null : digestDownload(text, file.created_at);
  }

  /** Clients take the digests in the headers instead of requesting each. */
  private fileDownload(file: MavenFileRow): FileAnswer {
    const download = packageDownload(this.files, file, file.file_name);
    return {
      ...download,
      mediaType: file.file_name.endsWith('.pom') ? 'application/xml' : download.mediaType,
      headers: {
        ...download.headers,
        ...mavenChecksumHeaders({ md5: file.md5, sha1: file.sha1 }),
        ...(file.sha512 === null ? {} : mavenChecksumHeaders({ sha512: file.sha512 })),
      },
    };
  }
}

function documentDownload(document: MetadataDocument): FileAnswer {
  const { bytes, lastModified } = document;
  const [md5, sha1, sha256, sha512] = (['md5', 'sha1', 'sha256', 'sha512'] as const).map((digest) =>
    digestDocument(document, digest),
  );
  return {
    stream: bytes,
    mediaType: 'application/xml',
    ...(lastModified === null ? {} : { lastModified }),
    version: sha256!,
    headers: mavenChecksumHeaders({ md5: md5!, sha1: sha1!, sha256: sha256!, sha512: sha512! }),
  };
}

function digestDownload(digest: string, lastModified: Date | null): FileAnswer {
  return {
    stream: Buffer.from(digest),
    mediaType: 'text/plain',
    ...(lastModified === null ? {} : { lastModified }),
  };
}

function mavenChecksumHeaders(digests: Partial<Readonly<Record<MavenDigest, string>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(digests).map(([name, digest]) => [`x-checksum-${name}`, digest]));
}
