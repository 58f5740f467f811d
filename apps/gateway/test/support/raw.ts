import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A client that writes arbitrary bytes. */
export class RawClient {
  received = '';
  isClosed = false;
  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    socket.on('close', () => (this.isClosed = true));
    socket.on('error', () => undefined);
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    const client = new RawClient(socket);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return client;
  }

  write(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  /** Sends one request and returns everything received until the connection closes. */
  static async exchange(port: number, text: string): Promise<string> {
    const client = await RawClient.open(port);
    client.write(text);
    await new Promise<void>((resolve) => {
      client.socket.once('close', () => resolve());
    });
    return client.received;
  }
}
