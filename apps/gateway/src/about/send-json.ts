import type { FastifyReply } from 'fastify';

/** Sends JSON with the bare media type that clients expect; Fastify would add a charset to a string. */
export function sendJson(reply: FastifyReply, value: object | Buffer): void {
  void reply
    .header('content-type', 'application/json')
    .send(Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)));
}
