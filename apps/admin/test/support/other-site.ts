import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real server in place of another site. Tests may change `answers` at any time. */
export interface OtherSite {
  readonly url: string;
  /** `host:port`, as in EGRESS_ALLOW. */
  readonly destination: string;
  readonly requests: IncomingMessage[];
  answers: { readonly status: number; readonly body: string };
  close(): Promise<void>;
}

/** The fields of a status answer that other sites read. */
export const WELL = {
  healthy: true,
  health: 'Healthy',
  version: '18.1.1-ee',
  projects_count: 7,
};

export async function startOtherSite(): Promise<OtherSite> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(site.answers.status, { 'content-type': 'application/json' }).end(site.answers.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const destination = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const site: OtherSite = {
    url: `http://${destination}/base`,
    destination,
    requests,
    answers: { status: 200, body: JSON.stringify(WELL) },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return site;
}
