const TEXT = { type: 'string' } as const;

/** Schema of a file with its content. */
export const FILE_SCHEMA = {
  type: 'object',
  properties: {
    file_name: { ...TEXT, description: 'Last part of the path.' },
    file_path: { ...TEXT, description: 'Path from the root of the repository.' },
    size: { type: 'integer', description: 'Size in bytes.' },
    encoding: { type: 'string', enum: ['base64'], description: 'Encoding of the content.' },
    content_sha256: { ...TEXT, description: 'SHA-256 of the content, in hexadecimal.' },
    ref: { ...TEXT, description: 'The revision as the request named it.' },
    blob_id: { ...TEXT, description: 'Id of the blob.' },
    commit_id: { ...TEXT, description: 'Id of the commit of the revision.' },
    last_commit_id: { ...TEXT, description: 'Id of the newest commit that changed the file.' },
    execute_filemode: { type: 'boolean', description: 'Whether the file is executable.' },
    content: { ...TEXT, description: 'Content in base64.' },
  },
  required: [
    ...['file_name', 'file_path', 'size', 'encoding', 'content_sha256', 'ref', 'blob_id', 'commit_id'],
    ...['last_commit_id', 'execute_filemode', 'content'],
  ],
} as const;
