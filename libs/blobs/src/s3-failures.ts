import { BlobError } from './blob-error';

interface S3ServiceError {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** True for the answer that an object does not exist. A missing bucket is another failure. */
export function isMissingObjectError(error: unknown): boolean {
  const { name, $metadata } = error as S3ServiceError;
  return name === 'NoSuchKey' || name === 'NotFound' || ($metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket');
}

/** Turns errors of the AWS library and of the connection into BlobError. */
export function toBlobError(error: unknown): unknown {
  if (error instanceof BlobError || error instanceof TypeError) return error;
  const { name, code, $metadata } = error as S3ServiceError;
  if ($metadata?.httpStatusCode === 416) {
    return new BlobError('range', 'The range starts after the end of the file.', { cause: error });
  }
  return new BlobError('unavailable', `The S3 server does not work (${code ?? name ?? 'unknown error'}).`, {
    cause: error,
  });
}
