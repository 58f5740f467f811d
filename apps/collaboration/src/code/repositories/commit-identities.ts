import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { Identity } from '@rookery/git';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';

/** Authors and committers of commits that Rookery writes for its users. Source: reference repositories 2.2. */
@Injectable()
export class CommitIdentities {
  constructor(
    private readonly directory: Directory,
    private readonly links: Links,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Returns the caller as the author of a commit of now. Users without a public e-mail address get one that receives no
   * mail, so that commits do not reveal their private address.
   */
  async findIdentity({ userId }: Pick<SignedInViewer, 'userId'>): Promise<Identity> {
    const user = (await this.directory.findUsers([userId])).get(userId);
    const username = user?.username ?? String(userId);
    const email = user?.publicEmail || `${userId}-${username}@${this.noReplyHost}`;
    return { name: user?.name ?? username, email, at: this.clock.now() };
  }

  /** Returns the id of the user whose address without mail this is. Returns null for other addresses. */
  parseUserId(email: string): number | null {
    const [local = '', host] = email.split('@');
    const id = /^([1-9]\d{0,14})-/.exec(local)?.[1];
    return id !== undefined && host === this.noReplyHost ? Number(id) : null;
  }

  private get noReplyHost(): string {
    return `users.noreply.${new URL(this.links.webUrl('')).hostname}`;
  }
}
