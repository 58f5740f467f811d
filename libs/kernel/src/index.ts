export * from './errors';
export * from './access';
export * from './clock';
export * from './page';
export * from './token-scopes';
