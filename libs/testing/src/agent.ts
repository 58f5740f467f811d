import { randomUUID } from 'node:crypto';
import type { Agent as Connections, ClientRequest } from 'node:http';
import type { ContextClaims } from '@rookery/contracts';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { contextRequestClaim, signContext } from '@rookery/platform';
import type { ContextSigningKeys } from '@rookery/platform';
import qs from 'qs';
import supertest from 'supertest';
import type { Agent, Response, Test } from 'supertest';

export type Params = Readonly<Record<string, unknown>>;
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Address and signing keys of agents; `seen` checks every answer, and throws to fail its request. */
export interface Target {
  readonly baseUrl: string;
  readonly service: string;
  readonly keys: ContextSigningKeys;
  /** Deadline of each request. Units: ms. */
  readonly waitMs?: number;
  /** Connections that stay open between requests. */
  readonly connections: Connections;
  readonly seen: (method: string, url: string, response: Response) => void;
}

/**
 * A supertest agent that calls a service as its gateway would on behalf of one viewer; null sends no context. The
 * context is signed when the request is sent: it covers the URL with its query.
 */
export function agentFor({ baseUrl, connections, seen, ...signer }: Target, viewer: Viewer | null): Agent {
  return supertest.agent(baseUrl).use((test: Test) => {
    let url = '';
    return test
      .agent(connections)
      .on('request', ({ req }: { readonly req: ClientRequest }) => {
        url = req.path;
        if (viewer !== null)
          req.setHeader(CONTEXT_HEADER, signViewerContext(signer, viewer, contextRequestClaim(test.method, url)));
      })
      .expect((response) => seen(test.method, url, response));
  });
}

/** A request by method name, for tables of routes. */
export function requestOf(agent: Agent, method: Method, path: string): Test {
  return agent[method.toLowerCase() as Lowercase<Method>](path);
}

/** Encodes parameters of a query or form: lists as `name[]=`, hashes as `name[key]=`. */
export function encodeBracketParams(params: Params): string {
  return qs.stringify(params, { arrayFormat: 'brackets' });
}

export type Signer = Pick<Target, 'service' | 'keys' | 'waitMs'>;

/** Signs the context of a request of this viewer, as the gateway does. */
export function signViewerContext(
  { service, keys, waitMs = 60_000 }: Signer,
  viewer: Viewer,
  requestClaim: string,
): string {
  const claims: ContextClaims = {
    sub: viewer.userId,
    usr: viewer.username,
    tok: viewer.tokenId,
    ...(viewer.job ? { job: [viewer.job.id, viewer.job.projectId] as const } : {}),
    scp: viewer.scopes,
    adm: viewer.isAdmin,
    ext: viewer.isExternal,
    bot: viewer.isBot,
    imp: viewer.impersonatorId,
    ...(viewer.isBySudo ? { sud: true as const } : {}),
    ...(viewer.creatorId === null ? {} : { mkr: viewer.creatorId }),
    ...(viewer.address === null ? {} : { adr: viewer.address }),
    ...(viewer.isReplayOnly ? { rpl: true as const } : {}),
    ...(viewer.clientToken === undefined ? {} : { ctk: viewer.clientToken }),
    ver: viewer.directory.version,
    epo: viewer.directory.epoch,
    aud: service,
    req: requestClaim,
    rid: randomUUID(),
    iat: Date.now(),
    ddl: Date.now() + waitMs,
  };
  return signContext(claims, keys);
}
