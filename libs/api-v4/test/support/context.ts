import { Links } from '@rookery/platform';
import type { PresentContext } from '../../src';

/** Context of a presenter, for an ordinary viewer. */
export function aContext(over: Partial<PresentContext> = {}): PresentContext {
  return {
    viewer: {
      userId: 1,
      username: 'alice',
      isAdmin: false,
      isExternal: false,
      isBot: false,
      tokenId: 1,
      scopes: ['api'],
      impersonatorId: null,
      isBySudo: false,
      creatorId: null,
      address: null,
      directory: { version: 1, epoch: 'e' },
      requestId: 'r',
      deadline: 0,
    },
    links: new Links('http://host'),
    within: undefined,
    get: () => {
      throw new Error('nothing is provided here');
    },
    ...over,
  };
}
