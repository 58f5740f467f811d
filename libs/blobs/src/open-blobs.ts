import type { SettingsOf } from '@rookery/platform';
import type { BlobStore } from './blob-store';
import { BlobStorage } from './blobs';
import type { blobsSettings } from './blobs.config';
import { parseBlobsUrl } from './blobs-url';
import { DiskStore } from './disk-store';
import type { S3Credentials } from './s3-client';
import { S3Store } from './s3-store';

/** Makes `BlobStorage` from the settings; nothing is read, written or connected to yet. Errors: a plain Error for a bad value. */
export function openBlobs(settings: SettingsOf<typeof blobsSettings>): BlobStorage {
  return new BlobStorage(createStore(settings));
}

function createStore(settings: SettingsOf<typeof blobsSettings>): BlobStore {
  try {
    const place = parseBlobsUrl(settings.url);
    return place.kind === 'disk' ? new DiskStore(place.root) : new S3Store(place, readCredentials(settings));
  } catch (error) {
    throw new Error(`BLOBS_URL ${(error as Error).message}`, { cause: error });
  }
}

function readCredentials(settings: SettingsOf<typeof blobsSettings>): S3Credentials | null {
  const { accessKeyId, secretAccessKey, sessionToken } = settings;
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    throw new Error('needs both of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither');
  }
  if (accessKeyId === null || secretAccessKey === null) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
}
