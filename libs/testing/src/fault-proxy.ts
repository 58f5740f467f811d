import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

interface SocketPair {
  readonly near: Socket;
  readonly far: Socket;
  isSilent: boolean;
}

/**
 * A TCP proxy in front of a server that injects faults: connections become silent, as in a network that drops every
 * packet, or are cut after the server has executed a request.
 */
export class FaultProxy {
  private readonly pairs = new Set<SocketPair>();
  private readonly server: Server;
  private lost: { readonly text: string; readonly after: string; count: number } = { text: '', after: '', count: 0 };

  private constructor(private readonly target: URL) {
    this.server = createServer({ allowHalfOpen: true }, (near) => this.forwardConnection(near));
  }

  /** Starts a proxy. `url` is that of the server. */
  static async before(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(url));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The server's URL through the proxy. */
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

  /** Resets all silent connections, as a recovered network that lost their state. */
  cut(): void {
    for (const { near, far, isSilent } of this.pairs) {
      if (!isSilent) continue;
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /**
   * Cuts the connection in place of an answer to each of the next `count` requests with this text, after the server has
   * executed them. It cuts only connections that sent the text `after` before.
   */
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

  private forwardConnection(near: Socket): void {
    const far = connect({
      port: Number(this.target.port || 5432),
      host: this.target.hostname,
      allowHalfOpen: true,
    });
    const pair: SocketPair = { near, far, isSilent: false };
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
      // A silent connection does not forward its end either.
      from.on('end', () => pair.isSilent || into.end());
      from.on('close', () => {
        if (!pair.isSilent) into.destroy();
        if (near.destroyed && far.destroyed) this.pairs.delete(pair);
      });
    }
  }
}
