import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isSilent: boolean;
}

/**
 * A TCP proxy in front of a server, that goes wrong when it is told to: connections become silent, as by a network that
 * swallows every packet and says nothing, or are cut once the server has done what was asked.
 */
export class FaultProxy {
  private readonly pairs = new Set<Pair>();
  private readonly server: Server;
  private lost: { readonly text: string; readonly after: string; count: number } = { text: '', after: '', count: 0 };

  private constructor(private readonly target: URL) {
    this.server = createServer({ allowHalfOpen: true }, (near) => this.take(near));
  }

  /** Shape: `url` is that of the server. */
  static async before(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(url));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The address of the server, by way of the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** How many connections are open and not silent. */
  get openCount(): number {
    return [...this.pairs].filter(({ isSilent, near }) => !isSilent && !near.destroyed).length;
  }

  /** Makes all open connections silent for good; later ones are not. */
  swallow(): void {
    for (const pair of this.pairs) pair.isSilent = true;
  }

  /** Ends all silent connections, as a network that is back says that it knows them no more. */
  cut(): void {
    for (const { near, far, isSilent } of this.pairs) {
      if (!isSilent) continue;
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Of the next `count` requests with this text, on connections that had the text `after` before, the server does what they ask, and the connection is cut instead of an answer. */
  loseAnswersTo(text: string, { after = '', count = 1 } = {}): void {
    this.lost = { text, after, count };
  }

  async close(): Promise<void> {
    for (const { near, far } of this.pairs) {
      near.destroy();
      far.destroy();
    }
    this.server.close();
    await once(this.server, 'close');
  }

  private take(near: Socket): void {
    const far = connect({
      port: Number(this.target.port || 5432),
      host: this.target.hostname,
      allowHalfOpen: true,
    });
    const pair: Pair = { near, far, isSilent: false };
    this.pairs.add(pair);
    let isLosing = false;
    let hadText = false;
    near.on('data', (bytes: Buffer) => {
      if (pair.isSilent) return;
      hadText ||= bytes.includes(this.lost.after);
      if (hadText && this.lost.count > 0 && bytes.includes(this.lost.text)) {
        this.lost.count -= 1;
        isLosing = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (pair.isSilent) return;
      if (isLosing) near.resetAndDestroy();
      else near.write(bytes);
    });
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => undefined);
      // Whoever hears nothing does not hear of the end either.
      from.on('end', () => pair.isSilent || into.end());
      from.on('close', () => {
        if (!pair.isSilent) into.destroy();
        if (near.destroyed && far.destroyed) this.pairs.delete(pair);
      });
    }
  }
}
