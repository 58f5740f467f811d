import { randomUUID } from 'node:crypto';
import type { Viewer } from '@rookery/kernel';
import { SEED_EPOCH } from './directory-seed';

/**
 * An ordinary signed-in user with an `api` token. Over a seeded directory use `seed.viewer(user)`, which has the
 * version of the seed.
 */
export function makeViewer(over: Partial<Viewer> = {}): Viewer {
  return {
    userId: 101,
    username: 'user101',
    isAdmin: false,
    isExternal: false,
    isBot: false,
    tokenId: 1,
    scopes: ['api'],
    impersonatorId: null,
    isBySudo: false,
    creatorId: null,
    address: null,
    directory: { version: 0, epoch: SEED_EPOCH },
    requestId: randomUUID(),
    deadline: Date.now() + 30_000,
    ...over,
  };
}

/** A caller without a token. */
export function anonymousViewer(over: Partial<Viewer> = {}): Viewer {
  return { ...makeViewer(), userId: null, username: null, tokenId: null, scopes: [], ...over };
}
