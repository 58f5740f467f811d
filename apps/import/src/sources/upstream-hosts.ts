import { Injectable } from '@nestjs/common';
import type { ImportType } from '@rookery/contracts';
import { RemoteClient } from './remote/remote-client';
import { REMOTE_HEADS } from './remote/remote-repository';
import { RepohostClient } from './repohost/repohost-client';
import { RepohostServerClient } from './repohost-server/repohost-server-client';
import { REPOHOST_SERVER_HEADS } from './repohost-server/repohost-server-repository';
import type { UpstreamAccess, UpstreamRepository } from './upstream-repository';

/** Kinds of hosts with an API. */
export type UpstreamKind = Exclude<ImportType, 'git'>;

/** Password that marks a user name as a token. */
const TOKEN_PASSWORD = 'x-oauth-basic';
/** User name for git with tokens whose API takes an e-mail address. */
const EMAIL_USER = 'x-bitbucket-api-token-auth';

/** Returns the pattern of the host's refs for heads of pull requests; null for a host without such refs. */
export function headsOf(kind: ImportType): string | null {
  const heads = { remote: REMOTE_HEADS, repohost_server: REPOHOST_SERVER_HEADS, repohost: null, git: null };
  return heads[kind];
}

/** Returns the credential for git. Shape: `user:password`. */
export function gitCredentialOf(kind: ImportType, credential: string | null): string | null {
  if (kind === 'remote') return `${credential}:${TOKEN_PASSWORD}`;
  const [user] = (credential ?? '').split(':', 1);
  const isByEmail = kind === 'repohost' && user!.includes('@');
  return isByEmail ? `${EMAIL_USER}${credential!.slice(user!.length)}` : credential;
}

/** Opens repositories of hosts of all kinds. */
@Injectable()
export class UpstreamHosts {
  constructor(
    private readonly remote: RemoteClient,
    private readonly server: RepohostServerClient,
    private readonly service: RepohostClient,
  ) {}

  /** Shape: `name` as the import stores it: owner and name. */
  open(kind: UpstreamKind, access: UpstreamAccess, name: string): UpstreamRepository {
    const client = { remote: this.remote, repohost_server: this.server, repohost: this.service }[kind];
    return client.open(access, name);
  }
}
