import type { FileAtRef } from './file-finder';

/** Headers about a file, under the names that clients read. Source: reference repositories 3.3. */
export function fileHeaders(file: FileAtRef): Record<string, string> {
  return {
    'x-gitlab-blob-id': file.blob.id,
    'x-gitlab-commit-id': file.commit,
    'x-gitlab-content-sha256': file.blob.sha256,
    'x-gitlab-encoding': 'base64',
    'x-gitlab-execute-filemode': String(file.isExecutable),
    'x-gitlab-file-name': encodeHeaderText(extractFileName(file)),
    'x-gitlab-file-path': encodeHeaderText(file.path),
    'x-gitlab-last-commit-id': file.lastCommit,
    'x-gitlab-ref': encodeHeaderText(file.ref),
    'x-gitlab-size': String(file.blob.size),
  };
}

export function extractFileName({ path }: Pick<FileAtRef, 'path'>): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Headers carry printable ASCII only; other characters are percent-encoded. */
function encodeHeaderText(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}
