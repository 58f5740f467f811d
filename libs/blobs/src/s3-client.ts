import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Place } from './blobs-url';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The AWS library, with a client for one place. */
export type S3 = { readonly client: S3Client } & typeof import('@aws-sdk/client-s3') &
  Pick<typeof import('@aws-sdk/lib-storage'), 'Upload'>;

/** Units: ms. A download is closed when its reader takes nothing for `socketTimeout`. */
const TIMES = { connectionTimeout: 3000, socketTimeout: 120_000, throwOnRequestTimeout: true };
/** Each download holds a connection until its reader is done. */
const AGENT = { keepAlive: true, maxSockets: 500 };

/**
 * Loads the AWS library and makes a client. Loading costs about 20 MiB, which a process with files on disk never pays.
 * Checksums that some S3 servers do not know are sent only for requests that need them.
 */
export async function loadS3(place: S3Place, credentials: S3Credentials | null, requestTimeout: number): Promise<S3> {
  const [library, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const client = new library.S3Client({
    region: place.region,
    forcePathStyle: place.forcePathStyle,
    ...(place.endpoint === null ? {} : { endpoint: place.endpoint }),
    ...(credentials === null ? {} : { credentials }),
    maxAttempts: 3,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { ...TIMES, requestTimeout, httpAgent: AGENT, httpsAgent: AGENT },
  });
  return { ...library, client, Upload };
}
