// Written by `npm run gen` from the names of the files in migrations/; do not edit.
export * from './migrations/1767225600000-create-imports';
export * from './migrations/1767225600101-add-stages-to-imports';
export * from './migrations/1767225600102-index-imports-by-user';
export * from './migrations/1767225600103-add-imports-by-url';
export * from './migrations/1767225600104-add-single-endpoint-notes-to-imports';
export * from './migrations/1767225600110-add-imports-from-servers';
export * from './migrations/1767225600111-add-imports-from-repository-service';
export * from './migrations/1767225600112-create-gist-imports';
export * from './migrations/1767225600113-add-progress-try-to-imports';
export * from './migrations/1767225600114-add-attachments-to-imports';
