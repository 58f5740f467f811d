export * from './errors';
export * from './access';
export * from './clock';
export * from './html';
export * from './page';
export * from './token-scopes';
