// Written by `npm run gen` from the names of the files in migrations/; do not edit.
export * from './migrations/1767225600000-create-issues';
export * from './migrations/1767225700000-create-notes';
export * from './migrations/1767225820000-create-todos';
export * from './migrations/1767225820001-create-activity-events';
export * from './migrations/1767225820002-create-mails';
export * from './migrations/1767225830022-create-account-mails';
export * from './migrations/1767225830024-create-user-departures';
export * from './migrations/1767225830025-generalize-named-mails';
export * from './migrations/1767225830100-create-labels';
export * from './migrations/1767225830101-create-resource-label-events';
export * from './migrations/1767225830200-add-threads-to-notes';
export * from './migrations/1767225830201-create-award-emoji';
export * from './migrations/1767225830202-create-subscriptions';
export * from './migrations/1767225840010-create-issue-counts';
export * from './migrations/1767225850000-create-milestones';
