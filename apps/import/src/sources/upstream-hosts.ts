import { Injectable } from '@nestjs/common';
import type { ImportType } from '@rookery/contracts';
import { AttachmentLinks } from './attachments/attachment-links';
import { UpstreamAttachments } from './attachments/upstream-attachments';
import { RemoteClient } from './remote/remote-client';
import { REMOTE_HEADS } from './remote/remote-repository';
import { RepohostClient } from './repohost/repohost-client';
import { RepohostServerClient } from './repohost-server/repohost-server-client';
import { REPOHOST_SERVER_HEADS } from './repohost-server/repohost-server-repository';
import type { UpstreamAccess, UpstreamRepository } from './upstream-repository';
import { UpstreamRequests } from './upstream-requests';

/** Kinds of hosts with an API. */
export type UpstreamKind = Exclude<ImportType, 'git'>;

/** Password that marks a user name as a token. */
const TOKEN_PASSWORD = 'x-oauth-basic';
/** User name for git with tokens whose API takes an e-mail address. */
const EMAIL_USER = 'x-bitbucket-api-token-auth';

/** Returns the pattern of the host's refs for heads of pull requests; null for a host without such refs. */
export function findPullRequestRefPattern(kind: ImportType): string | null {
  const heads = { remote: REMOTE_HEADS, repohost_server: REPOHOST_SERVER_HEADS, repohost: null, git: null };
  return heads[kind];
}

/** Returns the credential for git in the form `user:password`. */
export function toGitCredential(kind: ImportType, credential: string | null): string | null {
  if (kind === 'remote') return `${credential}:${TOKEN_PASSWORD}`;
  const [user] = (credential ?? '').split(':', 1);
  const isByEmail = kind === 'repohost' && user!.includes('@');
  return isByEmail ? `${EMAIL_USER}${credential!.slice(user!.length)}` : credential;
}

/** Origins of web pages by origin of the API, for hosts where they differ. Source: reference identity-and-import 6.9. */
const WEB_ORIGINS: ReadonlyMap<string, string> = new Map([
  ['https://api.github.com', 'https://github.com'],
  ['https://api.bitbucket.org', 'https://bitbucket.org'],
]);

/** Returns the origin of the web pages and repositories of a host. Only this origin gets the credential. */
export function webOriginOf(apiUrl: string): string {
  const { origin } = new URL(apiUrl);
  return WEB_ORIGINS.get(origin) ?? origin;
}

/** Opens repositories of hosts of all kinds. */
@Injectable()
export class UpstreamHosts {
  constructor(
    private readonly remote: RemoteClient,
    private readonly server: RepohostServerClient,
    private readonly service: RepohostClient,
    private readonly requests: UpstreamRequests,
  ) {}

  /** Opens a repository. `name` is `owner/name`, as the import stores it. */
  open(kind: UpstreamKind, access: UpstreamAccess, name: string): UpstreamRepository {
    const client = { remote: this.remote, repohost_server: this.server, repohost: this.service }[kind];
    return client.open(access, name);
  }

  /** Returns the files that texts of a repository link to; null for kinds of hosts whose files stay upstream. */
  openAttachments(kind: UpstreamKind, access: UpstreamAccess, name: string): UpstreamAttachments | null {
    if (kind !== 'remote') return null;
    const origin = webOriginOf(access.url);
    return new UpstreamAttachments(new AttachmentLinks(origin, name), this.requests, access, origin);
  }
}
